package serving

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"pmx/data"
)

// Leaderboards holds the figures of all wallets in the windows of all periods and in those before them, by category. They
// are kept by interval of time, and every window consists of whole intervals.
type Leaderboards struct {
	UpTo  int64 // unix µs
	Len   int   // how many rows there are
	Bytes int64 // bytes that they take
	most  int64 // most bytes; 0: no limit
	ages  int   // intervals of this age and older are left out
	rows  map[leaderboardKey]*leaderboardRows
}

// ErrLeaderboardsTooLarge is returned for rows that would take more memory than there is for them.
var ErrLeaderboardsTooLarge = errors.New("leaderboards: wallets of the last 30 days take more memory than there is for them (--memory)")

// leaderboardKey is an interval of time, by age, and a category, "" for markets without one.
type leaderboardKey struct {
	age      int
	category string
}

// leaderboardRows are the rows of one key in order of wallet, encoded as varints: they take less memory than structs.
type leaderboardRows struct {
	text []byte
	n    int
	last data.WalletID
}

// NewLeaderboards returns empty leaderboards, which may take up to most bytes; 0: no limit.
func NewLeaderboards(upTo, most int64) *Leaderboards {
	return &Leaderboards{UpTo: upTo, most: most, ages: len(LeaderboardCuts(upTo)), rows: map[leaderboardKey]*leaderboardRows{}}
}

// LeaderboardCuts returns the instants that divide the windows up to a time, the newest first. Times at the first or before
// it, but after the second, have age 1.
func LeaderboardCuts(upTo int64) []int64 {
	var cuts []int64
	for p := range Periods {
		length := p.Length().Microseconds()
		cuts = append(cuts, upTo-length, upTo-2*length)
	}
	slices.SortFunc(cuts, func(a, b int64) int { return cmp.Compare(b, a) })
	return slices.Compact(cuts)
}

// Add adds the figures of a wallet in an interval. Wallets come in ascending order. If rows take too much memory, the
// oldest interval is dropped, which only ranks in the window before the longest one need; if that is not enough, the error
// is ErrLeaderboardsTooLarge.
func (b *Leaderboards) Add(age int, category string, r *LeaderboardRow) error {
	if age >= b.ages {
		return nil
	}
	key := leaderboardKey{age, category}
	rows := b.rows[key]
	if rows == nil {
		rows = &leaderboardRows{}
		b.rows[key] = rows
	}
	had := cap(rows.text)
	text := binary.AppendVarint(rows.text, int64(r.Wallet-rows.last))
	for _, n := range [...]int64{r.Fills, int64(r.BuyUSD), int64(r.SellUSD), int64(r.FeeUSD), int64(r.Unresolved), int64(r.Redemption), int64(r.Undated), r.UndatedMarkets} {
		text = binary.AppendVarint(text, n)
	}
	rows.text, rows.last = text, r.Wallet
	rows.n++
	b.Len++
	b.Bytes += int64(cap(text) - had)
	if b.most > 0 && b.Bytes > b.most {
		return b.shed()
	}
	return nil
}

// shed drops the oldest interval.
func (b *Leaderboards) shed() error {
	oldest := len(LeaderboardCuts(b.UpTo)) - 1
	if b.ages == oldest {
		return ErrLeaderboardsTooLarge
	}
	b.ages = oldest
	for key, rows := range b.rows {
		if key.age == oldest {
			b.Len, b.Bytes = b.Len-rows.n, b.Bytes-int64(cap(rows.text))
			delete(b.rows, key)
		}
	}
	if b.Bytes > b.most {
		return ErrLeaderboardsTooLarge
	}
	return nil
}

func (b *leaderboardRows) each(f func(r *LeaderboardRow)) {
	var r LeaderboardRow
	for text := b.text; len(text) > 0; {
		var n [9]int64
		for i := range n {
			size := 0
			n[i], size = binary.Varint(text)
			text = text[size:]
		}
		r = LeaderboardRow{Wallet: r.Wallet + data.WalletID(n[0]), Fills: n[1], BuyUSD: data.Micro(n[2]), SellUSD: data.Micro(n[3]), FeeUSD: data.Micro(n[4]),
			Unresolved: data.Micro(n[5]), Redemption: data.Micro(n[6]), Undated: data.Micro(n[7]), UndatedMarkets: n[8]}
		f(&r)
	}
}

// Rows returns the figures of wallets in the window of a period, or in the one before it, in markets of
// some categories; nil: of all. They are in no order.
func (b *Leaderboards) Rows(p Period, before bool, categories []string) []LeaderboardRow {
	hi, lo := b.UpTo, b.UpTo-p.Length().Microseconds()
	if before {
		hi, lo = lo, lo-p.Length().Microseconds()
	}
	var of []*leaderboardRows
	n, newest := 0, b.UpTo
	for age, oldest := range LeaderboardCuts(b.UpTo) {
		if newest <= hi && oldest >= lo {
			for key, rows := range b.rows {
				if key.age == age && (categories == nil || slices.Contains(categories, key.category)) {
					of, n = append(of, rows), max(n, rows.n)
				}
			}
		}
		newest = oldest
	}
	out, at := make([]LeaderboardRow, 0, n), make(map[data.WalletID]int, n)
	for _, rows := range of {
		rows.each(func(r *LeaderboardRow) {
			i, known := at[r.Wallet]
			if !known {
				at[r.Wallet] = len(out)
				out = append(out, *r)
				return
			}
			out[i].add(r)
		})
	}
	return out
}

