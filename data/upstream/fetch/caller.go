package fetch

import (
	"context"
	"maps"
)

// Caller is one of several users of a host. Its requests and waits are counted separately, too. The
// state of the host, its budget and its circuit are shared.
type Caller struct {
	host *Host
	own  Stats // Requests, Retries and Throttled; guarded by the host's mutex
}

// Caller returns another caller of the host.
func (h *Host) Caller() *Caller { return &Caller{host: h, own: Stats{Requests: map[int]int64{}}} }

// Do is like Host.Do.
func (c *Caller) Do(ctx context.Context, r Request) (Answer, error) {
	r.caller = c
	return c.host.Do(ctx, r)
}

// Stats returns the figures of the host, with only the caller's requests, retries and pauses.
func (c *Caller) Stats() Stats {
	s := c.host.Stats()
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	s.Requests, s.Retries, s.Throttled = maps.Clone(c.own.Requests), c.own.Retries, c.own.Throttled
	return s
}

// add counts for a caller, which may be nil. The host must be locked.
func (c *Caller) add(count func(*Stats)) {
	if c != nil {
		count(&c.own)
	}
}
