package serving

import (
	"cmp"
	"slices"
)

// TokenHours are the partial candles of a token, in order of hour, one for each.
type TokenHours struct {
	OutcomeToken
	Hours []PartialCandle
}

// NewestCandles returns the n newest candles of some tokens for intervals of a number of hours, newest first and then by
// outcome; after a candle if one is given. It gives what a CandleTally gives, and takes a fraction of its time. It changes
// the order of tokens.
func NewestCandles(tokens []TokenHours, hours int64, after *Candle, n int) []Candle {
	slices.SortStableFunc(tokens, func(x, y TokenHours) int { return cmp.Compare(x.Outcome, y.Outcome) })
	if after != nil {
		for i := range tokens {
			t := &tokens[i]
			end, _ := slices.BinarySearchFunc(t.Hours, after.Start+hours, func(p PartialCandle, hour int64) int { return cmp.Compare(p.Hour, hour) })
			t.Hours = t.Hours[:end]
		}
	}
	out := []Candle{}
	for len(out) < n {
		newest := int64(-1)
		for i := range tokens {
			if last := len(tokens[i].Hours) - 1; last >= 0 {
				newest = max(newest, tokens[i].Hours[last].Hour)
			}
		}
		if newest < 0 {
			break
		}
		out = takeCandles(out, tokens, newest-newest%hours, after)
	}
	return slices.Clip(out[:min(len(out), n)])
}

// takeCandles takes the partial candles from start on, which are of one interval, and adds a candle for each outcome.
func takeCandles(dst []Candle, tokens []TokenHours, start int64, after *Candle) []Candle {
	for i := 0; i < len(tokens); {
		all := talliedCandle{start, tokens[i].Outcome, PartialCandle{First: NoPlace, Last: NoPlace}}
		for ; i < len(tokens) && tokens[i].Outcome == all.outcome; i++ {
			t := &tokens[i]
			last := len(t.Hours) - 1
			for ; last >= 0 && t.Hours[last].Hour >= start; last-- {
				all.Merge(&t.Hours[last])
			}
			t.Hours = t.Hours[:last+1]
		}
		if all.Fills == 0 {
			continue
		}
		if candle := all.candle(); after == nil || compareCandles(&candle, after) > 0 {
			dst = append(dst, candle)
		}
	}
	return dst
}
