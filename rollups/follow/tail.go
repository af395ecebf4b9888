package follow

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// usualEvery is from one look to the next if nothing is learned of when to look.
const usualEvery = 2 * time.Second

// every is from one look for new blocks to the next if these are not what is waited for.
func (c *Chain) every() time.Duration {
	if c.o.Every > 0 {
		return c.o.Every
	}
	return usualEvery
}

// gap is from one question for a range to the next where few blocks are missing.
func (c *Chain) gap() time.Duration {
	if c.o.Every > 0 {
		return c.o.Every
	}
	return lookGap
}

// pauseOf is how long to wait for a result.
func (c *Chain) pauseOf(ready bool) time.Duration {
	wait := c.every() / 10
	if ready {
		return min(10*time.Millisecond, wait)
	}
	if c.o.Every > 0 {
		return wait
	}
	c.mu.Lock()
	all := c.isWhole()
	c.mu.Unlock()
	if until := c.pace.due.Sub(c.o.Now()); until > 0 || all {
		return max(time.Millisecond, min(wait, until))
	}
	return wait // for a range, whose answer ends it
}

// isWhole reports whether everything up to the newest final block is in, except for what is held
// back. The caller holds the lock.
func (c *Chain) isWhole() bool { return c.head.Number > 0 && c.plan.open() == 0 }

// standstill is how long the head may stay as it is until another node is asked for it: the one
// that says so may have stopped, and answer like any other.
const standstill = 20 * time.Second

// turns is which node is asked for the head first.
type turns struct {
	first int
	head  int64
	since time.Time // the head was that, or another node's turn came
}

// turn returns the nodes in the order in which they are asked for the head. The first one stays so
// while the head moves, and no other is ahead of it.
func (c *Chain) turn(now time.Time) []*provider {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch t := &c.turns; {
	case c.head.Number != t.head || t.since.IsZero():
		t.head, t.since = c.head.Number, now
	case now.Sub(t.since) >= standstill:
		t.first, t.since = (t.first+1)%len(c.nodes), now
	}
	return slices.Concat(c.nodes[c.turns.first:], c.nodes[:c.turns.first])
}

// A node that is behind and moves on looks like any other to those who ask it alone: the others
// are asked now and then how far they are, and who is ahead by more than lead goes first from then
// on.
const (
	compareEvery = 20 * time.Second
	lead         = 10 // seconds of the chain, beside those from one look to the next
)

// compare asks a node how far it is while another is asked for the head, until ctx ends. What
// keeps it from answering is told as of any request: nobody else may ask it for long.
func (c *Chain) compare(ctx context.Context, i int) error {
	p := c.nodes[i]
	for c.o.Sleep(ctx, compareEvery) == nil {
		c.mu.Lock()
		all, first := c.isWhole(), c.turns.first
		c.mu.Unlock()
		if !all || first == i || p.rests().After(c.o.Now()) {
			continue // the answers for ranges tell how far nodes are
		}
		h, err := p.Finalized(ctx)
		if err != nil {
			c.nodeFailed(ctx, p, err)
			continue
		}
		p.toldHead(h, c.o.Now())
		c.mu.Lock()
		ahead := c.head.Time > 0 && h.Time-c.head.Time > lead+int64(c.o.Every/time.Second) && c.turns.first == first
		if ahead {
			c.turns.first = i
		}
		c.mu.Unlock()
		if ahead {
			c.o.Log.Warn().Str("node", c.nodes[first].Name()).Str("ahead", p.Name()).Int64("block", h.Number).Msg("a node is behind another, which is asked for new blocks from now on")
		}
	}
	return nil
}

// pass has another node go first than one that did not answer.
func (c *Chain) pass(p *provider) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[c.turns.first] == p {
		c.turns.first = (c.turns.first + 1) % len(c.nodes)
	}
}

// patiently returns a node so long and no longer where another does not rest.
func (c *Chain) patiently(ctx context.Context, p *provider, most time.Duration) (context.Context, context.CancelFunc) {
	if c.other(p) == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, most)
}

