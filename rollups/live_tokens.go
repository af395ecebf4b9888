package rollups

import (
	"database/sql/driver"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups/serving"
)

// legs is volume by leg: makers apart from all others.
type legs struct {
	takerFills, takerUSD, takerShares, makerFills, makerUSD, makerShares int64
}

func (l *legs) add(row []driver.Value) {
	l.takerFills += engine.Int(row[0])
	l.takerUSD += engine.Int(row[1])
	l.takerShares += engine.Int(row[2])
	l.makerFills += engine.Int(row[3])
	l.makerUSD += engine.Int(row[4])
	l.makerShares += engine.Int(row[5])
}

func (l *legs) plus(o *legs) {
	l.takerFills += o.takerFills
	l.takerUSD += o.takerUSD
	l.takerShares += o.takerShares
	l.makerFills += o.makerFills
	l.makerUSD += o.makerUSD
	l.makerShares += o.makerShares
}

func (l *legs) minus(o *legs) {
	negative := legs{-o.takerFills, -o.takerUSD, -o.takerShares, -o.makerFills, -o.makerUSD, -o.makerShares}
	l.plus(&negative)
}

// basis is by which legs volume is measured whose lifetime l is: the takers',
// except where there are but makers'.
func (l *legs) basis() serving.VolumeBasis {
	if l.takerFills == 0 && l.makerFills > 0 {
		return serving.MakerUSD
	}
	return serving.TakerUSD
}

// by gives the volume in a basis.
func (l *legs) by(basis serving.VolumeBasis) (trades int64, usd, shares data.Micro) {
	if basis == serving.MakerUSD {
		return l.makerFills, data.Micro(l.makerUSD), data.Micro(l.makerShares)
	}
	return l.takerFills, data.Micro(l.takerUSD), data.Micro(l.takerShares)
}

// pricedTrade is a trade as far as it says a price. The zero quote is none.
type pricedTrade struct {
	ts    int64 // unix µs
	log   int32 // log index, −1: the source had none
	price int32 // millionths, 0 to 1,000,000
}

// pricedTradeOf takes the three columns of a row; NULL is none.
func pricedTradeOf(row []driver.Value) pricedTrade {
	return pricedTrade{engine.Int(row[0]), int32(engine.Int(row[1])), int32(engine.Int(row[2]))}
}

// later tells whether q came after o, which may be none.
func (q pricedTrade) later(o pricedTrade) bool { return q.ts > o.ts || q.ts == o.ts && q.log > o.log }

// supersede is the greater of two trades of one token.
func (q pricedTrade) supersede(o pricedTrade) pricedTrade {
	if o.later(q) || !q.later(o) && o.price > q.price {
		return o
	}
	return q
}

// tokenState is what the venue traded of one token, ever.
type tokenState struct {
	id      string // its public name
	market  int32  // -1: not mapped
	outcome int8
	legs
	firstTS, lastTS int64       // unix µs; 0: no fill
	last, dayAgo    pricedTrade // the last trade, and the last one 24 hours or more before as_of
}

func (t *tokenState) fills() int64 { return t.takerFills + t.makerFills }

// mapToken takes a row (token, market, outcome, token_id, label).
func (l *Live) mapToken(row []driver.Value) {
	id := data.TokenID(engine.Int(row[0]))
	for int(id) >= len(l.tokens) {
		l.tokens = append(l.tokens, tokenState{market: -1})
		l.counts.UnmappedTokens++
	}
	t := &l.tokens[id]
	ref := serving.TokenRef{Market: -1, ID: engine.Text(row[3])}
	if row[1] != nil {
		ref.Market, ref.Outcome = int32(engine.Int(row[1])), int8(engine.Int(row[2]))
	}
	if row[4] != nil {
		ref.Label = engine.Text(row[4])
	}
	if t.id == ref.ID && t.market == ref.Market && t.outcome == ref.Outcome && l.catalog.Label(id) == ref.Label {
		return
	}
	l.tokenIDs[ref.ID] = id
	l.catalog.Map(id, ref)
	if t.market != ref.Market && t.fills() > 0 {
		l.day.remapped(t.market, ref.Market)
	}
	if t.market < 0 && ref.Market >= 0 {
		l.counts.UnmappedTokens--
		l.counts.UnmappedFills -= t.fills()
	}
	if t.market >= 0 && ref.Market < 0 { // its label is no longer among the outcomes
		l.counts.UnmappedTokens++
		l.counts.UnmappedFills += t.fills()
		l.freed = append(l.freed, id)
	}
	t.id, t.market, t.outcome = ref.ID, ref.Market, ref.Outcome
}

// touchToken gives what a row whose first column is a token is about, and notes that
// the figures of its market change.
func (l *Live) touchToken(row []driver.Value) *tokenState {
	t := &l.tokens[engine.Int(row[0])]
	if t.market >= 0 {
		l.catalog.Touch(t.market)
	}
	return t
}

// addTokenTotal takes a row (token, six legs, first_ts, last_ts).
func (l *Live) addTokenTotal(row []driver.Value) {
	t := l.touchToken(row)
	before := t.fills()
	t.add(row[1:7])
	l.lifetimeVolume.add(row[1:7])
	if t.market < 0 {
		l.counts.UnmappedFills += t.fills() - before
	}
	t.firstTS, t.lastTS = earlier(t.firstTS, row[7]), max(t.lastTS, engine.Int(row[8]))
}

// addTokenWindow takes a row (token, span, six legs).
func (l *Live) addTokenWindow(row []driver.Value) {
	l.touchToken(row)
	l.tokenWindows[engine.Int(row[1])].add(row)
}

// addPrices takes a row of LoadPrices.
func (l *Live) addPrices(row []driver.Value) {
	t := l.touchToken(row)
	if row[1] != nil {
		t.last = t.last.supersede(pricedTradeOf(row[1:4]))
	}
	if row[4] != nil {
		t.dayAgo = t.dayAgo.supersede(pricedTradeOf(row[4:7]))
	}
}
