package rollups

import (
	"pmx/data"
	"pmx/engine"
)

// stretchRows are the positions and candles of a stretch of tokens, each in order of their keys, and which of the classes that a base is sorted by
// each row belongs to. batch_figures.go has the same sums of a batch.
type stretchRows struct {
	keys, spare    []uint64 // to sort by; like the others as long as the longest stretch
	positions      []positionRow
	candles        []stretchCandle
	positionClass  []uint8
	candleClass    []uint8
	nPos, nCandles int
	overflowed     bool // a sum
}

// allocateRows gets memory for the rows of a stretch of at most so many facts.
func allocateRows(facts int64, frees *[]func()) (r stretchRows, err error) {
	r.keys, err = unmanaged[uint64](facts, frees, err)
	r.spare, err = unmanaged[uint64](facts, frees, err)
	r.positions, err = unmanaged[positionRow](facts, frees, err)
	r.candles, err = unmanaged[stretchCandle](facts, frees, err)
	r.positionClass, err = unmanaged[uint8](facts, frees, err)
	r.candleClass, err = unmanaged[uint8](facts, frees, err)
	return r, err
}

// sum sums up the facts of a stretch.
func (s *stretchRows) sum(fills []stretchFill) {
	s.sumPositions(fills)
	s.sumCandles(fills)
}

// append appends the rows in the order of their bases.
func (s *stretchRows) append(positions, candles *engine.ChunkAppender) error {
	err := eachByClass(s.positionClass[:s.nPos], positionClasses, func(i int) error { return addPosition(positions, &s.positions[i]) })
	if err != nil {
		return err
	}
	return eachByClass(s.candleClass[:s.nCandles], candleClasses, func(i int) error { return s.candles[i].append(candles) })
}

const (
	// placeBits are the lower bits of a sort key: the place of its fact in the stretch.
	placeBits = 25
	placeMask = 1<<placeBits - 1
	// secondBits are the bits of the second part of a sort key, a wallet or an hour. The bits above are the token's.
	secondBits = 31
)

// keyOf is a sort key.
func keyOf(f *stretchFill, second int64, place int) uint64 {
	return uint64(f.Token%stretchTokens)<<(secondBits+placeBits) | uint64(second)<<placeBits | uint64(place)
}

// sortKeys sorts n keys by radix, from the last digit on that is not of a place. Digits that are the same in all keys are skipped.
// Keys without places that are equal keep their order.
func (s *stretchRows) sortKeys(n int) []uint64 {
	const digitLen, digits = 11, 1 << 11
	keys, spare := s.keys[:n], s.spare[:n]
	differ := uint64(0)
	for _, k := range keys {
		differ |= k ^ keys[0]
	}
	for shift := placeBits; differ>>shift != 0; shift += digitLen {
		if differ>>shift%digits == 0 {
			continue
		}
		var places [digits]uint32
		for _, k := range keys {
			places[k>>shift%digits]++
		}
		at := uint32(0)
		for d, n := range places {
			places[d] = at
			at += n
		}
		for _, k := range keys {
			p := &places[k>>shift%digits]
			spare[*p] = k
			*p++
		}
		keys, spare = spare, keys
	}
	return keys
}

// plus adds to a sum, and notes if it does not fit.
func (s *stretchRows) plus(sum *data.Micro, v data.Micro) {
	was := *sum
	*sum = was + v
	s.overflowed = s.overflowed || (was^*sum)&(v^*sum) < 0
}

// sumPositions sums up the positions.
func (s *stretchRows) sumPositions(fills []stretchFill) {
	for i := range fills {
		s.keys[i] = keyOf(&fills[i], int64(fills[i].Wallet), i)
	}
	n := 0
	var last *positionRow
	for _, k := range s.sortKeys(len(fills)) {
		f := &fills[k&placeMask]
		if key := (holder{f.Token, f.Wallet}); last == nil || last.holder != key {
			s.positions[n] = positionRow{holder: key}
			last = &s.positions[n]
			n++
		}
		last.Fills++
		if f.Side == data.Buy {
			s.plus(&last.BuyShares, f.Shares)
			s.plus(&last.BuyUSD, f.USD)
		} else {
			s.plus(&last.SellShares, f.Shares)
			s.plus(&last.SellUSD, f.USD)
		}
		s.plus(&last.FeeShares, data.FeeShares(f.Side, f.Fee))
		s.plus(&last.FeeUSD, data.FeeUSD(f.Side, f.Fee))
	}
	for i := range s.positions[:n] {
		s.positionClass[i] = classOf(&s.positions[i])
	}
	s.nPos = n
}

// eachByClass calls add with each row, class by class.
func eachByClass(rows []uint8, classes uint8, add func(i int) error) error {
	for class := range classes {
		for i, of := range rows {
			if of != class {
				continue
			}
			if err := add(i); err != nil {
				return err
			}
		}
	}
	return nil
}

