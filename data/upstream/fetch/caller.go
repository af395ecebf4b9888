package fetch

import (
	"context"
	"maps"
)

// Caller is one of several that ask a host: what it asks, and what it waits for, is counted as its
// own too. How it goes with the host is the same for all of them, as are budget and circuit.
type Caller struct {
	host *Host
	own  Stats // Requests, Retries and Throttled; guarded by the host's mutex
}

// Caller returns another caller of the host.
func (h *Host) Caller() *Caller { return &Caller{host: h, own: Stats{Requests: map[int]int64{}}} }

// Do is that of the host.
func (c *Caller) Do(ctx context.Context, r Request) (Answer, error) {
	r.caller = c
	return c.host.Do(ctx, r)
}

// Stats are those of the host with the requests, retries and pauses of the caller alone.
func (c *Caller) Stats() Stats {
	s := c.host.Stats()
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	s.Requests, s.Retries, s.Throttled = maps.Clone(c.own.Requests), c.own.Retries, c.own.Throttled
	return s
}

// add counts, with the host locked, where somebody in particular asks.
func (c *Caller) add(count func(*Stats)) {
	if c != nil {
		count(&c.own)
	}
}
