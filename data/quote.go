package data

import "time"

// Quote is a quote of a market's first outcome from its order book.
type Quote struct {
	Condition Hash
	Bid, Ask  *Micro    // nil: that side is empty
	Last      *Micro    // nil: not reported; the value in the market's record is used
	At        time.Time // by the venue's clock
}
