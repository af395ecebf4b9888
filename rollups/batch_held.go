package rollups

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// mostHeld is how many positions a batch that is summed up in memory may revalue. A batch with more
// is summed up by statements, which may use the disk.
const mostHeld = 200_000

// heldPositions are the positions in markets that are revalued, like Legs and Holdings of
// merge.sql: first without the batch, then with it.
type heldPositions struct {
	tokens   map[data.TokenID]heldToken
	outcomes map[outcomeKey]heldToken // the market's and the outcome's data
	legs     sums[legKey, heldLeg]
	volumes  sums[outcomeKey, heldVolume]
	bins     sums[binKey, oracleBinRow]
	redeemed sums[redemptionKey, redemptionRow]
	undated  [2][]holding // of markets resolved at an unknown time: without the batch, and with it
}

// heldToken is a row of HeldTokens.
type heldToken struct {
	Token      data.TokenID `sql:"token"`
	Market     int32        `sql:"market"`
	Outcome    int8         `sql:"outcome"`
	Payout     data.Micro   `sql:"payout"` // −1: not known
	ResolvedAt int64        `sql:"resolved_at,null"`
	Dated      bool         `sql:"dated"`
	Desk       bool         `sql:"desk"`
}

func (t *heldToken) outcome() outcomeKey { return outcomeKey{t.Market, t.Outcome} }

type (
	outcomeKey struct {
		market  int32
		outcome int8
	}
	legKey struct {
		wallet data.WalletID
		outcomeKey
	}
	binKey struct {
		wallet data.WalletID
		bin    int8
	}
	redemptionKey struct {
		at     int64
		market int32
		wallet data.WalletID
	}
	heldLeg struct {
		legKey
		net, cash, boughtShares, boughtUSD data.Micro
	}
	heldVolume struct {
		outcomeKey
		legs
	}
	redemptionRow struct {
		ResolvedAt int64         `sql:"resolved_at"`
		Market     int32         `sql:"market"`
		Wallet     data.WalletID `sql:"wallet"`
		USD        data.Micro    `sql:"usd"`
	}
	oracleBinRow struct {
		Wallet        data.WalletID `sql:"wallet"`
		Bin           int8          `sql:"bin"`
		Forecasts     int64         `sql:"forecasts"`
		Correct       int64         `sql:"correct"`
		Probability   int64         `sql:"probability"`
		Payout        int64         `sql:"payout"`
		Error         int64         `sql:"error"`
		BaselineError int64         `sql:"baseline_error"`
		USD           data.Micro    `sql:"usd"`
	}
)

// holding is what a wallet has of a market.
type holding struct {
	tradedPair
	resolved, dated, desk bool
	resolvedAt            int64
	cash, whole           data.Micro
	fraction              *big.Int // of payouts strictly between 0 and 1 dollar; nil: none
	negativeLegs          int64
}

// redemption is what it pays, rounded to micro-dollars, halves away from zero.
func (h *holding) redemption() data.Micro {
	if h.fraction == nil {
		return h.whole
	}
	half, abs := big.NewInt(int64(data.One)/2), new(big.Int).Abs(h.fraction)
	abs.Add(abs, half).Quo(abs, big.NewInt(int64(data.One)))
	if h.fraction.Sign() < 0 {
		abs.Neg(abs)
	}
	return h.whole + data.Micro(abs.Int64())
}

// readHeld reads the tokens whose holders are revalued, and what these hold without the batch. It
// reports whether they are few enough for that.
func (m *merge) readHeld() (few bool, err error) {
	s := m.sums
	var markets []int32
	for _, t := range s.tokens {
		if t.Resolved {
			markets = append(markets, t.Market)
		}
	}
	if m.resolved > 0 {
		err := engine.EachValue(m.ctx, m.conn, statements.Get("PaidMarkets"), func(market int32) error {
			markets = append(markets, market)
			return nil
		})
		if err != nil {
			return false, fmt.Errorf("PaidMarkets: %w", err)
		}
	}
	if len(markets) == 0 {
		return true, nil
	}
	slices.Sort(markets)
	m.touchedMarkets = listed(slices.Compact(markets))
	if err := m.readHeldTokens(); err != nil {
		return false, err
	}
	tokens := make([]data.TokenID, 0, len(s.held.tokens))
	for token := range s.held.tokens {
		s.touched[token] = true
		tokens = append(tokens, token)
	}
	if m.touched = int64(len(tokens)); m.touched == 0 {
		return true, nil
	}
	slices.Sort(tokens)
	m.touchedTokens = listed(tokens)
	few, err = m.readHeldLegs()
	if err == nil && few {
		err = m.readHeldVolumes()
	}
	return few, err
}

// listed writes ids as few does: as a list if they are few, as a query if they are many.
func listed[T ~int32](ids []T) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.Itoa(int(id))
	}
	list := strings.Join(texts, ",")
	if len(ids) > maxListedTokens {
		return statements.Get("ManyListed", "@list", list)
	}
	return list
}

