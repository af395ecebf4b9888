package follow

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errNotWhole is the error for logs of blocks fetched again that cannot be complete, or were not
// committed.
var errNotWhole = errors.New("no node returns all logs of these blocks now")

// Whole returns the period whose blocks are all committed: from the time of the first block to that
// of the last one before a gap; the two are equal if nothing is committed.
func (c *Chain) Whole(ctx context.Context) (from, to time.Time, err error) {
	c.mu.Lock()
	s := ChainStatus{}
	c.setPrefix(&s, c.o.Now())
	start := c.memory.Start
	first := c.firstTime
	c.mu.Unlock()
	if s.AsOf.IsZero() || s.Committed < start {
		return time.Time{}, time.Time{}, nil
	}
	if first == 0 {
		p := c.auditor("")
		if p == nil {
			return time.Time{}, time.Time{}, errNotWhole
		}
		h, err := p.Headers(ctx, []int64{start})
		if err != nil {
			return time.Time{}, time.Time{}, fmt.Errorf("%s: %w", p.Name(), err)
		}
		if len(h) != 1 || h[0].Number != start || h[0].Time == 0 {
			return time.Time{}, time.Time{}, fmt.Errorf("%s does not give the time of block %d", p.Name(), start)
		}
		first = h[0].Time
		c.mu.Lock()
		c.firstTime = first
		c.mu.Unlock()
	}
	return unix(first), s.AsOf, nil
}

// AskAgain requests the blocks around a time again, from a different node for each try, and imports
// missing logs.
func (c *Chain) AskAgain(ctx context.Context, at time.Time, try int) (fills int64, err error) {
	c.mu.Lock()
	head := c.head.Number
	j := job{}
	for i := range c.asking {
		j.filters = append(j.filters, i)
	}
	c.mu.Unlock()
	if head == 0 {
		return 0, errNotWhole
	}
	for i := range c.nodes {
		p := c.nodes[(try+i)%len(c.nodes)]
		if p.rests().After(c.o.Now()) {
			err = errors.Join(err, fmt.Errorf("%s is paused", p.Name()))
			continue
		}
		block, fails := blockAt(ctx, p, head, at.Unix())
		if fails != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.Name(), fails))
			continue
		}
		j.from, j.to = block, min(block+1, head)
		n, ok := c.mend(ctx, p, j)
		if !ok {
			err = errors.Join(err, fmt.Errorf("%s: %w", p.Name(), errNotWhole))
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stats.Mended += n
		c.stats.Fills += n
		return n, nil
	}
	return 0, err
}
