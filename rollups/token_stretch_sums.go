package rollups

import (
	"pmx/data"
	"pmx/engine"
)

// The rows of a stretch of tokens. batch_figures.go has the same sums of a batch.

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
func (s *stretchSorter) sortKeys(n int) []uint64 {
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
func (s *stretchSorter) plus(sum *data.Micro, v data.Micro) {
	was := *sum
	*sum = was + v
	s.overflowed = s.overflowed || (was^*sum)&(v^*sum) < 0
}

// addPositions appends the positions of a stretch, in the order of their base.
func (s *stretchSorter) addPositions(to *engine.ChunkAppender, fills []stretchFill) error {
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
	for side := range bothSides + 1 {
		for i := range s.positions[:n] {
			if p := &s.positions[i]; sideOf(p) == side {
				if err := addPosition(to, p); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const bothSides = 2

// sideOf is bySides (table.go) of a position.
func sideOf(p *positionRow) int {
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
	to.Int64(3, int64(p.BuyShares))
	to.Int64(4, int64(p.SellShares))
	to.Int64(5, int64(p.FeeShares))
	to.Int64(6, int64(p.BuyUSD))
	to.Int64(7, int64(p.SellUSD))
	to.Int64(8, int64(p.FeeUSD))
	return to.EndRow()
}

// addCandles appends the candles of a stretch, in the order of their base.
func (s *stretchSorter) addCandles(to *engine.ChunkAppender, fills []stretchFill) error {
	n := 0
	for i := range fills {
		if f := &fills[i]; f.Role != data.Maker {
			s.keys[n] = keyOf(f, f.TS/hourLength, i)
			n++
		}
	}
	keys := s.sortKeys(n)
	for len(keys) > 0 {
		n = 1
		for n < len(keys) && keys[n]>>placeBits == keys[0]>>placeBits {
			n++
		}
		if err := s.addCandle(to, fills, keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// addCandle appends one candle, in the columns of its base.
func (s *stretchSorter) addCandle(to *engine.ChunkAppender, fills []stretchFill, keys []uint64) error {
	var c candleSum
	for _, k := range keys {
		f := &fills[k&placeMask]
		s.plus(&c.USD, f.USD)
		s.plus(&c.Shares, f.Shares)
		if q, any := tradeOf(f.TS, f.Log, f.USD, f.Shares); any {
			c.add(q)
		}
	}
	f := &fills[keys[0]&placeMask]
	hour := f.TS / hourLength
	to.Int32(0, int32(f.Token))
	to.Int32(1, int32(hour))
	to.Int64(2, int64(len(keys)))
	to.Int64(3, int64(c.USD))
	to.Int64(4, int64(c.Shares))
	if c.last != (pricedTrade{}) {
		packTrade(to, 5, c.first, hour)
		to.Int32(7, c.highest)
		to.Int32(8, -c.lowest)
		packTrade(to, 9, c.last, hour)
	}
	return to.EndRow()
}

// packTrade sets the two columns of packedTrade (packed.go).
func packTrade(to *engine.ChunkAppender, column int, q pricedTrade, hour int64) {
	ts := q.ts - hour*hourLength
	to.Int64(column, ts/1_000_000+ts%1_000_000*3600)
	to.Int64(column+1, (int64(q.log)+1)<<20+int64(q.price))
}
