package rollups

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pmx/data"
	"pmx/engine"
)

// A batch is summed up here, and not by a statement for each rollup, if it has few fills, all of
// them newer than the facts but not much newer, and nothing else except payouts.
const soon = 600_000_000 // µs: facts of this span leave each window

// batchSums is what such a batch adds to the rollups that change with its fills. The statements of
// merge.sql are the definition; a test compares these sums with them.
type batchSums struct {
	fills    []batchFill
	left     []batchFill // facts that leave a window, given by span
	tokens   map[data.TokenID]*tradedToken
	touched  map[data.TokenID]bool
	days     []idDay      // on which a wallet trades for the first time
	pairs    []tradedPair // wallets that trade a market for the first time, of tokens that are not touched
	held     heldPositions
	redeemed []windowRedemption
	undated  []undatedWindowRow

	positions     sums[holder, positionRow]
	walletDays    sums[idAt, walletDayRow]
	tokenDays     sums[idAt, tokenDayRow]
	tokenTotals   sums[data.TokenID, tokenTotalRow]
	platformHours sums[int64, platformHourRow]
	platformDays  sums[int64, platformDayRow]
	marketWallets sums[int32, marketWalletsRow]
	walletTotals  sums[data.WalletID, walletTotalRow]
	walletWindows sums[idAt, walletWindowRow]
	tokenWindows  sums[idAt, tokenWindowRow]
	prices        sums[data.TokenID, tokenPrices]
	candles       sums[idAt, candleSum]
	eventWallets  []marketWalletsRow
	weeks, months map[int64]int64
	dayMarkets    sums[int64, dayMarketsRow]
	whaleLeast    data.Micro // that of the merge
	whaleMoves    []whaleMoveRow
	flow          sums[int32, flowRow]
	deskWallets   sums[data.WalletID, deskWalletRow]
	dayHolders    sums[holder, dayHolderRow] // fills that enter or leave the last 24 hours
	long          [len(longWindows)]legs     // what longWindows gain
}

// batchFill is a row of BatchFills or LeavingFills.
type batchFill struct {
	Span   int8          `sql:"span"`
	TS     int64         `sql:"ts"`
	Wallet data.WalletID `sql:"wallet"`
	Token  data.TokenID  `sql:"token"`
	Side   data.Side     `sql:"side"`
	Role   data.Role     `sql:"role"`
	Shares data.Micro    `sql:"shares"`
	USD    data.Micro    `sql:"usd"`
	Fee    data.Micro    `sql:"fee"`
	Tx     data.Hash     `sql:"tx,null"`
	Log    int32         `sql:"log_index"`
}

// feeUSD is what the fee took in dollars, feeShares in tokens.
func (f *batchFill) feeUSD() data.Micro { return data.FeeUSD(f.Side, f.Fee) }

func (f *batchFill) feeShares() data.Micro { return data.FeeShares(f.Side, f.Fee) }

// bought and sold are the dollars of the side.
func (f *batchFill) bought() data.Micro {
	if f.Side == data.Buy {
		return f.USD
	}
	return 0
}

func (f *batchFill) sold() data.Micro { return f.USD - f.bought() }

// legs is its volume by leg, with a sign.
func (f *batchFill) legs(sign int64) legs {
	if f.Role == data.Maker {
		return legs{MakerFills: sign, MakerUSD: sign * int64(f.USD), MakerShares: sign * int64(f.Shares)}
	}
	return legs{TakerFills: sign, TakerUSD: sign * int64(f.USD), TakerShares: sign * int64(f.Shares)}
}

// trade is the price that it tells; a fill of no tokens tells none.
func (f *batchFill) trade() (q pricedTrade, any bool) { return tradeOf(f.TS, f.Log, f.USD, f.Shares) }

// tradeOf is the price that a fill tells.
func tradeOf(ts int64, log int32, usd, shares data.Micro) (q pricedTrade, any bool) {
	if shares <= 0 {
		return q, false
	}
	price, _ := data.Ratio(usd, shares)
	return pricedTrade{ts: ts, log: log, price: int32(min(price, data.One))}, true
}

