package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// usualEvery is the interval between looks if the moves of the head are not known.
const usualEvery = 2 * time.Second

// every returns the interval between looks for new blocks while the lane is not waiting for them.
func (c *Chain) every() time.Duration {
	if c.o.Every > 0 {
		return c.o.Every
	}
	return usualEvery
}

// gap returns the time between two requests for ranges if few blocks are missing.
func (c *Chain) gap() time.Duration {
	if c.o.Every > 0 {
		return c.o.Every
	}
	return lookGap
}

// pauseOf returns how long to wait for a result.
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
	return wait // for a range, whose response ends the pause
}

// isWhole reports whether everything up to the newest final block is committed, except for what is
// held back. The lock must be held.
func (c *Chain) isWhole() bool { return c.head.Number > 0 && c.plan.open() == 0 }

// standstill is the time without a move of the head after which another node is asked: a node that
// has stopped still answers.
const standstill = 20 * time.Second

// turns decides which node is asked for the head first.
type turns struct {
	first int
	head  int64
	since time.Time // when the head was last that, or another node's turn came
}

// turn returns the nodes in the order in which they are asked for the head. The first one remains
// first while the head moves and no other is ahead of it.
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

// A node that is behind but moving cannot be recognised by its own responses. So other nodes are
// occasionally asked for their head, and one that is ahead by more than lead becomes the first.
const (
	compareEvery = 20 * time.Second
	lead         = 10 // seconds of the chain, in addition to those between two looks
)

// compare asks node i for its head at intervals while another is asked regularly, until ctx ends.
// Errors are reported like those of any request, because there may be no other request to this node
// for a long time.
func (c *Chain) compare(ctx context.Context, i int) error {
	p := c.nodes[i]
	for c.o.Sleep(ctx, compareEvery) == nil {
		c.mu.Lock()
		all, first := c.isWhole(), c.turns.first
		c.mu.Unlock()
		if !all || first == i || p.rests().After(c.o.Now()) {
			continue // the responses for ranges show how far nodes are
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

// pass makes another node the first, after p did not answer.
func (c *Chain) pass(p *provider) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[c.turns.first] == p {
		c.turns.first = (c.turns.first + 1) % len(c.nodes)
	}
}

// patiently returns a context with a time-out for a request to p if another node is available.
func (c *Chain) patiently(ctx context.Context, p *provider, most time.Duration) (context.Context, context.CancelFunc) {
	if c.other(p) == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, most)
}

// isDue reports whether a look for the newest final block is due, and whether everything up to the
// last one is committed, except for what is held back. Responses for ranges have that block, too.
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

// tooLate is the error of a node that gave nothing usable in time. What it gave instead is said, if anything: requests that fail are
// repeated until the time is over.
func tooLate(within time.Duration, err error) error {
	late := fmt.Sprintf("no usable response within %s, so another node is asked", within)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New(late)
	}
	return fmt.Errorf("%s: %w", late, err)
}

// look asks for the newest final block if no range's response has it. If everything else is
// committed, the logs up to it are requested in the same batch; they are the result, or nil.
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
			err = tooLate(c.o.LookIn, err)
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
	c.pace.due = now.Add(c.gap()) // no node answers
	return nil
}

// After so many looks in a row whose logs were not proved complete, so many looks do not request
// logs.
const (
	mostUnproved = 3
	unasked      = 64
)

// lookAt is look with one node. all is set if everything is committed.
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
	if err != nil { // the head without logs may not be proved
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
	if err != nil || c.doubtful(r) != "" { // it is requested like any range, from another node if necessary
		c.known(h)
		return nil, nil
	}
	c.unproved = 0
	if !c.claim(j, h, r) {
		return nil, nil
	}
	return r, nil
}

// unprovedOnce counts a look whose logs were not proved complete.
func (c *Chain) unprovedOnce() {
	if c.unproved++; c.unproved >= mostUnproved {
		c.unproved = -unasked
	}
}

// ahead returns the range after all committed blocks up to where the head may be by now, and a step
// further; false if that is not known, or if its filters are not the same throughout.
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

// claim records the newest final block, and that the missing blocks up to it are answered; false if
// something else is missing by now.
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
