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

// usualPatience is how long Once waits for something to come in.
const usualPatience = 5 * time.Minute

// Once follows until everything that was final at the last look is in. The error names the
// ranges that are held back, or says why it cannot be brought to an end: no node is of the chain,
// the disk is full, or nothing has come in for as long as ChainOptions.Patience.
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

// heldTries is how often a range is asked for before Once gives it up.
const heldTries = 4

// heldLong is an error for ranges that are still held back after many requests.
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

// mostRefusals is how often in a row the database may refuse to take something before Once
// gives it up: a disk that is full may say so in many ways.
const mostRefusals = 5

// refusedBy notes what the database made of a commit, nil: it took it.
func (c *Chain) refusedBy(err error) {
	if c.refusal = err; err == nil {
		c.refusals = 0
		return
	}
	c.refusals++
}

// hopeless reports why a run that is to end cannot come to its end; nil while it may, and for a run
// that goes on forever.
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
		return fmt.Errorf("what came in could not be stored after %d attempts: %w", c.refusals, c.refusal)
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
		what = "nothing has come in"
	}
	return fmt.Errorf("%s for %s: %s", what, c.patience, cmp.Or(c.stats.Error, "without an error"))
}
