package rollups

import (
	"cmp"
	"context"
	"database/sql"

	"pmx/data"
	"pmx/rollups/serving"
)

// deskTraders keeps what every wallet did on the weather desk's markets, densely,
// and who ranks first.
type deskTraders struct {
	index map[data.WalletID]int32 // of rows
	rows  []deskTrader
	total int                        // wallets with a fill, without the venue's own
	first [serving.DeskSorts]leaders // by place in rows
}

type deskTrader struct {
	wallet data.WalletID
	serving.DeskFigures
}

func (p *deskTraders) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	t := deskWalletTable()
	query := from(t)
	if !whole && l.kinds.has("mappings", "markets") { // nothing else removes a token from the desk
		var lost int64
		if err := conn.QueryRowContext(ctx, statements.Get("DeskLost")).Scan(&lost); err != nil {
			return err
		}
		if whole = lost > 0; whole { // all was recomputed
			var err error
			if query, err = t.current(ctx, conn); err != nil {
				return err
			}
		}
	}
	if whole {
		*p = deskTraders{index: map[data.WalletID]int32{}}
	}
	return eachAdded(l, func(b *batchSums) []deskWalletRow { return b.deskWallets.rows }, query, func(row *deskWalletRow) { p.add(l, row) })(ctx, conn)
}

// deskWalletRow is a row of desk_wallet.
type deskWalletRow struct {
	Wallet          data.WalletID `sql:"wallet"`
	Fills           int64         `sql:"fills"`
	BuyUSD          data.Micro    `sql:"buy_usd"`
	SellUSD         data.Micro    `sql:"sell_usd"`
	FeeUSD          data.Micro    `sql:"fee_usd"`
	Redemption      data.Micro    `sql:"redemption"`
	Markets         int32         `sql:"markets"`
	ResolvedMarkets int32         `sql:"resolved_markets"`
	WinningMarkets  int32         `sql:"winning_markets"`
	FirstTS         int64         `sql:"first_ts,null"`
	LastTS          int64         `sql:"last_ts,null"`
}

func (p *deskTraders) add(l *Live, row *deskWalletRow) {
	i, known := p.index[row.Wallet]
	if !known {
		i = int32(len(p.rows))
		p.index[row.Wallet] = i
		p.rows = append(p.rows, deskTrader{wallet: row.Wallet})
	}
	t := &p.rows[i]
	before := p.counts(l, i)
	t.Fills += row.Fills
	t.BuyUSD += row.BuyUSD
	t.SellUSD += row.SellUSD
	t.FeeUSD += row.FeeUSD
	t.Redemption += row.Redemption
	t.Markets += row.Markets
	t.ResolvedMarkets += row.ResolvedMarkets
	t.WinningMarkets += row.WinningMarkets
	t.FirstTS, t.LastTS = earlier(t.FirstTS, row.FirstTS), max(t.LastTS, row.LastTS)
	if after := p.counts(l, i); after != before {
		p.total += map[bool]int{true: 1, false: -1}[after]
	}
	for s := range p.first {
		p.first[s].touch(i)
	}
}

// counts reports whether a row counts as one of the desk's traders.
func (p *deskTraders) counts(l *Live, i int32) bool {
	return p.rows[i].Fills > 0 && !l.excluded[p.rows[i].wallet]
}

// ranked returns the first of all in an order.
func (p *deskTraders) ranked(l *Live, s serving.DeskSort) []int32 {
	return p.first[s].first(serving.LeaderboardSize, &contest{
		all: func(yield func(int32, data.Micro) bool) {
			for i := range p.rows {
				if p.counts(l, int32(i)) && !yield(int32(i), p.rows[i].By(s)) {
					return
				}
			}
		},
		figure:  func(i int32) (data.Micro, bool) { return p.rows[i].By(s), p.counts(l, i) },
		compare: func(a, b int32) int { return p.compare(l, s, a, b) },
	})
}

// compare orders rows.
func (p *deskTraders) compare(l *Live, s serving.DeskSort, a, b int32) int {
	x, y, other := &p.rows[a], &p.rows[b], (s+1)%serving.DeskSorts
	if c := cmp.Or(cmp.Compare(y.By(s), x.By(s)), cmp.Compare(y.By(other), x.By(other))); c != 0 {
		return c
	}
	return l.compareAddress(x.wallet, y.wallet)
}

func (p *deskTraders) publish(_ context.Context, _ *sql.Conn, l *Live, snap *serving.Snapshot) error {
	t := &serving.DeskTraders{Total: p.total}
	for s := range serving.DeskSorts {
		first := p.ranked(l, s)
		out := make([]serving.DeskTraderRow, 0, len(first))
		for i, at := range first {
			w := &p.rows[at]
			row := serving.DeskTraderRow{Rank: i + 1, Wallet: l.walletBuilder.Wallets().Address(w.wallet),
				Name: l.walletBuilder.Name(w.wallet), DeskFigures: w.DeskFigures}
			if i > 0 && out[i-1].By(s) == row.By(s) {
				row.Rank = out[i-1].Rank
			}
			out = append(out, row)
		}
		t.Leaderboards[s] = out
	}
	snap.DeskTraders = t
	return nil
}
