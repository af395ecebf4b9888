package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/feeds/polygon"
	"pmx/engine/guard"
)

// result is the result of fetching a range.
type result struct {
	job   job
	node  *provider
	batch *polygon.Batch // nil if there is nothing to commit
	Answer
	logs    int64
	digest  uint64
	doubts  []polygon.Doubt
	err     error  // the range has to be requested again
	suspect string // why it is held back; "" if it is not
	odd     bool   // two nodes agree on logs that cannot be complete
}

// arrived counts the blocks and events of a result that is to be committed, so that requests
// continue while the loop commits, up to a limit. The lock must be held.
func (c *Chain) arrived(r *result) {
	if r.commits() {
		c.pending += int64(r.batch.Events())
	}
}

// commits reports whether the range is to be committed.
func (r *result) commits() bool { return r.err == nil && r.suspect == "" }

// flyingBytes limits the size of responses in flight, at a kilobyte per log.
const flyingBytes = 40 << 20

func (c *Chain) mostFlying() int {
	return max(1, min(len(c.nodes)*c.o.InFlight, flyingBytes/(targetLogs<<10)))
}

// work fetches ranges from a node until ctx ends.
func (c *Chain) work(ctx context.Context, p *provider) error {
	for {
		j, ok := c.wait(ctx, p)
		if !ok {
			return ctx.Err()
		}
		r := &result{job: j, node: p}
		if err := guard.Do(func() error { c.resolve(ctx, r); return nil }); err != nil {
			*r = result{job: j, node: p, err: err}
			p.failed(err, c.o.Now())
		}
		c.mu.Lock()
		c.asked--
		c.arrived(r)
		c.mu.Unlock()
		select {
		case c.results <- r:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wait returns the next range for a node; false if ctx ended.
func (c *Chain) wait(ctx context.Context, p *provider) (job, bool) {
	for {
		j, ok, rest, wake := c.nextFor(p)
		if ok {
			return j, true
		}
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return job{}, false
		}
	}
}

// nextFor takes the next range for a node, or reports when to look again.
func (c *Chain) nextFor(p *provider) (j job, ok bool, rest time.Duration, wake <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.o.Now()
	rest, wake = c.every(), c.wake
	tail := c.inTail()
	switch until := p.rests(); {
	case until.After(now):
		return job{}, false, until.Sub(now), wake
	case c.asked >= c.mostFlying(), c.pending >= c.o.Batch+c.o.Batch/2:
		return job{}, false, rest, wake
	case tail && p.failsAlone(c.nodes, now):
		return job{}, false, rest, wake
	case tail && c.gate.After(now):
		return job{}, false, c.gate.Sub(now), wake
	}
	if j, ok = c.plan.next(now, c.head.Number, p.width(c.seen.mean())); !ok {
		return job{}, false, min(rest, time.Second), wake
	}
	c.asked++
	c.flying++
	c.planned = c.head.Number
	if tail {
		c.gate = now.Add(c.gap())
	}
	return j, true, 0, wake
}

// addresses returns the contracts whose logs are requested for a range.
func (c *Chain) addresses(j job) (out []data.Address) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range j.filters {
		out = append(out, c.asking[i].addresses...)
	}
	return out
}

// How many times as long as for the newest final block to wait for a range if another node is
// available: for a range of the tail, and for one that may be as large as a node's maximum.
const (
	tailPatience  = 2
	rangePatience = 6
)

// ask requests a range from a node and reads the response. If another node is available, the
// time-out is shorter.
func (c *Chain) ask(ctx context.Context, p *provider, j job) (*result, error) {
	c.mu.Lock()
	most := rangePatience * c.o.LookIn
	if c.inTail() {
		most = tailPatience * c.o.LookIn
	}
	c.mu.Unlock()
	own, end := c.patiently(ctx, p, most)
	a, err := p.Logs(own, j.from, j.to, c.addresses(j), c.topics)
	if err != nil && ctx.Err() == nil && own.Err() != nil {
		err = fmt.Errorf("no logs of blocks %d–%d within %s: another node may have them", j.from, j.to, most)
	}
	end()
	if err != nil {
		return nil, err
	}
	r, err := c.read(ctx, p, j, a)
	if err == nil {
		c.known(a.Finalized)
	}
	return r, err
}

// read reads a node's response for a range.
func (c *Chain) read(ctx context.Context, p *provider, j job, a Answer) (*result, error) {
	switch {
	case a.End.Number != j.to || a.End.Hash.IsZero():
		return nil, fmt.Errorf("the response for blocks %d–%d has no header of its end", j.from, j.to)
	case a.Finalized.Number < j.to:
		return nil, fmt.Errorf("block %d is not final for the node, which is at %d", j.to, a.Finalized.Number)
	case !a.Before.Hash.IsZero() && a.Before.Number != j.from-1:
		return nil, fmt.Errorf("the response for blocks %d–%d has the header of block %d before them", j.from, j.to, a.Before.Number)
	}
	if a.Before.Hash.IsZero() && j.from == j.to { // no header has to be requested
		a.Before = Header{Number: j.from - 1, Hash: a.End.Parent}
	}
	r := &result{job: j, node: p, Answer: a, batch: polygon.NewBatch(c.o.Contracts)}
	err := a.EachLog(func(log []byte) error { r.batch.Add(log); return nil })
	if a.Release != nil {
		a.Release()
	}
	if err != nil {
		return nil, err
	}
	r.EachLog, r.Release = nil, nil // release the body
	if err := c.date(ctx, r); err != nil {
		return nil, err
	}
	r.logs, r.digest = r.batch.Logs(), r.batch.Digest()
	r.doubts = r.batch.Doubts(j.from, j.to, a.End.Hash)
	p.good(&a, j.blocks(), c.o.Now())
	c.nodeAnswered(p)
	c.mu.Lock()
	c.seen.add(j.blocks(), r.logs)
	c.mu.Unlock()
	return r, nil
}

// mostHeaders is the maximum number of headers that are requested at once.
const mostHeaders = 100

// date sets the time of logs that have none to that of their block's header.
func (c *Chain) date(ctx context.Context, r *result) error {
	undated := r.batch.Undated()
	if len(undated) == 0 {
		return nil
	}
	numbers := make([]int64, 0, len(undated))
	for n := range undated {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	times := map[int64]int64{}
	for part := range slices.Chunk(numbers, mostHeaders) {
		headers, err := r.node.Headers(ctx, part)
		if err != nil {
			return err
		}
		for _, h := range headers {
			if said := undated[h.Number]; !said.IsZero() && said != h.Hash {
				return fmt.Errorf("the logs and the header of block %d are from different chains", h.Number)
			}
			times[h.Number] = h.Time
		}
	}
	for _, n := range numbers {
		if times[n] == 0 {
			return fmt.Errorf("the node does not give the time of block %d", n)
		}
	}
	r.batch.Date(times)
	return nil
}

// hard returns why the logs cannot be complete; "" if there is no such reason. A log that cannot be
// parsed is unusual, but not missing.
func (r *result) hard() string {
	for _, d := range r.doubts {
		if d.Why != polygon.Unreadable {
			return d.Why
		}
	}
	return ""
}

// notWhole is the number of incomplete matches.
func (r *result) notWhole() (n int64) {
	for _, d := range r.doubts {
		if d.OfMatch() {
			n++
		}
	}
	return n
}

// lagBlocks is the maximum number of blocks by which a lagging node is behind; apart is the reason
// for which its range is requested again.
const (
	lagBlocks = 64
	apart     = "logs_and_headers_apart"
)

// doubtful returns why a range has to be fetched again; "" if it does not.
func (c *Chain) doubtful(r *result) string {
	if why := r.hard(); why != "" {
		return why
	}
	if len(r.doubts) > 0 {
		return r.doubts[0].Why
	}
	if r.Apart && r.Finalized.Number-r.job.to < lagBlocks {
		return apart
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dense.odd(r.job.from, r.job.to, r.logs)
}

// resolve fetches a range and, if the response is doubtful, asks another node.
func (c *Chain) resolve(ctx context.Context, r *result) {
	ask := c.ask
	if c.isHeld(r.job) { // the range stays the same, whatever the node's limit is now
		ask = c.askSplit
	}
	got, err := ask(ctx, r.node, r.job)
	if err != nil {
		r.err = err
		c.refused(ctx, r.node, r.job, err)
		return
	}
	*r = *got
	why := c.doubtful(r)
	if why == "" {
		return
	}
	c.mu.Lock()
	c.stats.Suspect++
	c.stats.NotWhole += r.notWhole()
	c.mu.Unlock()
	if other := c.other(r.node); other != nil {
		c.second(ctx, r, other, why)
		return
	}
	c.again(r, why)
}

func (c *Chain) isHeld(j job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan.holding(j) != nil
}

// refused records an error of a node.
func (c *Chain) refused(ctx context.Context, p *provider, j job, err error) {
	if ctx.Err() != nil {
		return
	}
	var wide *TooWide
	if errors.As(err, &wide) && p.tooWide(j.blocks(), wide) {
		return
	}
	if errors.Is(err, errBehind) {
		p.behind(c.o.Now())
		return
	}
	c.nodeFailed(ctx, p, err)
	c.fail(nodeError(p, err))
}

// other returns a node other than p that is not resting; nil if there is none.
func (c *Chain) other(p *provider) *provider {
	now := c.o.Now()
	at := slices.Index(c.nodes, p)
	for i := range c.nodes {
		if o := c.nodes[(at+1+i)%len(c.nodes)]; o != p && !o.rests().After(now) {
			return o
		}
	}
	return nil
}

// second compares a doubtful response with that of another node.
func (c *Chain) second(ctx context.Context, r *result, other *provider, why string) {
	o, err := c.askSplit(ctx, other, r.job)
	if err != nil {
		c.refused(ctx, other, r.job, err)
		c.again(r, why) // as if there were only one node
		return
	}
	first, theirs := r.hard(), o.hard()
	caught, believed := r.node, other
	switch {
	case o.digest == r.digest && o.logs == r.logs:
		onlyMatches := !slices.ContainsFunc(r.doubts, func(d polygon.Doubt) bool { return d.Why != polygon.Unreadable && !d.OfMatch() })
		if r.odd = first != "" && onlyMatches; !onlyMatches {
			r.suspect = first
		}
		return
	case first != "" && theirs == "":
		*r = *o
	case first == "" && theirs != "":
		caught, believed = other, r.node
		r.suspect = why
	case first != "": // neither is believed
		caught = nil
		r.suspect = first
	case o.logs > r.logs:
		*r = *o
	default:
		caught, believed = other, r.node
	}
	if caught != nil {
		caught.caught()
	}
	c.mu.Lock()
	c.stats.Disagreed++
	c.mu.Unlock()
	said := c.o.Log.Warn().Int64("from", r.job.from).Int64("to", r.job.to).Str("why", why)
	if caught != nil {
		said = said.Str("node", caught.Name()).Str("believed", believed.Name())
	} else {
		said = said.Str("nodes", r.node.Name()+", "+other.Name())
	}
	said.Msg("two nodes return different logs for the same blocks")
}

// askSplit requests a range from a node, in halves if it is too wide for the node. The result
// combines the doubts, digests and logs of all parts.
func (c *Chain) askSplit(ctx context.Context, p *provider, j job) (*result, error) {
	r, err := c.ask(ctx, p, j)
	var wide *TooWide
	if !errors.As(err, &wide) || !p.tooWide(j.blocks(), wide) {
		return r, err
	}
	middle := j.from + j.blocks()/2
	low, err := c.askSplit(ctx, p, job{j.from, middle - 1, j.filters})
	if err != nil {
		return nil, err
	}
	high, err := c.askSplit(ctx, p, job{middle, j.to, j.filters})
	if err != nil {
		return nil, err
	}
	low.batch.Join(high.batch)
	end := high.Answer
	end.Before, end.Bytes = low.Before, low.Bytes+high.Bytes
	return &result{job: j, node: p, Answer: end, batch: low.batch, logs: low.logs + high.logs, digest: low.digest + high.digest,
		doubts: append(low.doubts, high.doubts...)}, nil
}

// again holds back a doubtful range, which is fetched again later. If no other node is available,
// and the same one returned the same logs before, logs that are merely unusual are accepted. Logs
// that cannot be complete never are.
func (c *Chain) again(r *result, why string) {
	c.mu.Lock()
	h := c.plan.holding(r.job)
	same := h != nil && h.digest == r.digest && h.logs == r.logs
	c.mu.Unlock()
	if r.hard() == "" && same {
		return
	}
	r.suspect = why
}
