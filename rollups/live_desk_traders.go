package rollups

import (
	"cmp"
	"context"
	"database/sql"

	"pmx/data"
	"pmx/rollups/serving"
)

// deskTraders keeps what every wallet did on the weather desk's markets, and who
// ranks first.
type deskTraders struct {
	rows  rowsByID[serving.DeskFigures] // by wallet
	total int                           // wallets with a fill, without the venue's own
	first [serving.DeskSorts]leaders
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
		*p = deskTraders{}
	}
	err := eachAdded(l, func(b *batchSums) []deskWalletRow { return b.deskWallets.rows }, query, func(row *deskWalletRow) { p.add(l, row) })(ctx, conn)
	for s := range serving.DeskSorts {
		p.ranked(l, s)
	}
	return err
}

func (*deskTraders) needsOnlyWallets() {}

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
	id := int32(row.Wallet)
	t := p.rows.edit(id)
	before := p.counts(l, id, t)
	t.Fills += row.Fills
	t.BuyUSD += row.BuyUSD
	t.SellUSD += row.SellUSD
	t.FeeUSD += row.FeeUSD
	t.Redemption += row.Redemption
	t.Markets += row.Markets
	t.ResolvedMarkets += row.ResolvedMarkets
	t.WinningMarkets += row.WinningMarkets
	t.FirstTS, t.LastTS = earlier(t.FirstTS, row.FirstTS), max(t.LastTS, row.LastTS)
	if after := p.counts(l, id, t); after != before {
		p.total += map[bool]int{true: 1, false: -1}[after]
	}
	for s := range p.first {
		p.first[s].touch(id)
	}
}

// counts reports whether a wallet with figures t counts as one of the desk's traders.
func (p *deskTraders) counts(l *Live, id int32, t *serving.DeskFigures) bool {
	return t.Fills > 0 && !l.excluded[data.WalletID(id)]
}

// ranked returns the first of all in an order.
func (p *deskTraders) ranked(l *Live, s serving.DeskSort) []int32 {
	return p.first[s].first(serving.LeaderboardSize, &contest{
		all: func(yield func(int32, data.Micro) bool) {
			for id, t := range p.rows.all() {
				if p.counts(l, id, t) && !yield(id, t.By(s)) {
					return
				}
			}
		},
		figure: func(id int32) (data.Micro, bool) {
			t := p.rows.of(id)
			return t.By(s), p.counts(l, id, t)
		},
		compare: func(a, b int32) int { return p.compare(l, s, a, b) },
	})
}

// compare orders wallets.
func (p *deskTraders) compare(l *Live, s serving.DeskSort, a, b int32) int {
	x, y, other := p.rows.of(a), p.rows.of(b), (s+1)%serving.DeskSorts
	if c := cmp.Or(cmp.Compare(y.By(s), x.By(s)), cmp.Compare(y.By(other), x.By(other))); c != 0 {
		return c
	}
	return l.compareAddress(data.WalletID(a), data.WalletID(b))
}

func (p *deskTraders) publish(_ context.Context, _ *sql.Conn, l *Live, snap *serving.Snapshot) error {
	t := &serving.DeskTraders{Total: p.total}
	for s := range serving.DeskSorts {
		first := p.ranked(l, s)
		out := make([]serving.DeskTraderRow, 0, len(first))
		for i := range first {
			id := data.WalletID(first[i])
			row := serving.DeskTraderRow{Rank: i + 1, Wallet: l.walletBuilder.Wallets().Address(id),
				Name: l.walletBuilder.Name(id), DeskFigures: *p.rows.of(first[i])}
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
