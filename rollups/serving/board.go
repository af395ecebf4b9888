package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// BoardQuery asks what wallets came to in a window.
type BoardQuery struct {
	After, UpTo int64    // the window in unix µs: behind the one, up to and at the other
	Batch       int64    // fills of imports up to it
	Categories  []string // of the markets; nil: all fills and markets, of whatever category
}

// BoardRow is what a wallet came to in a window.
type BoardRow struct {
	Wallet                  data.WalletID
	Fills                   int64
	BuyUSD, SellUSD, FeeUSD data.Micro
	Unresolved              data.Micro // of the net cash, that in markets which are not resolved
	Redemption              data.Micro // of markets resolved in the window
	Undated                 data.Micro // redemption in markets traded in the window and resolved at an unknown time
	UndatedMarkets          int64
}

// NetCash is sells less buys less fees.
func (r *BoardRow) NetCash() data.Micro { return r.SellUSD - r.BuyUSD - r.FeeUSD }

// RealPnL is net cash plus redemption.
func (r *BoardRow) RealPnL() data.Micro { return r.NetCash() + r.Redemption }

// Volume is buys plus sells.
func (r *BoardRow) Volume() data.Micro { return r.BuyUSD + r.SellUSD }

// BoardSort is a figure to rank wallets by, the largest first.
type BoardSort uint8

// Figures to rank by.
const (
	BoardByRealPnL BoardSort = iota
	BoardByVolume
	BoardByROI // real_pnl by what was bought; where nothing was, last
	BoardSorts
)

// By is the figure that a row is ranked by, NoValue where it has none.
func (r *BoardRow) By(s BoardSort) data.Micro {
	switch s {
	case BoardByVolume:
		return r.Volume()
	case BoardByROI:
		roi, known := data.Ratio(r.RealPnL(), r.BuyUSD)
		if !known {
			return NoValue
		}
		return roi
	}
	return r.RealPnL()
}

// RankedRow is a BoardRow with its ranks.
type RankedRow struct {
	BoardRow
	Rank, Previous int // 1 is the first, equal figures have equal ranks; Previous is 0 where it is not known
}

// RankBoard ranks the rows of wallets that ever traded so many resolved markets, without the venue's own, and gives
// the first n: by a figure, ties by real_pnl, then volume, then address. The rows are changed.
func (s *Snapshot) RankBoard(rows []BoardRow, by BoardSort, minResolved int64, n int) []RankedRow {
	rows = slices.DeleteFunc(rows, func(r BoardRow) bool {
		if _, own := slices.BinarySearch(s.Venue, r.Wallet); own || int(r.Wallet) >= s.walletsLen {
			return true
		}
		trader, _ := s.Trader(s.WalletAt(r.Wallet))
		return minResolved > 0 && (trader.Totals == nil || trader.Totals.ResolvedMarkets < minResolved)
	})
	slices.SortFunc(rows, func(x, y BoardRow) int {
		if c := cmp.Or(cmp.Compare(y.By(by), x.By(by)), cmp.Compare(y.RealPnL(), x.RealPnL()), cmp.Compare(y.Volume(), x.Volume())); c != 0 {
			return c
		}
		a, b := s.WalletAt(x.Wallet), s.WalletAt(y.Wallet)
		return bytes.Compare(a[:], b[:])
	})
	out := make([]RankedRow, min(len(rows), n))
	for i := range out {
		out[i] = RankedRow{BoardRow: rows[i], Rank: i + 1}
		if i > 0 && out[i-1].By(by) == rows[i].By(by) {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out
}

// RankedBefore puts in the ranks that wallets have among others, by the same figure.
func RankedBefore(rows, before []RankedRow) {
	ranks := make(map[data.WalletID]int, len(before))
	for i := range before {
		ranks[before[i].Wallet] = before[i].Rank
	}
	for i := range rows {
		rows[i].Previous = ranks[rows[i].Wallet]
	}
}

// ProfitDay is what a wallet made on a UTC day.
type ProfitDay struct {
	Wallet data.WalletID
	Day    int32 // since 1970-01-01
	USD    data.Micro
}
