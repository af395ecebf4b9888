package rollups

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// Rows of rollups that are summed up here and read nowhere else as a struct.
type (
	positionRow struct {
		holder
		Fills      int64      `sql:"fills"`
		BuyShares  data.Micro `sql:"buy_shares"`
		SellShares data.Micro `sql:"sell_shares"`
		FeeShares  data.Micro `sql:"fee_shares"`
		BuyUSD     data.Micro `sql:"buy_usd"`
		SellUSD    data.Micro `sql:"sell_usd"`
		FeeUSD     data.Micro `sql:"fee_usd"`
	}
	walletDayRow struct {
		dayWalletRow
		Fills   int64      `sql:"fills"`
		BuyUSD  data.Micro `sql:"buy_usd"`
		SellUSD data.Micro `sql:"sell_usd"`
		FeeUSD  data.Micro `sql:"fee_usd"`
	}
	tokenPriceRow struct {
		Token  data.TokenID `sql:"token"`
		Last   *big.Int     `sql:"last"`
		DayAgo *big.Int     `sql:"day_ago"`
	}
	candleRow struct {
		Token   data.TokenID `sql:"token"`
		Hour    int32        `sql:"hour"`
		Fills   int64        `sql:"fills"`
		USD     data.Micro   `sql:"usd"`
		Shares  data.Micro   `sql:"shares"`
		Opened  *big.Int     `sql:"opened"`
		Highest *big.Int     `sql:"highest"`
		Lowest  *big.Int     `sql:"lowest"`
		Closed  *big.Int     `sql:"closed"`
	}
)

// tokenPrices are the batch's last trade of a token, and its last one a day ago.
type tokenPrices struct {
	token        data.TokenID
	last, dayAgo pricedTrade
}

// candleSum is what takers traded of a token in an hour. The smallest values are not negated, as
// they are in its row.
type candleSum struct {
	candleRow
	hourPrices
}

// hourPrices are the first and the last trade of an hour, and its prices in millionths. Without a trade all are zero.
type hourPrices struct {
	first, last     pricedTrade
	highest, lowest int32
}

func (m *merge) sumPositions(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		key := holder{f.Token, f.Wallet}
		r := s.positions.at(key, positionRow{holder: key})
		r.Fills++
		if r.FeeShares += f.feeShares(); f.Side == data.Buy {
			r.BuyShares += f.Shares
		} else {
			r.SellShares += f.Shares
		}
		r.BuyUSD, r.SellUSD, r.FeeUSD = r.BuyUSD+f.bought(), r.SellUSD+f.sold(), r.FeeUSD+f.feeUSD()
	}
	return appendRows(m, t, s.positions.rows)
}

func (m *merge) sumWalletDays(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		day := f.TS / dayLength
		r := s.walletDays.at(idAt{int32(f.Wallet), int32(day)}, walletDayRow{dayWalletRow: dayWalletRow{day, f.Wallet}})
		r.Fills++
		r.BuyUSD, r.SellUSD, r.FeeUSD = r.BuyUSD+f.bought(), r.SellUSD+f.sold(), r.FeeUSD+f.feeUSD()
	}
	return appendRows(m, t, s.walletDays.rows)
}

func (m *merge) sumTokenDays(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		day, volume := int32(f.TS/dayLength), f.legs(1)
		s.tokenDays.at(idAt{int32(f.Token), day}, tokenDayRow{Day: day, Token: f.Token}).plus(&volume)
	}
	return appendRows(m, t, s.tokenDays.rows)
}

func (m *merge) sumTokenTotals(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		volume := f.legs(1)
		r := s.tokenTotals.at(f.Token, tokenTotalRow{Token: f.Token})
		r.plus(&volume)
		r.FirstTS, r.LastTS = earlier(r.FirstTS, f.TS), max(r.LastTS, f.TS)
	}
	return appendRows(m, t, s.tokenTotals.rows)
}

func (m *merge) sumPlatformHours(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		hour, volume := f.TS/hourLength, f.legs(1)
		s.platformHours.at(hour, platformHourRow{Hour: hour}).plus(&volume)
	}
	return appendRows(m, t, s.platformHours.rows)
}

func (m *merge) sumPlatformDays(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		day, volume := f.TS/dayLength, f.legs(1)
		s.platformDays.at(day, platformDayRow{Day: day}).plus(&volume)
	}
	for _, d := range s.days {
		s.platformDays.at(int64(d.day), platformDayRow{Day: int64(d.day)}).Wallets++
	}
	return appendRows(m, t, s.platformDays.rows)
}

func (m *merge) sumMarketWallets(t table) error {
	s := m.sums
	for _, pair := range s.pairs {
		s.marketWallets.at(pair.market, marketWalletsRow{Market: pair.market}).Wallets++
	}
	return appendRows(m, t, s.marketWallets.rows)
}

