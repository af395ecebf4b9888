package data

import "time"

// Quote is what the order book of a market's first outcome is, as it tells itself.
type Quote struct {
	Condition Hash
	Bid, Ask  *Micro    // nil: that side is empty
	Last      *Micro    // nil: not told, and what the market's record says of it stands
	At        time.Time // of the venue's clock
}