// readHeldTokens reads the tokens of the markets, and how these are resolved now.
func (m *merge) readHeldTokens() error {
	h := &m.sums.held
	h.tokens, h.outcomes = map[data.TokenID]heldToken{}, map[outcomeKey]heldToken{}
	query := statements.Get("HeldTokens", "@among", oneOf("t.market", m.touchedMarkets), "@same", oneOf("m.market", m.touchedMarkets))
	err := engine.EachRow(m.ctx, m.conn, query, func(t *heldToken) error {
		h.tokens[t.Token], h.outcomes[t.outcome()] = *t, *t
		return nil
	})
	if err != nil {
		return fmt.Errorf("HeldTokens: %w", err)
	}
	return nil
}

func (m *merge) readHeldLegs() (few bool, err error) {
	h, most := &m.sums.held, m.mostHeld
	rows := 0
	query := statements.Get("AtMost", "@of", tableNamed("position").those(oneOf("token", m.touchedTokens)), "@rows", strconv.Itoa(most+1))
	err = engine.EachRow(m.ctx, m.conn, query, func(p *positionRow) error {
		rows++
		h.add(p)
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("positions of touched tokens: %w", err)
	}
	return rows <= most, nil
}

// readHeldVolumes reads what the tokens traded for.
func (m *merge) readHeldVolumes() error {
	err := engine.EachRow(m.ctx, m.conn, tableNamed("token_total").those(oneOf("token", m.touchedTokens)), func(t *tokenTotalRow) error {
		m.sums.held.trade(t.Token, &t.legs)
		return nil
	})
	if err != nil {
		return fmt.Errorf("volumes of touched tokens: %w", err)
	}
	return nil
}

// add adds a position in a token that is revalued.
func (h *heldPositions) add(p *positionRow) {
	t := h.tokens[p.Token]
	key := legKey{p.Wallet, t.outcome()}
	l := h.legs.at(key, heldLeg{legKey: key})
	l.net += p.BuyShares - p.SellShares - p.FeeShares
	l.cash += p.SellUSD - p.BuyUSD - p.FeeUSD
	l.boughtShares, l.boughtUSD = l.boughtShares+p.BuyShares, l.boughtUSD+p.BuyUSD
}

// trade adds volume of such a token.
func (h *heldPositions) trade(token data.TokenID, volume *legs) {
	t := h.tokens[token]
	h.volumes.at(t.outcome(), heldVolume{outcomeKey: t.outcome()}).plus(volume)
}

// revalueHeld adds to the batch's sums the change in value of what its holders hold: with the batch
// minus without it.
func (m *merge) revalueHeld() error {
	s := m.sums
	if m.touched == 0 {
		return nil
	}
	s.value(-1)
	for i := range s.positions.rows {
		if p := &s.positions.rows[i]; s.touched[p.Token] {
			s.held.add(p)
		}
	}
	for i := range s.fills {
		if f := &s.fills[i]; s.touched[f.Token] {
			volume := f.legs(1)
			s.held.trade(f.Token, &volume)
		}
	}
	if m.resolved > 0 {
		if err := m.readHeldTokens(); err != nil {
			return err
		}
	}
	for _, h := range s.value(1) {
		if !m.pairs.has(h.wallet, h.market) {
			m.pairs.pending = append(m.pairs.pending, h.tradedPair)
		}
	}
	return nil
}

// value adds the values of all holdings, with a sign, and returns the holdings.
func (b *batchSums) value(sign int64) []holding {
	held := b.held.holdings()
	for i := range held {
		b.hold(&held[i], sign)
	}
	b.held.forecast(sign)
	return held
}

// holdings adds the legs up by wallet and market.
func (h *heldPositions) holdings() []holding {
	var all sums[tradedPair, holding]
	for i := range h.legs.rows {
		l := &h.legs.rows[i]
		t, pair := h.outcomes[l.outcomeKey], tradedPair{l.wallet, l.market}
		held := all.at(pair, holding{tradedPair: pair, dated: t.Dated, resolvedAt: t.ResolvedAt, desk: t.Desk})
		held.cash += l.cash
		switch t.Payout {
		case -1:
			continue
		case 0:
		case data.One:
			held.whole += l.net
		default:
			if held.fraction == nil {
				held.fraction = new(big.Int)
			}
			held.fraction.Add(held.fraction, new(big.Int).Mul(big.NewInt(int64(l.net)), big.NewInt(int64(t.Payout))))
		}
		if held.resolved = true; l.net < 0 {
			held.negativeLegs++
		}
	}
	return all.rows
}

// hold adds a holding, with a sign, to the sums of its wallet and market.
func (b *batchSums) hold(h *holding, sign int64) {
	usd := data.Micro(sign) * h.redemption()
	b.marketWallets.at(h.market, marketWalletsRow{Market: h.market}).Wallets += int32(sign)
	r := b.walletTotals.at(h.wallet, walletTotalRow{Wallet: h.wallet})
	r.Markets += sign
	r.NegativeLegs += sign * h.negativeLegs
	r.Redemption += usd
	wins := h.resolved && h.cash+h.redemption() > 0
	switch {
	case h.resolved:
		r.ResolvedMarkets += sign
	default:
		r.UnresolvedCash += data.Micro(sign) * h.cash
	}
	if wins {
		r.WinningMarkets += sign
	}
	if h.desk {
		d := b.deskWallets.at(h.wallet, deskWalletRow{Wallet: h.wallet})
		d.Redemption, d.Markets = d.Redemption+usd, d.Markets+int32(sign)
		if h.resolved {
			d.ResolvedMarkets += int32(sign)
		}
		if wins {
			d.WinningMarkets += int32(sign)
		}
	}
	if !h.resolved {
		return
	}
	key := redemptionKey{h.resolvedAt, h.market, h.wallet}
	b.held.redeemed.at(key, redemptionRow{ResolvedAt: key.at, Market: key.market, Wallet: key.wallet}).USD += usd
	if !h.dated {
		with := max(sign, 0)
		b.held.undated[with] = append(b.held.undated[with], *h)
	}
}

// forecast adds the scores of holdings, with a sign.
func (h *heldPositions) forecast(sign int64) {
	prices := map[outcomeKey]data.Micro{}
	for i := range h.volumes.rows {
		v := &h.volumes.rows[i]
		usd, shares := v.TakerUSD, v.TakerShares
		if shares <= 0 {
			usd, shares = v.MakerUSD, v.MakerShares
		}
		if shares > 0 {
			prices[v.outcomeKey] = priceOf(data.Micro(usd), data.Micro(shares))
		}
	}
	for i := range h.legs.rows {
		l := &h.legs.rows[i]
		payout := h.outcomes[l.outcomeKey].Payout
		average, priced := prices[l.outcomeKey]
		if l.net <= 0 || payout < 0 || !priced {
			continue
		}
		p := priceOf(l.boughtUSD, l.boughtShares)
		key := binKey{l.wallet, int8(min(p/100_000, 9))}
		r := h.bins.at(key, oracleBinRow{Wallet: key.wallet, Bin: key.bin})
		r.Forecasts, r.Probability, r.Payout = r.Forecasts+sign, r.Probability+sign*int64(p), r.Payout+sign*int64(payout)
		if payout > data.One/2 {
			r.Correct += sign
		}
		r.Error += sign * int64((p-payout)*(p-payout))
		r.BaselineError += sign * int64((average-payout)*(average-payout))
		r.USD += data.Micro(sign) * l.boughtUSD
	}
}

// priceOf is statement Price.
func priceOf(usd, shares data.Micro) data.Micro {
	price, _ := data.Ratio(usd, shares)
	return min(price, data.One)
}

func (m *merge) sumRedemption(t table) error { return appendRows(m, t, m.sums.held.redeemed.rows) }

func (m *merge) sumOracleBins(t table) error { return appendRows(m, t, m.sums.held.bins.rows) }

// scores are the rows of LoadScores.
func (b *batchSums) scores() []scoreRow {
	rows := make([]scoreRow, len(b.held.bins.rows))
	for i := range rows {
		r := &b.held.bins.rows[i]
		rows[i] = scoreRow{Wallet: r.Wallet, Forecasts: int32(r.Forecasts), Correct: int32(r.Correct), Edge: data.Micro(r.Payout - r.Probability),
			Error: r.Error, BaselineError: r.BaselineError, BuyUSD: r.USD}
	}
	return rows
}

// redeemHeld adds redemptions at a time within a window to that window.
func (b *batchSums) redeemHeld(to int64) {
	for i := range b.held.redeemed.rows {
		r := &b.held.redeemed.rows[i]
		for span, length := range windows {
			if r.ResolvedAt > to-length && r.ResolvedAt <= to && r.USD != 0 {
				b.redeemed = append(b.redeemed, windowRedemption{Span: int8(span), Wallet: r.Wallet, USD: r.USD})
			}
		}
	}
}

// keepUndated makes held_before and held_after of the holdings that statements of
// undated_redemptions.sql read.
func (m *merge) keepUndated() error {
	for i, when := range []string{"before", "after"} {
		if err := m.exec("NoHoldings", "@when", when); err != nil {
			return err
		}
		held := m.sums.held.undated[i]
		err := engine.AppendTemp(m.conn, "held_"+when, len(held), func(i int) []driver.Value {
			h := &held[i]
			return []driver.Value{int32(h.wallet), h.market, nil, true, nil, int64(h.cash), h.negativeLegs, int64(h.redemption())}
		})
		if err != nil {
			return fmt.Errorf("held_%s: %w", when, err)
		}
	}
	return nil
}