// LeaderboardRow has a wallet's figures in a window.
type LeaderboardRow struct {
	Wallet                  data.WalletID
	Fills                   int64
	BuyUSD, SellUSD, FeeUSD data.Micro
	Unresolved              data.Micro // the part of net cash in markets that are not resolved
	Redemption              data.Micro // of markets resolved in the window
	Undated                 data.Micro // redemption in markets traded in the window and resolved at an unknown time
	UndatedMarkets          int64
}

func (r *LeaderboardRow) add(o *LeaderboardRow) {
	r.Fills, r.UndatedMarkets = r.Fills+o.Fills, r.UndatedMarkets+o.UndatedMarkets
	r.BuyUSD, r.SellUSD, r.FeeUSD = r.BuyUSD+o.BuyUSD, r.SellUSD+o.SellUSD, r.FeeUSD+o.FeeUSD
	r.Unresolved, r.Redemption, r.Undated = r.Unresolved+o.Unresolved, r.Redemption+o.Redemption, r.Undated+o.Undated
}

// NetCash is sells less buys less fees.
func (r *LeaderboardRow) NetCash() data.Micro { return r.SellUSD - r.BuyUSD - r.FeeUSD }

// RealPnL is net cash plus redemption.
func (r *LeaderboardRow) RealPnL() data.Micro { return r.NetCash() + r.Redemption }

// Volume is buys plus sells.
func (r *LeaderboardRow) Volume() data.Micro { return r.BuyUSD + r.SellUSD }

// LeaderboardSort is a figure to rank wallets by, the largest first.
type LeaderboardSort uint8

// Figures to rank by.
const (
	LeaderboardByRealPnL LeaderboardSort = iota
	LeaderboardByVolume
	LeaderboardByROI // real_pnl ÷ buys; rows without buys come last
	LeaderboardSorts
)

// By is the figure that a row is ranked by, NoValue if it has none.
func (r *LeaderboardRow) By(s LeaderboardSort) data.Micro {
	switch s {
	case LeaderboardByVolume:
		return r.Volume()
	case LeaderboardByROI:
		roi, known := data.Ratio(r.RealPnL(), r.BuyUSD)
		if !known {
			return NoValue
		}
		return roi
	}
	return r.RealPnL()
}

// RankedRow is a LeaderboardRow with its ranks.
type RankedRow struct {
	LeaderboardRow
	Rank, Previous int // 1 is the first, equal figures have equal ranks; Previous is 0 if it is not known
}

// RankLeaderboard ranks the rows of wallets that ever traded at least so many resolved markets, without the venue's
// own, and returns the first n: by a figure, ties by real_pnl, then volume, then address. It changes the order of
// rows.
func (s *Snapshot) RankLeaderboard(rows []LeaderboardRow, by LeaderboardSort, minResolved int64, n int) []RankedRow {
	rows = slices.DeleteFunc(rows, func(r LeaderboardRow) bool {
		if _, own := slices.BinarySearch(s.Venue, r.Wallet); own || int(r.Wallet) >= s.walletsLen {
			return true
		}
		trader, _ := s.Trader(s.WalletAt(r.Wallet))
		return minResolved > 0 && (trader.Totals == nil || trader.Totals.ResolvedMarkets < minResolved)
	})
	slices.SortFunc(rows, func(x, y LeaderboardRow) int {
		if c := cmp.Or(cmp.Compare(y.By(by), x.By(by)), cmp.Compare(y.RealPnL(), x.RealPnL()), cmp.Compare(y.Volume(), x.Volume())); c != 0 {
			return c
		}
		a, b := s.WalletAt(x.Wallet), s.WalletAt(y.Wallet)
		return bytes.Compare(a[:], b[:])
	})
	out := make([]RankedRow, min(len(rows), n))
	for i := range out {
		out[i] = RankedRow{LeaderboardRow: rows[i], Rank: i + 1}
		if i > 0 && out[i-1].By(by) == rows[i].By(by) {
			out[i].Rank = out[i-1].Rank
		}
	}
	return out
}

// RankedBefore fills in the previous ranks of rows: those of the same wallets in before.
func RankedBefore(rows, before []RankedRow) {
	ranks := make(map[data.WalletID]int, len(before))
	for i := range before {
		ranks[before[i].Wallet] = before[i].Rank
	}
	for i := range rows {
		rows[i].Previous = ranks[rows[i].Wallet]
	}
}

// ProfitDay is a wallet's profit on a UTC day.
type ProfitDay struct {
	Wallet data.WalletID
	Day    int32 // since 1970-01-01
	USD    data.Micro
}
