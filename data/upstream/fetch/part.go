package fetch

import (
	"context"
	"maps"
)

// Part is one of several that ask a host: what it asks, and what it waits for, is counted as its
// own too. How it goes with the host is the same for all of them, as are budget and circuit.
type Part struct {
	host *Host
	own  Stats // Requests, Retries and Throttled; guarded by the host's mutex
}

// Part gives one more that asks the host.
func (h *Host) Part() *Part { return &Part{host: h, own: Stats{Requests: map[int]int64{}}} }

// Do is that of the host.
func (p *Part) Do(ctx context.Context, r Request) (Answer, error) {
	r.part = p
	return p.host.Do(ctx, r)
}

// Stats are those of the host with the requests, retries and pauses of the part alone.
func (p *Part) Stats() Stats {
	s := p.host.Stats()
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	s.Requests, s.Retries, s.Throttled = maps.Clone(p.own.Requests), p.own.Retries, p.own.Throttled
	return s
}

// add counts, with the host locked, where somebody in particular asks.
func (p *Part) add(count func(*Stats)) {
	if p != nil {
		count(&p.own)
	}
}
