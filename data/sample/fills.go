package sample

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"pmx/data"
)

// header is the first line of poly_data's orderFilled.csv
// (github.com/warproxxx/poly_data): chain events with times, amounts in millionths.
const header = "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash\n"

// The exchange contracts on Polygon, which are the taker in the taker's own row
// (github.com/Polymarket/ctf-exchange), in lower case as the subgraph gives them.
const (
	plainExchange   = "0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e"
	negRiskExchange = "0xc5d563a36ae78145c45a50134d48a1215220f80a"
)

// rowSink receives the rows of one match at a time, as whole lines.
type rowSink interface {
	rows(lines []byte, n int64) error
}

// dayShape is the relative amount of trading in each UTC hour, in hundredths.
var dayShape = [24]uint64{
	105, 95, 85, 75, 70, 65, 65, 70, 75, 80, 85, 90, 100, 115, 125, 130, 130, 130, 125, 125, 125, 120, 120, 115,
}

// hourWeights returns each hour's share of the trading: five times as much at the end as at the
// beginning, more at weekends, less at night.
func hourWeights(start time.Time, hours int) (weights []uint64, total uint64) {
	weights = make([]uint64, hours)
	for h := range weights {
		at := start.Add(time.Duration(h) * time.Hour)
		growth := 1000 + 4000*uint64(h)*uint64(h)/(uint64(hours)*uint64(hours))
		weights[h] = growth * dayShape[at.Hour()]
		if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
			weights[h] = weights[h] * 11 / 10
		}
		total += weights[h]
	}
	return weights, total
}

// floor is the set of markets that are open in an hour, with their cumulative weights.
type floor struct {
	open    []*event
	waiting []*event // in the order they open
	markets []*market
	sums    []uint64
}

// ring starts an hour: it adds the events that open and removes those that have ended.
func (f *floor) ring(hour int) {
	for len(f.waiting) > 0 && f.waiting[0].openHour <= hour {
		f.open, f.waiting = append(f.open, f.waiting[0]), f.waiting[1:]
	}
	f.markets, f.sums = f.markets[:0], f.sums[:0]
	kept, sum := f.open[:0], uint64(0)
	for _, e := range f.open {
		if e.closeHour <= hour {
			for _, m := range e.markets {
				m.holders, m.tokens = nil, [2]string{}
			}
			continue
		}
		kept = append(kept, e)
		boost := pace(e, hour)
		for _, m := range e.markets {
			sum += m.weight * boost
			f.markets, f.sums = append(f.markets, m), append(f.sums, sum)
		}
	}
	clear(f.open[len(kept):])
	f.open = kept
}

// pace is the relative amount of trading in an event at an hour. It is highest in its last third.
func pace(e *event, hour int) uint64 {
	switch past, life := hour-e.openHour, e.closeHour-e.openHour; {
	case past*3 >= life*2:
		return 5
	case past*3 >= life:
		return 3
	}
	return 2
}

// draw picks a market by weight.
func (f *floor) draw(r *rng) *market {
	v := r.below64(f.sums[len(f.sums)-1])
	lo, hi := 0, len(f.sums)-1
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if f.sums[mid] <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return f.markets[lo]
}

// run makes all fills of the venue in order of time.
func (x *exchange) run(ctx context.Context, events []*event, emit func(*match) error, progress func(int64)) error {
	weights, total := hourWeights(x.sum.Start, x.cfg.hours())
	f := &floor{waiting: events}
	due, last := uint64(0), len(weights)-1
	for h, w := range weights {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("sample venue: stopped after %d fills: %w", x.sum.Fills, err)
		}
		due += w
		target := int64(data.MulDiv(data.Micro(x.cfg.Fills), data.Micro(due), data.Micro(total)))
		if h == last {
			target = x.cfg.Fills
		}
		f.ring(h)
		if err := x.hour(f, h, target, emit); err != nil {
			return err
		}
		if progress != nil {
			progress(x.sum.Fills)
		}
	}
	return nil
}

// hour makes matches until there are target fills, in order of time.
func (x *exchange) hour(f *floor, hour int, target int64, emit func(*match) error) error {
	begin, from := x.sum.Fills, x.sum.Start.Unix()+int64(hour)*3600
	rows := target - begin
	for x.sum.Fills < target {
		second := (x.sum.Fills - begin) * 3600 / rows
		gap := 3600/rows + 1
		ts := x.cfg.onBlock(from + min(3599, second+int64(x.r.below(int(gap)))))
		if err := emit(x.trade(f.draw(&x.r), hour, ts, x.cfg.Fills-x.sum.Fills)); err != nil {
			return err
		}
	}
	return nil
}

// encoder writes matches as rows.
type encoder struct {
	cfg  Config
	seed uint64
	buf  []byte
	tx   [66]byte
}

func (c *encoder) into(out rowSink) func(*match) error {
	return func(m *match) error {
		c.encode(m)
		return out.rows(c.buf, int64(len(m.legs)+1))
	}
}

// encode writes the makers' rows and then the taker's, as the chain emits them. The maker of a row
// is the wallet whose fill it is.
func (c *encoder) encode(m *match) {
	tokens := m.market.tokenIDs(c.seed)
	contract := c.cfg.contract(m.market.event, m.ts)
	var hash [32]byte
	fill(hash[:], c.seed, streamTx, uint64(m.number))
	hex.Encode(c.tx[copy(c.tx[:], "0x"):], hash[:])
	var wallet, taker [42]byte
	c.address(&taker, m.taker)
	c.buf = c.buf[:0]
	for _, l := range m.legs {
		c.address(&wallet, l.wallet)
		buy, token, dollars := !m.buy, tokens[m.outcome], usd(l.shares, l.price)
		if l.complement {
			buy, token, dollars = m.buy, tokens[1-m.outcome], l.shares-dollars
		}
		c.row(m.ts, wallet[:], taker[:], buy, token, l.shares, dollars)
	}
	c.row(m.ts, taker[:], []byte(contract), m.buy, tokens[m.outcome], m.shares, m.usd)
}

func (c *encoder) row(ts int64, maker, taker []byte, buy bool, token string, shares, dollars int64) {
	give, gave, get, got := token, shares, "0", dollars
	if buy {
		give, gave, get, got = "0", dollars, token, shares
	}
	b := strconv.AppendInt(c.buf, ts, 10)
	b = append(append(b, ','), maker...)
	b = append(append(b, ','), give...)
	b = strconv.AppendInt(append(b, ','), gave, 10)
	b = append(append(b, ','), taker...)
	b = append(append(b, ','), get...)
	b = strconv.AppendInt(append(b, ','), got, 10)
	b = append(append(b, ','), c.tx[:]...)
	c.buf = append(b, '\n')
}

func (c *encoder) address(dst *[42]byte, w int32) {
	var a [20]byte
	fill(a[:], c.seed, streamWallet, uint64(w))
	hex.Encode(dst[copy(dst[:], "0x"):], a[:])
}