const (
	bothSides       = 2
	positionClasses = 2 * (bothSides + 1)
	candleClasses   = 4
)

// classOf is the place of a position in the order of bySides and byPlainAmounts (table.go).
func classOf(p *positionRow) uint8 {
	class := 2 * sideOf(p)
	if !plainAmounts(p.BuyShares, p.BuyUSD) || !plainAmounts(p.SellShares, p.SellUSD) {
		class++
	}
	return class
}

// plainAmounts reports whether shares are whole hundredths, and dollars a price times these, rounded down or a millionth more.
func plainAmounts(shares, usd data.Micro) bool {
	return shares%hundredth == 0 && plainRest(usd-costAt(shares, nearestPrice(usd, shares)))
}

func plainRest(rest data.Micro) bool { return rest == 0 || rest == 1 }

// sideOf is bySides (table.go) of a position.
func sideOf(p *positionRow) uint8 {
	switch {
	case p.SellUSD == 0:
		return 0
	case p.BuyUSD == 0:
		return 1
	}
	return bothSides
}

func addPosition(to *engine.ChunkAppender, p *positionRow) error {
	to.Int32(0, int32(p.Token))
	to.Int32(1, int32(p.Wallet))
	to.Int64(2, p.Fills)
	packHundredths(to, 3, p.BuyShares)
	packHundredths(to, 5, p.SellShares)
	to.Int64(7, int64(p.FeeShares))
	packDollars(to, 8, p.BuyUSD, p.BuyShares)
	packDollars(to, 10, p.SellUSD, p.SellShares)
	to.Int64(12, int64(p.FeeUSD))
	return to.EndRow()
}

// stretchCandle is a candle of a stretch.
type stretchCandle struct {
	token       data.TokenID
	hour        int32
	fills       int64
	usd, shares data.Micro
	hourPrices
}

// sumCandles sums up the candles.
func (s *stretchRows) sumCandles(fills []stretchFill) {
	n := 0
	for i := range fills {
		if f := &fills[i]; f.Role != data.Maker {
			s.keys[n] = keyOf(f, f.TS/hourLength, i)
			n++
		}
	}
	keys := s.sortKeys(n)
	n = 0
	for len(keys) > 0 {
		same := 1
		for same < len(keys) && keys[same]>>placeBits == keys[0]>>placeBits {
			same++
		}
		s.candles[n] = s.candleOf(fills, keys[:same])
		n++
		keys = keys[same:]
	}
	for i := range s.candles[:n] {
		s.candleClass[i] = s.candles[i].class()
	}
	s.nCandles = n
}

// candleOf is the candle of the facts with some keys.
func (s *stretchRows) candleOf(fills []stretchFill, keys []uint64) stretchCandle {
	f := &fills[keys[0]&placeMask]
	c := stretchCandle{token: f.Token, hour: int32(f.TS / hourLength), fills: int64(len(keys))}
	for _, k := range keys {
		f := &fills[k&placeMask]
		s.plus(&c.usd, f.USD)
		s.plus(&c.shares, f.Shares)
		if q, any := tradeOf(f.TS, f.Log, f.USD, f.Shares); any {
			c.add(q)
		}
	}
	return c
}

// rest is how much more dollars the candle has than its shares cost at its first price.
func (c *stretchCandle) rest() data.Micro {
	return c.usd - costAt(c.shares, data.Micro(c.first.price/100))
}

// class is the place of a candle in the order of byPlainHour (candles.go) and of whether it has more than one fill.
func (c *stretchCandle) class() (class uint8) {
	if c.shares%hundredth != 0 || !plainRest(c.rest()) || !c.any() || c.highest != c.lowest {
		class = 2
	}
	if c.fills > 1 {
		class++
	}
	return class
}

// append appends the candle, in the columns of its base.
func (c *stretchCandle) append(to *engine.ChunkAppender) error {
	to.Int32(0, int32(c.token))
	to.Int32(1, c.hour)
	to.Int64(2, c.fills)
	to.Int64(3, int64(c.rest()))
	packHundredths(to, 4, c.shares)
	if c.any() {
		ts, at := c.first.parts(c.hour)
		lastTS, lastAt := c.last.parts(c.hour)
		to.Int64(6, ts)
		to.Int64(7, at)
		to.Int32(8, c.highest-c.first.price)
		to.Int32(9, c.first.price-c.lowest)
		to.Int64(10, lastTS-ts)
		to.Int64(11, lastAt-at)
	}
	return to.EndRow()
}

// parts are tradeParts (packed.go) of a trade in an hour.
func (q pricedTrade) parts(hour int32) (ts, at int64) {
	us := q.ts - int64(hour)*hourLength
	return us/1_000_000 + us%1_000_000*3600, (int64(q.log)+1)<<20 + int64(q.price)
}
