package fillseg

import (
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// The sums of a heavy wallet.

// tokenSteps is of how many tokens lie between two sums.
var tokenSteps = newCode(class{0, 2, 0, 1}, class{0, 3, 1, 1}, class{0, 3, 2, 1}, class{0, 3, 3, 1}, class{0, 3, 4, 1}, class{0, 3, 5, 1}, class{0, 4, 6, 1},
	class{0, 5, 8, 1}, class{0, 6, 14, 1}, class{0, 6, anyNumber, 1})

// daySteps is that of days.
var daySteps = newCode(class{0, 1, 0, 1}, class{0, 2, 4, 1}, class{0, 3, 14, 1}, class{0, 3, anyNumber, 1})

// firstTimes is of how much later a sum begins than the one before, in µs. Nearly all times are whole seconds.
var firstTimes = newCode(
	class{0, 3, 15, second}, class{0, 3, 15, -second}, class{0, 3, 16, second}, class{0, 3, 16, -second}, class{0, 3, 17, second}, class{0, 3, 17, -second},
	class{0, 4, 18, second}, class{0, 5, 18, -second}, class{0, 5, 21, second}, class{0, 5, 21, -second}, class{0, 6, 26, second}, class{0, 6, 26, -second},
	class{0, 6, 46, 1}, class{0, 6, 46, -1}, class{0, 5, anyNumber, 1},
)

// lengths is of how much later the last fill of a sum is than the first one, in µs.
var lengths = newCode(
	class{0, 3, 11, second}, class{0, 3, 13, second}, class{0, 3, 15, second}, class{0, 3, 16, second}, class{0, 2, 17, second},
	class{0, 3, 18, second}, class{0, 4, 20, second}, class{0, 5, 26, second}, class{0, 6, 46, 1}, class{0, 6, anyNumber, 1},
)

// appendTokens writes sums in order of token. One with one fill has one time.
func appendTokens(b []byte, sums []serving.TokenSum) []byte {
	w := writeSums(b, len(sums))
	before := int64(epoch * second)
	for i := range sums {
		s := &sums[i]
		w.key(tokenSteps, int64(s.Token))
		fees := s.FeeShares != 0 || s.FeeUSD != 0
		w.trades(s.Fills, trades{s.BuyShares, s.BuyUSD}, trades{s.SellShares, s.SellUSD}, fees)
		if fees {
			w.amount(s.FeeShares)
			w.amount(s.FeeUSD)
		}
		w.number(firstTimes, s.FirstTS-before)
		before = s.FirstTS
		if s.Fills != 1 {
			w.number(lengths, s.LastTS-s.FirstTS)
		}
	}
	return w.end()
}

// tokenReader reads what appendTokens wrote.
type tokenReader struct {
	sumReader
	before int64 // when the last sum begins
}

// token sets the next sum by token.
func (r *tokenReader) token(s *serving.TokenSum) {
	token := data.TokenID(r.key(tokenSteps, maxID))
	fills, bought, sold, fees := r.trades()
	*s = serving.TokenSum{Token: token, Fills: fills, BuyShares: bought.shares, BuyUSD: bought.usd, SellShares: sold.shares, SellUSD: sold.usd}
	if fees {
		s.FeeShares, s.FeeUSD = r.amount(), r.amount()
	}
	later, _ := r.number(firstTimes)
	s.FirstTS = r.before + later
	r.before, s.LastTS = s.FirstTS, s.FirstTS
	if s.Fills != 1 {
		later, _ = r.number(lengths)
		s.LastTS += later
	}
	r.end()
}

// allTokens adds all sums by token to dst.
func (r *tokenReader) allTokens(dst []serving.TokenSum) []serving.TokenSum {
	known := len(dst)
	dst = slices.Grow(dst, r.left)[:known+r.left]
	for i := range dst[known:] {
		r.token(&dst[known+i])
	}
	return dst
}

// appendDays writes sums in order of day.
func appendDays(b []byte, sums []serving.DaySum) []byte {
	w := writeSums(b, len(sums))
	for i := range sums {
		s := &sums[i]
		w.key(daySteps, int64(s.Day))
		has := hasOf(s.BuyUSD != 0, s.SellUSD != 0, s.FeeUSD != 0)
		w.shape(shapes, shapeOf[:], s.Fills, has, shapeBits)
		for _, usd := range [...]data.Micro{s.BuyUSD, s.SellUSD, s.FeeUSD} {
			if usd != 0 {
				w.dollars(usd, 0)
			}
		}
	}
	return w.end()
}

// day sets the next sum by day.
func (r *sumReader) day(s *serving.DaySum) {
	*s = serving.DaySum{Day: int32(r.key(daySteps, maxTime))}
	has := uint64(0)
	s.Fills, has = r.shape(shapes, shapeOf[:], shapeBits)
	if has&hasBought != 0 {
		s.BuyUSD = r.dollars(0)
	}
	if has&hasSold != 0 {
		s.SellUSD = r.dollars(0)
	}
	if has&hasFees != 0 {
		s.FeeUSD = r.dollars(0)
	}
	r.end()
}

// readTokens returns a reader of what appendTokens wrote.
func (r segment) readTokens(b []byte) tokenReader {
	return tokenReader{sumReader: r.readSums(b), before: epoch * second}
}

// tokens returns a reader of the sums by token of a heavy wallet, in order; false of any other.
func (r segment) tokens(wallet int32) (tokenReader, bool) {
	b, _, ok := r.sumBytes(wallet)
	return r.readTokens(b), ok
}

// days returns a reader of the sums by day of a heavy wallet, in order; false of any other.
func (r segment) days(wallet int32) (sumReader, bool) {
	_, b, ok := r.sumBytes(wallet)
	return r.readSums(b), ok
}
