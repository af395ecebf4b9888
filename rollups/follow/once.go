package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"pmx/data"
	"pmx/engine"
)

// usualPatience is how long Once waits without progress.
const usualPatience = 5 * time.Minute

// Once follows until everything that was final at the last look is committed. The error names the
// ranges that are held back, or says why the run cannot be completed: no node is on the right
// chain, the disk is full, or there was no progress for ChainOptions.Patience.
func (c *Chain) Once(ctx context.Context) error {
	c.mu.Lock()
	c.patience, c.progress = c.o.Patience, c.o.Now()
	c.mu.Unlock()
	var failed error
	err := c.run(ctx, func() bool {
		if failed = c.hopeless(); failed != nil {
			return true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.head.Number == 0 || c.flying > 0 || c.pending > 0 {
			return false
		}
		rest := int64(0)
		for _, s := range spans(c.ranges, c.starts(), cmp.Or(c.planned, c.head.Number)) {
			rest += s.blocks()
		}
		if rest > 0 && rest <= c.plan.heldBlocks() {
			failed = c.heldLong()
		}
		return rest == 0 || failed != nil
	})
	if errors.Is(err, errDone) {
		return failed
	}
	return err
}

// heldTries is how often Once requests a range before it gives up.
const heldTries = 4

// heldLong returns an error for ranges that are still held back after many requests.
func (c *Chain) heldLong() error {
	for _, h := range c.plan.held {
		if h.tries < heldTries {
			return nil
		}
	}
	h := c.plan.held[0]
	return fmt.Errorf("%d ranges are missing, such as blocks %d–%d: their logs are incomplete (%s); another provider may have them",
		len(c.plan.held), h.job.from, h.job.to, h.why)
}

// mostRefusals is the number of failed commits in a row after which Once gives up: a full disk has
// many different errors.
const mostRefusals = 5

// refusedBy records the database's error for a commit; nil: it succeeded.
func (c *Chain) refusedBy(err error) {
	if c.refusal = err; err == nil {
		c.refusals = 0
		return
	}
	c.refusals++
}

// hopeless returns why a run of Once cannot be completed; nil if it may be, and for a run without
// an end.
func (c *Chain) hopeless() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.patience == 0 {
		return nil
	}
	switch {
	case data.IsNoSpace(c.refusal), errors.Is(c.refusal, engine.ErrMemory), errors.Is(c.refusal, engine.ErrClosed):
		return c.refusal
	case c.refusals >= mostRefusals:
		return fmt.Errorf("blocks could not be stored after %d attempts: %w", c.refusals, c.refusal)
	}
	unfit, answered := 0, false
	for _, p := range c.nodes {
		is, last := p.fitness()
		if is {
			unfit++
		}
		answered = answered || last.After(c.progress)
	}
	if unfit == len(c.nodes) {
		return fmt.Errorf("no node serves the chain that is followed: %s", c.stats.Error)
	}
	if c.o.Now().Sub(c.progress) < c.patience {
		return nil
	}
	what := "no node has answered"
	if answered {
		what = "no progress"
	}
	return fmt.Errorf("%s for %s: %s", what, c.patience, cmp.Or(c.stats.Error, "without an error"))
}
