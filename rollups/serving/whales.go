package serving

// Whales is the large trades and who makes them.
type Whales struct{}