// idAt is the key of an id and of a day, an hour or a window.
type idAt struct{ id, at int32 }

// tradedToken is a row of TradedTokens.
type tradedToken struct {
	Token    data.TokenID `sql:"token"`
	Market   int32        `sql:"market"`  // −1: not mapped
	Outcome  int8         `sql:"outcome"` // −1: not mapped
	Category string       `sql:"category"`
	Resolved bool         `sql:"resolved"`
	Desk     bool         `sql:"desk"` // whether its market is on the weather desk
}

// windowRedemption is a row of RedemptionBetween, or what the batch itself redeems.
type windowRedemption struct {
	Span   int8          `sql:"span"`
	Wallet data.WalletID `sql:"wallet"`
	USD    data.Micro    `sql:"usd"`
}

// sumUp begins to sum up the batch here, if it qualifies.
func (m *merge) sumUp() error {
	inMemory := m.pairs.loaded && m.lastDays.loaded && !m.byStatements
	if !inMemory || m.fills == 0 || m.fills > fewFills || m.oldest <= m.from || m.to-m.from > soon || m.moved+m.described > 0 {
		return nil
	}
	s := &batchSums{whaleLeast: m.whaleLeast, tokens: map[data.TokenID]*tradedToken{}, touched: map[data.TokenID]bool{}}
	m.sums = s
	return engine.EachRow(m.ctx, m.conn, statements.Get("BatchFills"), func(f *batchFill) error {
		s.fills = append(s.fills, *f)
		return nil
	})
}

// readTraded reads the tokens of the batch.
func (m *merge) readTraded() error {
	if m.live != nil {
		for i := range m.sums.fills {
			if token := m.sums.fills[i].Token; m.sums.tokens[token] == nil {
				m.sums.tokens[token] = m.live.tradedToken(token)
			}
		}
		return nil
	}
	query := statements.Get("TradedTokens", "@rows", statements.Get("Traded"))
	return engine.EachRow(m.ctx, m.conn, query, func(t *tradedToken) error {
		traded := *t
		m.sums.tokens[t.Token] = &traded
		return nil
	})
}

