package serving

import "pmx/data"

// OutcomeToken is a token and the outcome of its market that it pays for.
type OutcomeToken struct {
	Token   data.TokenID
	Outcome int8
}

// Candle is what takers traded of one outcome in one interval.
type Candle struct {
	Start       int64 // of the interval, hours since 1970
	Outcome     int8
	Fills       int64
	USD, Shares data.Micro
	// Prices of the first trade, the highest, the lowest and the last one; NoValue where no
	// trade was of any tokens.
	Open, High, Low, Close data.Micro
}