// isDue reports whether a node is to be asked for the newest final block, and whether everything up
// to the last one is in, except for what is held back. The answers for ranges have that block too.
func (c *Chain) isDue(now time.Time) (due, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	every := c.every()
	switch all = c.isWhole(); {
	case all && c.o.Every == 0:
		due = !now.Before(c.pace.due)
	case now.Sub(c.headAt) < every, now.Sub(c.looked) < every:
	default:
		due = all || c.head.Number == 0 || now.Sub(c.headAt) > 5*every
	}
	if due {
		c.looked = now
	}
	return due, all
}

// look asks for the newest final block where no range's answer has it. Where everything
// else is in, the logs up to it are asked for in the same request: these are the result, to be
// taken, or nil.
func (c *Chain) look(ctx context.Context) *result {
	now := c.o.Now()
	due, all := c.isDue(now)
	if !due {
		return nil
	}
	for _, p := range c.turn(now) {
		if p.rests().After(now) {
			continue
		}
		own, end := c.patiently(ctx, p, c.o.LookIn)
		r, err := c.lookAt(own, p, all)
		if err != nil && ctx.Err() == nil && own.Err() != nil {
			err = fmt.Errorf("no answer within %s: another node is asked", c.o.LookIn)
			c.pass(p)
		}
		end()
		if err == nil {
			return r
		}
		if ctx.Err() != nil {
			return nil
		}
		c.nodeFailed(ctx, p, err)
		c.fail(nodeError(p, err))
	}
	c.pace.due = now.Add(c.gap()) // nobody answers
	return nil
}

// After so many looks in a row whose logs were not proved to be all, so many are without.
const (
	mostUnproved = 3
	unasked      = 64
)

// lookAt is look at one node. all: everything is in.
func (c *Chain) lookAt(ctx context.Context, p *provider, all bool) (*result, error) {
	j, ok := job{}, false
	if all && c.unproved >= 0 {
		j, ok = c.ahead(p)
	}
	sent := c.o.Now()
	if !ok {
		if c.unproved < 0 {
			c.unproved++
		}
		h, err := p.Finalized(ctx)
		if err != nil {
			return nil, err
		}
		if all {
			c.pace.saw(h.Number, sent)
		}
		c.known(h)
		return nil, nil
	}
	h, a, err := p.Tail(ctx, j.from, j.to, c.addresses(j), c.topics)
	if err != nil { // which the head alone may not be
		c.unprovedOnce()
		return nil, err
	}
	c.pace.saw(h.Number, sent)
	if a == nil {
		if h.Number >= j.from {
			c.unprovedOnce()
		}
		c.known(h)
		return nil, nil
	}
	j.to = h.Number
	r, err := c.read(ctx, p, j, *a)
	if err != nil || c.doubtful(r) != "" { // it is asked for as any range is, and another node if need be
		c.known(h)
		return nil, nil
	}
	c.unproved = 0
	if !c.claim(j, h, r) {
		return nil, nil
	}
	return r, nil
}

// unprovedOnce notes a look whose logs were of no use.
func (c *Chain) unprovedOnce() {
	if c.unproved++; c.unproved >= mostUnproved {
		c.unproved = -unasked
	}
}

// ahead returns the range behind all that is in up to where the head may be by now, and a step
// further; false if that is not known, or not of the same filters throughout.
func (c *Chain) ahead(p *provider) (job, bool) {
	_, step := c.pace.usual()
	c.mu.Lock()
	defer c.mu.Unlock()
	width := min(2*step, p.width(c.seen.mean()))
	if width == 0 {
		return job{}, false
	}
	then := c.plan
	then.missing = spans(c.ranges, c.starts(), c.head.Number+width)
	free := then.free()
	if len(free) != 1 || free[0].from <= c.head.Number || free[0].blocks() != width {
		return job{}, false
	}
	return free[0], true
}

// claim notes that a block is the newest final one and that what is missing up to it is
// answered already; false where something else is missing by now.
func (c *Chain) claim(j job, h Header, r *result) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headAt = c.o.Now()
	if h.Number <= c.head.Number {
		return false
	}
	c.head = h
	c.plan.missing = spans(c.ranges, c.starts(), h.Number)
	free := c.plan.free()
	own := len(free) == 1 && free[0].from == j.from && free[0].to == j.to && slices.Equal(free[0].filters, j.filters)
	if own {
		c.plan.taken = append(c.plan.taken, j)
		c.planned = h.Number
		c.flying++
		c.arrived(r)
	}
	c.replan()
	return own
}
