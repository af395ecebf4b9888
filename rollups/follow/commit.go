package follow

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/feeds/polygon"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// rowsName is the name of the lane's batches in the import log.
const rowsName = "chain"

// take handles the result of a range. It returns true if the range is to be committed.
func (c *Chain) take(r *result) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flying--
	switch {
	case r.err != nil:
		c.plan.release(r.job)
	case r.suspect != "":
		h := c.plan.hold(r.job, r.suspect, r.digest, r.logs, r.node.Name(), c.o.Now())
		c.o.Log.Warn().Int64("from", r.job.from).Int64("to", r.job.to).Str("why", r.suspect).Int("tries", h.tries).Msg("a range of blocks is held back")
	default:
		c.answered += r.job.blocks()
		return true
	}
	c.replan()
	return false
}

// stretch is a sequence of adjacent ranges with the same filters.
type stretch struct {
	results []*result
	parent  data.Hash // of the block before; zero: not known
}

func (s *stretch) from() int64 { return s.results[0].job.from }
func (s *stretch) to() int64   { return s.results[len(s.results)-1].job.to }

// stretches sorts results and joins adjacent ones.
func stretches(results []*result) (out []*stretch) {
	slices.SortFunc(results, func(a, b *result) int { return cmp.Compare(a.job.from, b.job.from) })
	for _, r := range results {
		if n := len(out); n > 0 && out[n-1].to()+1 == r.job.from && slices.Equal(out[n-1].results[0].job.filters, r.job.filters) {
			out[n-1].results = append(out[n-1].results, r)
			continue
		}
		out = append(out, &stretch{results: []*result{r}, parent: r.Before.Hash})
	}
	return out
}

// commit commits answered ranges, or releases them to be requested again. Their batches are
// consumed.
func (c *Chain) commit(ctx context.Context, results []*result) {
	defer func() {
		for _, r := range results {
			r.batch.Release()
		}
	}()
	began := c.o.Now()
	jobs := make([]job, len(results))
	events := int64(0)
	for i, r := range results {
		jobs[i] = r.job
		events += int64(r.batch.Events())
	}
	c.setPhase(Validate)
	receipt, err := c.commitWhole(ctx, results)
	again := c.reload(ctx) // also after an error: it may be committed nevertheless
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending -= events
	for _, j := range jobs {
		c.answered -= j.blocks()
	}
	if err == nil {
		c.plan.committed(jobs)
		c.counted(results, receipt, c.o.Now().Sub(began))
	}
	for _, j := range jobs {
		c.plan.release(j)
	}
	err = errors.Join(err, again)
	c.replan()
	if err == nil || ctx.Err() != nil {
		return
	}
	c.stats.Phase, c.stats.Error = BackOff, err.Error()
	c.gate = c.o.Now().Add(mostPause / 12)
	c.o.Log.Error().Err(err).Msg("ranges of blocks are not committed")
}

func (c *Chain) setPhase(p Phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Phase = p
}

// commitWhole commits ranges that follow the committed ones.
func (c *Chain) commitWhole(ctx context.Context, results []*result) (ingest.Receipt, error) {
	parts := stretches(results)
	for _, s := range parts {
		if err := c.link(ctx, s); err != nil {
			return ingest.Receipt{}, err
		}
	}
	var batches []*polygon.Batch
	for _, r := range results {
		if r.batch.Logs() > 0 {
			batches = append(batches, r.batch)
		}
	}
	c.mu.Lock()
	memory := c.memory
	memory.Audits = append(slices.Clone(memory.Audits), c.audits(results)...)
	asking, chosen := c.asking, len(memory.Audits) > len(c.memory.Audits)
	left := c.plan.open()
	for _, r := range results {
		left -= r.job.blocks()
	}
	mean := c.seen.mean()
	c.mu.Unlock()
	var coming ingest.Remaining
	if left > tailBlocks {
		coming.Fills = max(1, int64(float64(left)*mean))
	}
	text, err := memory.text()
	if err != nil {
		return ingest.Receipt{}, err
	}
	rows := ingest.Rows{Feed: polygon.Feed(), Name: rowsName, Instead: c.instead, Within: func(ctx context.Context, conn *sql.Conn) error {
		for _, s := range parts {
			for _, i := range s.results[0].job.filters {
				if err := ledger.Commit(ctx, conn, asking[i].ledger, c.rangeOf(s)); err != nil {
					return err
				}
			}
		}
		if !chosen {
			return nil
		}
		return ledger.SetCursor(ctx, conn, chainSource, text)
	}}
	if len(batches) > 0 {
		rows.Read = polygon.Rows(batches)
	}
	c.setPhase(Committing)
	receipt, err := c.o.Venue.Commit(ctx, rows, coming)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusedBy(err); err == nil {
		c.memory = memory
	}
	return receipt, err
}

// errFork is the error of a range that does not follow the committed ones.
var errFork = errors.New("a range does not follow the one before it")

// link checks that the ranges of a stretch follow each other, and that the first follows the
// committed ones: the hash of the block before it must be the committed one.
func (c *Chain) link(ctx context.Context, s *stretch) error {
	first := s.results[0]
	if s.parent.IsZero() && s.from() > 0 {
		h, err := first.node.Headers(ctx, []int64{s.from() - 1})
		if err != nil {
			first.node.failed(err, c.o.Now())
			return err
		}
		if len(h) != 1 || h[0].Number != s.from()-1 {
			return fmt.Errorf("%s does not return the header of block %d", first.node.Name(), s.from()-1)
		}
		s.parent = h[0].Hash
	}
	for i, r := range s.results[1:] {
		before := s.results[i]
		if !r.Before.Hash.IsZero() && r.Before.Hash != before.End.Hash {
			return c.forked(before.job.to, before.node, r.node)
		}
	}
	if c.follows(s) {
		return nil
	}
	return c.forked(s.from()-1, nil, first.node)
}

