package rollups

import (
	"context"
	"database/sql"

	"pmx/data"
	"pmx/rollups/serving"
)

const hourLength = 3_600_000_000

// days are UTC days without gaps, from the first that was asked for.
type days struct {
	first int64
	rows  []dayActivity
}

// dayActivity is one UTC day.
type dayActivity struct {
	legs
	wallets                         int64 // distinct, including the venue's own
	newWallets, newMarkets, markets int64
}

// at returns a day, extending the list in either direction if needed. The pointer is valid until
// the next call.
func (d *days) at(day int64) *dayActivity {
	switch {
	case len(d.rows) == 0:
		d.first, d.rows = day, make([]dayActivity, 1)
	case day < d.first:
		d.rows = append(make([]dayActivity, d.first-day), d.rows...)
		d.first = day
	}
	for int64(len(d.rows)) <= day-d.first {
		d.rows = append(d.rows, dayActivity{})
	}
	return &d.rows[day-d.first]
}

// noDay stands for the first day of a wallet or market that never traded.
const noDay = -1

// firsts knows the day on which every wallet and every mapped market traded first, so that it can
// be moved when an earlier fill arrives late.
type firsts struct {
	walletDay []int32 // by wallet id; noDay for the venue's own wallets too
	marketDay []int32 // by market id
	tokenOf   []int32 // market that a token was counted under, by token id; -1: none
	wallets   int64   // with a first day
	firstTS   int64   // of all fills
}

// loadFirsts adds all wallets and markets that l knows.
func (g *growth) loadFirsts(l *Live) {
	for id := range data.WalletID(l.walletBuilder.Wallets().Len()) {
		t, known := l.walletBuilder.Totals(id)
		if !known {
			continue
		}
		g.addSums(&t)
		g.wallet(l, id, &t)
	}
	for token := range l.tokens {
		g.token(l, data.TokenID(token))
	}
}

// followFirsts updates the wallets and tokens that the batch traded or moved.
func (g *growth) followFirsts(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string) error {
	err := eachAdded(l, madeWalletTotals, from(tableNamed("wallet_total")), func(row *walletTotalRow) {
		var change serving.Totals
		row.addTo(&change)
		g.addSums(&change)
		t, _ := l.walletBuilder.Totals(row.Wallet)
		g.wallet(l, row.Wallet, &t)
	})(ctx, conn)
	if err != nil {
		return err
	}
	for token := len(g.firsts.tokenOf); token < len(l.tokens); token++ {
		g.token(l, data.TokenID(token))
	}
	traded := eachAdded(l, madeTokenTotals, from(tableNamed("token_total")), func(row *tokenTotalRow) { g.token(l, row.Token) })
	if err := traded(ctx, conn); err != nil {
		return err
	}
	if !l.kinds.has("mappings", "labels") {
		return nil
	}
	return eachRow(statements.Get("BatchTokens"), func(row *tokenRow) { g.token(l, row.Token) })(ctx, conn)
}

// addSums adds a wallet's totals, or a change of them, to those of all.
func (g *growth) addSums(t *serving.Totals) {
	s := &g.sums
	for _, pair := range [][2]*int64{{&s.Fills, &t.Fills}, {&s.MakerFills, &t.MakerFills}, {&s.TakerFills, &t.TakerFills},
		{&s.UnmappedFills, &t.UnmappedFills}, {&s.NegativeLegs, &t.NegativeLegs},
		{(*int64)(&s.BuyUSD), (*int64)(&t.BuyUSD)}, {(*int64)(&s.SellUSD), (*int64)(&t.SellUSD)},
		{(*int64)(&s.FeeUSD), (*int64)(&t.FeeUSD)}, {(*int64)(&s.Redemption), (*int64)(&t.Redemption)},
		{(*int64)(&s.UnresolvedCash), (*int64)(&t.UnresolvedCash)}} {
		*pair[0] += *pair[1]
	}
	s.NetCash = s.SellUSD - s.BuyUSD - s.FeeUSD
	s.LastTS = max(s.LastTS, t.LastTS)
}

// wallet notes the first day of a wallet whose totals are t.
func (g *growth) wallet(l *Live, id data.WalletID, t *serving.Totals) {
	f := &g.firsts
	for int(id) >= len(f.walletDay) {
		f.walletDay = append(f.walletDay, noDay)
	}
	if t.FirstTS == 0 {
		return
	}
	f.firstTS = earlier(f.firstTS, t.FirstTS)
	if l.excluded[id] {
		return
	}
	day := int32(t.FirstTS / dayLength)
	old := f.walletDay[id]
	if day == old {
		return
	}
	if old == noDay {
		f.wallets++
	} else {
		g.days.at(int64(old)).newWallets--
	}
	f.walletDay[id] = day
	g.days.at(int64(day)).newWallets++
}

// token notes the first day of a token's market, and of the one it was moved
// from.
func (g *growth) token(l *Live, id data.TokenID) {
	f := &g.firsts
	for int(id) >= len(f.tokenOf) {
		f.tokenOf = append(f.tokenOf, -1)
	}
	old, now := f.tokenOf[id], l.tokens[id].market
	f.tokenOf[id] = now
	if old >= 0 && old != now {
		g.market(l, old)
	}
	if now >= 0 {
		g.market(l, now)
	}
}

// market notes the first day of a market: of the first of its tokens' fills.
func (g *growth) market(l *Live, id int32) {
	f := &g.firsts
	for int(id) >= len(f.marketDay) {
		f.marketDay = append(f.marketDay, noDay)
	}
	first := int64(0)
	for _, token := range l.catalog.Tokens(id) {
		first = earlier(first, l.tokens[token].firstTS)
	}
	day := int32(noDay)
	if first != 0 {
		day = int32(first / dayLength)
	}
	old := f.marketDay[id]
	if day == old {
		return
	}
	if old != noDay {
		g.days.at(int64(old)).newMarkets--
	}
	if day != noDay {
		g.days.at(int64(day)).newMarkets++
	}
	f.marketDay[id] = day
}