func (m *merge) sumWalletTotals(t table) error {
	s := m.sums
	of := func(wallet data.WalletID) *walletTotalRow {
		return s.walletTotals.at(wallet, walletTotalRow{Wallet: wallet})
	}
	for i := range s.fills {
		f := &s.fills[i]
		r := of(f.Wallet)
		r.Fills++
		switch f.Role {
		case data.Maker:
			r.MakerFills++
		case data.Taker:
			r.TakerFills++
		}
		r.BuyUSD, r.SellUSD, r.FeeUSD = r.BuyUSD+f.bought(), r.SellUSD+f.sold(), r.FeeUSD+f.feeUSD()
		r.FirstTS, r.LastTS = earlier(r.FirstTS, f.TS), max(r.LastTS, f.TS)
		if s.touched[f.Token] { // hold counts it
			continue
		}
		if s.tokens[f.Token].Market < 0 {
			r.UnmappedFills++
		}
		r.UnresolvedCash += f.sold() - f.bought() - f.feeUSD()
	}
	for _, d := range s.days {
		of(data.WalletID(d.id)).ActiveDays++
	}
	for _, pair := range s.pairs {
		of(pair.wallet).Markets++
	}
	return appendRows(m, t, s.walletTotals.rows)
}

// eachMove calls f for every fill that enters a window, with sign 1, or leaves it, with −1; the
// numbers after those of windows are longWindows.
func (m *merge) eachMove(f func(fill *batchFill, span int, sign int64)) {
	for i := range m.sums.fills {
		for span := range len(windows) + len(longWindows) {
			length := int64(0)
			if span < len(windows) {
				length = windows[span]
			} else {
				length = longWindows[span-len(windows)]
			}
			if m.sums.fills[i].TS > m.to-length {
				f(&m.sums.fills[i], span, 1)
			}
		}
	}
	for i := range m.sums.left {
		f(&m.sums.left[i], int(m.sums.left[i].Span), -1)
	}
}

func (m *merge) sumWalletWindows(t table) error {
	s := m.sums
	of := func(wallet data.WalletID, span int8) *walletWindowRow {
		return s.walletWindows.at(idAt{int32(wallet), int32(span)}, walletWindowRow{Wallet: wallet, Span: serving.Period(span)})
	}
	m.eachMove(func(f *batchFill, span int, sign int64) {
		if span >= len(windows) {
			return
		}
		r, by := of(f.Wallet, int8(span)), data.Micro(sign)
		r.Fills += sign
		r.Buy, r.Sell, r.Fee = r.Buy+by*f.bought(), r.Sell+by*f.sold(), r.Fee+by*f.feeUSD()
	})
	for _, r := range s.redeemed {
		of(r.Wallet, r.Span).Redemption += r.USD
	}
	for _, u := range s.undated {
		r := of(u.Wallet, u.Span)
		r.Undated, r.UndatedMarkets = r.Undated+u.USD, r.UndatedMarkets+u.Markets
	}
	return appendRows(m, t, s.walletWindows.rows)
}

// sumTokenWindows also sums up the other counts of windows.
func (m *merge) sumTokenWindows(t table) error {
	s := m.sums
	m.eachMove(func(f *batchFill, span int, sign int64) {
		volume := f.legs(sign)
		if span >= len(windows) {
			s.long[span-len(windows)].plus(&volume)
			return
		}
		s.tokenWindows.at(idAt{int32(f.Token), int32(span)}, tokenWindowRow{Token: f.Token, Span: serving.Period(span)}).plus(&volume)
		if span == 0 {
			key := holder{f.Token, f.Wallet}
			s.dayHolders.at(key, dayHolderRow{holder: key}).Fills += int32(sign)
		}
	})
	return appendRows(m, t, s.tokenWindows.rows)
}

func (m *merge) sumPrices(t table) error {
	s := m.sums
	of := func(token data.TokenID) *tokenPrices { return s.prices.at(token, tokenPrices{token: token}) }
	for i := range s.fills {
		f := &s.fills[i]
		trade, any := f.trade()
		if !any {
			continue
		}
		p := of(f.Token)
		p.last = p.last.supersede(trade)
		if f.TS <= m.to-windows[0] {
			p.dayAgo = p.dayAgo.supersede(trade)
		}
	}
	for i := range s.left { // fills that left the first window: they are a day old now
		if trade, any := s.left[i].trade(); any && s.left[i].Span == 0 {
			p := of(s.left[i].Token)
			p.dayAgo = p.dayAgo.supersede(trade)
		}
	}
	rows := make([]tokenPriceRow, len(s.prices.rows))
	for i, p := range s.prices.rows {
		rows[i] = tokenPriceRow{p.token, p.last.key(), p.dayAgo.key()}
	}
	return appendRows(m, t, rows)
}

