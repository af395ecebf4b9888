package rollups

import (
	"pmx/data"
	"pmx/rollups/serving"
)

// pricedTrade is a trade as far as its price is concerned. The zero value means none.
type pricedTrade struct {
	ts    int64 // unix µs
	log   int32 // log index, −1: the source had none
	price int32 // millionths, 0 to 1,000,000
}

// later reports whether q came after o, which may be none.
func (q pricedTrade) later(o pricedTrade) bool { return q.ts > o.ts || q.ts == o.ts && q.log > o.log }

// supersede is the greater of two trades of one token.
func (q pricedTrade) supersede(o pricedTrade) pricedTrade {
	if o.later(q) || !q.later(o) && o.price > q.price {
		return o
	}
	return q
}

// priceRow is a row of LoadPrices: two trades, the zero one is none.
type priceRow struct {
	Token    data.TokenID `sql:"token"`
	TS       int64        `sql:"ts,null"`
	Log      int32        `sql:"log_index,null"`
	Price    int32        `sql:"price,null"`
	AgoTS    int64        `sql:"ago_ts,null"`
	AgoLog   int32        `sql:"ago_log_index,null"`
	AgoPrice int32        `sql:"ago_price,null"`
}

func (l *Live) addPrices(row *priceRow) {
	t := l.touchToken(row.Token)
	t.last = t.last.supersede(pricedTrade{row.TS, row.Log, row.Price})
	t.dayAgo = t.dayAgo.supersede(pricedTrade{row.AgoTS, row.AgoLog, row.AgoPrice})
}

// lastOf is the later of two trades, as prices of the first outcome; the second trade is of the
// given outcome.
func lastOf(best, q pricedTrade, outcome int8) pricedTrade {
	if q == (pricedTrade{}) || best != (pricedTrade{}) && !q.later(best) {
		return best
	}
	if outcome != 0 {
		q.price = int32(data.One) - q.price
	}
	return q
}

// setPrices fills in the price of the first outcome and its change in 24 hours. From its resolution
// on, a market's price is its payout.
func (l *Live) setPrices(m *serving.Market, f *serving.Figures, last, ago pricedTrade) {
	then := serving.NoValue
	if ago != (pricedTrade{}) {
		then = data.Micro(ago.price)
	}
	if last != (pricedTrade{}) {
		f.Price = data.Micro(last.price)
	}
	if m.Resolved() && len(m.Payouts) > 0 {
		f.Price = m.Payouts[0]
		switch {
		case m.ResolvedTS == 0: // what it cost at that time is not known
			then = serving.NoValue
		case m.ResolvedTS <= l.progress.asOf-windows[serving.Day]:
			then = f.Price
		}
	}
	if f.Price != serving.NoValue && then != serving.NoValue {
		f.PriceChange24h = f.Price - then
	}
}
