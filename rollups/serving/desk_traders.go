package serving

import (
	"slices"

	"pmx/data"
)

// DeskSort is an order of the weather desk's traders.
type DeskSort int

// The orders: by real_pnl, ties by volume; by volume, ties by real_pnl; then by
// address.
const (
	ByRealPnL DeskSort = iota
	ByVolume
	DeskSorts // how many there are
)

// String is the wire name: real_pnl, volume.
func (s DeskSort) String() string { return [DeskSorts]string{"real_pnl", "volume"}[s] }

// DeskFigures are what one wallet did on the weather desk's markets, ever.
type DeskFigures struct {
	Fills                           int64
	Markets                         int32 // distinct
	ResolvedMarkets, WinningMarkets int32
	BuyUSD, SellUSD                 data.Micro
	FeeUSD                          data.Micro // fees taken in dollars
	Redemption                      data.Micro
	FirstTS, LastTS                 int64 // unix µs
}

// NetCash is the proceeds of sells after fees minus the cost of buys.
func (f *DeskFigures) NetCash() data.Micro { return f.SellUSD - f.BuyUSD - f.FeeUSD }

// RealPnL is NetCash plus what the tokens paid.
func (f *DeskFigures) RealPnL() data.Micro { return f.NetCash() + f.Redemption }

// Volume is the sum of the wallet's own fills in dollars.
func (f *DeskFigures) Volume() data.Micro { return f.BuyUSD + f.SellUSD }

// By is the figure that an order sorts by.
func (f *DeskFigures) By(s DeskSort) data.Micro {
	if s == ByVolume {
		return f.Volume()
	}
	return f.RealPnL()
}

// DeskTraderRow is one row of the desk's traders. Rank is competition rank on the
// figure of the order (1, 1, 3).
type DeskTraderRow struct {
	Rank   int
	Wallet data.Address
	Name   string
	DeskFigures
}

// DeskTraders are the wallets that traded the weather desk's markets, without the venue's own.
type DeskTraders struct {
	Total        int                        // wallets, including those beyond the rows
	Leaderboards [DeskSorts][]DeskTraderRow // the first LeaderboardSize rows
}

// Equal reports whether t and o are the same.
func (t *DeskTraders) Equal(o *DeskTraders) bool {
	if t == nil || o == nil {
		return t == o
	}
	same := t.Total == o.Total
	for s := range DeskSorts {
		same = same && slices.Equal(t.Leaderboards[s], o.Leaderboards[s])
	}
	return same
}