func (m *merge) sumCandles(t table) error {
	s := m.sums
	for i := range s.fills {
		f := &s.fills[i]
		if f.Role == data.Maker {
			continue
		}
		hour := int32(f.TS / hourLength)
		c := s.candles.at(idAt{int32(f.Token), hour}, candleSum{candleRow: candleRow{Token: f.Token, Hour: hour}})
		c.Fills, c.USD, c.Shares = c.Fills+1, c.USD+f.USD, c.Shares+f.Shares
		if trade, any := f.trade(); any {
			c.add(trade)
		}
	}
	rows := make([]candleRow, len(s.candles.rows))
	for i := range s.candles.rows {
		rows[i] = s.candles.rows[i].row()
	}
	return appendRows(m, t, rows)
}

func (c *hourPrices) add(q pricedTrade) {
	if !c.any() {
		c.first, c.last, c.highest, c.lowest = q, q, q.price, q.price
		return
	}
	if c.first.supersede(q) == c.first && q != c.first { // the smaller of the two
		c.first = q
	}
	c.last = c.last.supersede(q)
	c.highest, c.lowest = max(c.highest, q.price), min(c.lowest, q.price)
}

func (c *hourPrices) any() bool { return c.last != (pricedTrade{}) }

// row is the row of the rollup.
func (c *candleSum) row() candleRow {
	r := c.candleRow
	if r.Closed = c.last.key(); r.Closed != nil {
		r.Opened = c.first.key()
		r.Opened.Neg(r.Opened)
		r.Highest, r.Lowest = big.NewInt(int64(c.highest)), big.NewInt(-int64(c.lowest))
	}
	return r
}

// sumWhaleMoves finds the orders that reach the threshold: an order is in one transaction, and so
// in one batch if it is newer than what is there.
func (m *merge) sumWhaleMoves(t table) error {
	type order struct {
		holder
		ts   int64
		side data.Side
		tx   data.Hash
	}
	var orders sums[order, whaleMoveRow]
	for i := range m.sums.fills {
		f := &m.sums.fills[i]
		if f.Role == data.Maker {
			continue
		}
		r := orders.at(order{holder{f.Token, f.Wallet}, f.TS, f.Side, f.Tx}, whaleMoveRow{TS: f.TS, Wallet: f.Wallet, Token: f.Token, Side: f.Side, Tx: f.Tx})
		r.Fills, r.Shares, r.USD = r.Fills+1, r.Shares+f.Shares, r.USD+f.USD
	}
	m.sums.whaleMoves = slices.DeleteFunc(orders.rows, func(r whaleMoveRow) bool { return r.USD < m.sums.whaleLeast })
	return appendRows(m, t, m.sums.whaleMoves)
}

// flowBucket is the bucket of the index that a time is in.
func flowBucket(ts int64) int32 { return int32((ts + 299_999_999) / 300_000_000) }

func (m *merge) sumFlow(t table) error {
	s := m.sums
	of := func(ts int64) *flowRow { return s.flow.at(flowBucket(ts), flowRow{Bucket: flowBucket(ts)}) }
	for i := range s.fills {
		f := &s.fills[i]
		if f.Role == data.Maker {
			continue
		}
		token, r := s.tokens[f.Token], of(f.TS)
		r.Fills, r.Taker = r.Fills+1, r.Taker+f.USD
		switch token.Category {
		case "politics":
			r.Politics += f.USD
		case "crypto":
			r.Crypto += f.USD
		}
		if token.Outcome < 0 {
			continue
		}
		if r.Mapped += f.USD; (token.Outcome == 0) == (f.Side == data.Buy) {
			r.First += f.USD
		}
	}
	for i := range s.whaleMoves {
		of(s.whaleMoves[i].TS).Whale += s.whaleMoves[i].USD
	}
	return appendRows(m, t, s.flow.rows)
}

func (m *merge) sumDeskWallets(t table) error {
	s := m.sums
	of := func(wallet data.WalletID) *deskWalletRow {
		return s.deskWallets.at(wallet, deskWalletRow{Wallet: wallet})
	}
	for i := range s.fills {
		f := &s.fills[i]
		if !s.tokens[f.Token].Desk {
			continue
		}
		r := of(f.Wallet)
		r.Fills++
		r.BuyUSD, r.SellUSD, r.FeeUSD = r.BuyUSD+f.bought(), r.SellUSD+f.sold(), r.FeeUSD+f.feeUSD()
		r.FirstTS, r.LastTS = earlier(r.FirstTS, f.TS), max(r.LastTS, f.TS)
	}
	markets := map[int32]bool{}
	for _, t := range s.tokens {
		if t.Desk {
			markets[t.Market] = true
		}
	}
	for _, pair := range s.pairs {
		if markets[pair.market] {
			of(pair.wallet).Markets++
		}
	}
	return appendRows(m, t, s.deskWallets.rows)
}

// countEvents adds the new pairs of the merge to the wallets of events.
func (m *merge) countEvents() {
	counts := m.pairs.countFirsts(nil)
	for _, market := range slices.SortedFunc(maps.Keys(counts), cmp.Compare) {
		m.sums.eventWallets = append(m.sums.eventWallets, marketWalletsRow{market, int32(counts[market])})
	}
}