// readRedemption is redeem for a batch that is summed up here. Part i is what leaves window i; the one after the last
// window is what enters all of them.
func (m *merge) readRedemption(parts []string) error {
	err := engine.EachRow(m.ctx, m.conn, unionAll(parts), func(r *windowRedemption) error {
		if int(r.Span) < len(windows) {
			m.sums.redeemed = append(m.sums.redeemed, windowRedemption{Span: r.Span, Wallet: r.Wallet, USD: -r.USD})
			return nil
		}
		for span := range windows {
			m.sums.redeemed = append(m.sums.redeemed, windowRedemption{Span: int8(span), Wallet: r.Wallet, USD: r.USD})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("RedemptionBetween: %w", err)
	}
	return nil
}

// findPairs finds the first trades of a wallet in a market.
func (b *batchSums) findPairs(known *tradedPairs) {
	seen := map[tradedPair]bool{}
	for i := range b.fills {
		f := &b.fills[i]
		pair := tradedPair{f.Wallet, b.tokens[f.Token].Market}
		if pair.market < 0 || b.touched[f.Token] || addKey(seen, pair) || known.has(pair.wallet, pair.market) {
			continue
		}
		b.pairs = append(b.pairs, pair)
	}
	known.pending = append(known.pending, b.pairs...)
}

// findDays finds the first days of wallets, and of weeks, months and markets.
func (b *batchSums) findDays(last *lastTradeDays) {
	days, marketDays := map[idDay]bool{}, map[idDay]bool{}
	var ofMarkets []idDay
	for i := range b.fills {
		f := &b.fills[i]
		day := int32(f.TS / dayLength)
		d := idDay{id: int32(f.Wallet), day: day}
		if !addKey(days, d) && day > last.wallets.at(d.id) {
			b.days = append(b.days, d)
		}
		if market := b.tokens[f.Token].Market; market >= 0 && !addKey(marketDays, idDay{id: market, day: day}) {
			ofMarkets = append(ofMarkets, idDay{id: market, day: day})
		}
	}
	// No fill is older than a fact, so none is late.
	b.weeks, b.months = map[int64]int64{}, map[int64]int64{}
	later, _ := last.wallets.take(b.days)
	last.wallets.eachWithPrevious(later, func(d idDay, before int32) {
		if week := weekOf(int64(d.day)); before == noDay || weekOf(int64(before)) != week {
			b.weeks[week]++
		}
		if month := monthOf(int64(d.day)); before == noDay || monthOf(int64(before)) != month {
			b.months[month]++
		}
	})
	later, _ = last.markets.take(ofMarkets)
	last.markets.eachWithPrevious(later, func(d idDay, before int32) {
		if d.day != before {
			day := int64(d.day)
			b.dayMarkets.at(day, dayMarketsRow{Day: day}).Markets++
		}
	})
}

// addKey adds a key, and reports whether it was there.
func addKey[K comparable](all map[K]bool, key K) (known bool) {
	known = all[key]
	all[key] = true
	return known
}

// inSums are the rollups that are summed up here, each with the method that does so.
var inSums = map[string]func(m *merge, t table) error{
	"position":       (*merge).sumPositions,
	"wallet_day":     (*merge).sumWalletDays,
	"token_day":      (*merge).sumTokenDays,
	"token_total":    (*merge).sumTokenTotals,
	"platform_hour":  (*merge).sumPlatformHours,
	"platform_day":   (*merge).sumPlatformDays,
	"market_wallets": (*merge).sumMarketWallets,
	"wallet_total":   (*merge).sumWalletTotals,
	"wallet_window":  (*merge).sumWalletWindows,
	"token_window":   (*merge).sumTokenWindows,
	"token_price":    (*merge).sumPrices,
	"candle":         (*merge).sumCandles,
	"event_wallets":  func(m *merge, t table) error { return appendRows(m, t, m.sums.eventWallets) },
	"week_wallets":   func(m *merge, t table) error { return appendRows(m, t, m.sums.weekRows()) },
	"month_wallets":  func(m *merge, t table) error { return appendRows(m, t, m.sums.monthRows()) },
	"day_markets":    func(m *merge, t table) error { return appendRows(m, t, m.sums.dayMarkets.rows) },
	"redemption":     (*merge).sumRedemption,
	"oracle_bin":     (*merge).sumOracleBins,
	"whale_move":     (*merge).sumWhaleMoves,
	"index_flow":     (*merge).sumFlow,
	"desk_wallet":    (*merge).sumDeskWallets,
}

// countRows makes a row of each count.
func countRows[R any](counts map[int64]int64, row func(key, n int64) R) []R {
	rows := make([]R, 0, len(counts))
	for key, n := range counts {
		rows = append(rows, row(key, n))
	}
	return rows
}

// readUndated reads what w_undated would have, before what the batch changes is appended.
func (b *batchSums) readUndated(ctx context.Context, conn *sql.Conn, parts []string) error {
	return eachRow(statements.Get("WindowUndatedRows", "@parts", unionAll(parts)), func(r *undatedWindowRow) {
		b.undated = append(b.undated, *r)
	})(ctx, conn)
}

// undatedWindowRow is a row of w_undated.
type undatedWindowRow struct {
	Span    int8          `sql:"span"`
	Wallet  data.WalletID `sql:"wallet"`
	USD     data.Micro    `sql:"usd"`
	Markets int64         `sql:"markets"`
}

// late reports whether the batch changes what is stored of the index.
func (b *batchSums) late(stored int32) bool {
	return slices.ContainsFunc(b.fills, func(f batchFill) bool { return f.Role != data.Maker && flowBucket(f.TS) <= stored })
}