// follows reports whether the block before a stretch, if it was committed, has the committed hash.
func (c *Chain) follows(s *stretch) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range s.results[0].job.filters {
		if left, ok := c.ranges[i].Ending(s.from() - 1); ok && left.End != s.parent {
			return false
		}
	}
	return true
}

// forked records that two nodes, or a node and the committed ranges, are on different chains.
func (c *Chain) forked(block int64, before, after *provider) error {
	now := c.o.Now()
	err := fmt.Errorf("%w: block %d", errFork, block)
	for _, p := range []*provider{before, after} {
		if p != nil {
			p.failed(err, now)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Forks++
	return err
}

// rangeOf returns the ledger's range for a stretch.
func (c *Chain) rangeOf(s *stretch) ledger.Range {
	last := s.results[len(s.results)-1]
	r := ledger.Range{From: s.from(), To: s.to(), Parent: s.parent, End: last.End.Hash, EndTime: last.End.Time, Provider: last.node.Name(), FetchedAt: c.o.Now()}
	for _, part := range s.results {
		r.Logs += part.logs
		r.Fills += part.batch.Fills()
		r.Digest += part.digest
	}
	return r
}

// counted adds committed ranges to the figures.
func (c *Chain) counted(results []*result, receipt ingest.Receipt, took time.Duration) {
	s := &c.stats
	s.Phase, s.Error = Idle, ""
	s.Commits++
	s.Ranges += int64(len(results))
	s.Fills += receipt.Inserted
	s.Rejected += receipt.RejectedRows()
	s.LastCommit, s.CommitTook = c.o.Now().UTC(), took.Seconds()
	c.progress, c.warned = c.o.Now(), false
	for _, r := range results {
		s.Logs += r.logs
		c.dense.add(r.job.from, r.job.to, r.logs)
		if r.odd {
			s.OddGroups += r.notWhole()
		}
		if list := r.batch.Resolved(); len(list) > 0 && c.o.Resolved != nil {
			c.o.Resolved(list...)
		}
		for why, n := range r.batch.Passed() {
			s.Unknown[why] += n
		}
	}
	for why, n := range receipt.Notes {
		s.Unknown[why] += n
	}
	for why, n := range receipt.Rejected {
		s.Unknown[why] += n
	}
	if c.o.Progress != nil {
		c.o.Progress(c.status())
	}
}

// checkStalled logs once that nothing has been committed for a long time.
func (c *Chain) checkStalled(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.warned || now.Sub(c.progress) < stalledBehind {
		return
	}
	c.warned = true
	e := c.o.Log.Error()
	if missing := c.plan.blocks(); missing > 0 { // else it is not known: no node says which block is the newest
		e.Int64("missing_blocks", missing)
	}
	e.Str("last_error", c.stats.Error).Msg("the chain lane is stalled: nothing has been committed for a long time")
}

// Status returns the lane's status.
func (c *Chain) Status() ChainStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status()
}

// mostHeldShown is the maximum number of held ranges in the status.
const mostHeldShown = 20

func (c *Chain) status() ChainStatus {
	now := c.o.Now()
	s := c.stats
	s.Unknown = map[string]int64{}
	for why, n := range c.stats.Unknown {
		s.Unknown[why] = n
	}
	if c.refusal != nil {
		s.Refused = c.refusal.Error()
	}
	s.Start, s.Finalized = c.memory.Start, c.head.Number
	s.Answered = c.answered
	s.GapBlocks, s.Gaps, s.AuditsDue = c.plan.blocks(), len(c.plan.missing), len(c.memory.Audits)
	c.setPrefix(&s, now)
	for _, h := range c.plan.held {
		if len(s.Held) == mostHeldShown {
			break
		}
		s.Held = append(s.Held, HeldRange{h.job.from, h.job.to, h.why, h.tries, h.next.UTC()})
	}
	resting := 0
	for _, p := range c.nodes {
		n := p.status(now)
		s.Nodes = append(s.Nodes, n)
		if n.State == BackOff {
			resting++
		}
	}
	switch {
	case now.Sub(c.progress) >= stalledBehind:
		s.Phase = Stalled
	case s.Phase == Committing || s.Phase == Validate:
	case resting == len(c.nodes):
		s.Phase = BackOff
	case c.flying > 0:
		s.Phase = Fetch
	case len(c.plan.held) > 0 && c.plan.open() == 0:
		s.Phase = Quarantine
	}
	if u := c.catchUp; !u.began.IsZero() {
		s.CatchingUp = true
		left, took := c.plan.open(), now.Sub(u.began).Seconds()
		gone := max(0, u.blocks-left)
		s.Progress = float64(gone) / float64(max(u.blocks, 1))
		if gone > 0 && took > 0 {
			s.Remaining = took / float64(gone) * float64(left)
			s.FillsASec = float64(s.Fills-u.fills) / took
		}
	} else {
		s.Progress = 1
	}
	return s
}

// setPrefix sets the block up to which nothing is missing: the minimum of all versions.
func (c *Chain) setPrefix(s *ChainStatus, now time.Time) {
	s.Committed = -1
	for i, a := range c.asking {
		last, ok := c.ranges[i].Prefix(a.from)
		if !ok {
			last.To = a.from - 1
			last.EndTime = 0
		}
		if s.Committed < 0 || last.To < s.Committed {
			s.Committed, s.AsOf = last.To, unix(last.EndTime)
		}
	}
	if !s.AsOf.IsZero() {
		s.LagSeconds = max(0, now.Sub(s.AsOf).Seconds())
	}
}
