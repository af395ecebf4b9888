package follow

import (
	"context"
	"maps"
	"slices"
	"time"
)

// mostRechecks is how many blocks are kept until they are asked for; who told of the others tells
// of them again. A block of which some node gave no answer is asked for again, so often.
const (
	mostRechecks  = 1_000
	recheckedMost = 8
	firstRecheck  = 30 * time.Second // after which it is, and then twice as long after each
)

// Recheck has committed blocks asked for once more, of every node, of which somebody else says
// that they have what the facts lack. It never waits.
func (c *Chain) Recheck(blocks ...int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		c.recheckAgain(b, patience{})
	}
}

// recheckAgain keeps a block. The caller holds the lock.
func (c *Chain) recheckAgain(block int64, p patience) {
	if c.rechecks == nil {
		c.rechecks = map[int64]patience{}
	}
	if _, is := c.rechecks[block]; !is && len(c.rechecks) < mostRechecks {
		c.rechecks[block] = p
	}
}

// recheckDue takes a block that is to be asked for once more now. One that is not committed yet is
// forgotten: it is asked for anyway.
func (c *Chain) recheckDue() (j job, tries int, due bool) {
	if c.auditor("") == nil { // all nodes rest
		return j, 0, false
	}
	now := c.o.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rechecks) == 0 || !c.inTail() {
		return j, 0, false
	}
	for _, b := range slices.Sorted(maps.Keys(c.rechecks)) {
		p := c.rechecks[b]
		if !reached(p.until, now, firstRecheck<<recheckedMost) {
			continue
		}
		delete(c.rechecks, b)
		j = job{from: b, to: b}
		for i, a := range c.asking {
			if a.from <= b && len(c.ranges[i].Gaps(b, b)) == 0 {
				j.filters = append(j.filters, i)
			}
		}
		if len(j.filters) > 0 {
			return j, p.tries, true
		}
	}
	return j, 0, false
}

// recheck asks one node after the other for a block, until one has something new of it; then the
// blocks around it are brought in too. If none has, and one gave no answer, it is asked for again in
// a while.
func (c *Chain) recheck(ctx context.Context, j job, tries int) {
	silent := 0
	for _, p := range c.nodes {
		if p.rests().After(c.o.Now()) {
			silent++
			continue
		}
		r, err := c.askSplit(ctx, p, j)
		if err != nil {
			c.refused(ctx, p, j, err)
			silent++
			continue
		}
		if r.batch.Logs() == 0 || r.hard() != "" {
			continue
		}
		receipt, err := c.bringIn(ctx, r)
		if err != nil {
			c.fail(err)
			silent++
			continue // the database refused it, and may take it later
		}
		if receipt.Inserted == 0 && receipt.Resolutions == 0 {
			continue
		}
		c.o.Log.Error().Int64("block", j.from).Str("node", p.Name()).Int64("fills", receipt.Inserted).Int64("payouts", receipt.Resolutions).
			Msg("the logs of a committed block were not all there are")
		mended, _ := c.mend(ctx, p, j) // what it lacks is for audits
		silent = 0
		c.mu.Lock()
		c.stats.AuditDiffers++
		c.stats.Mended += receipt.Inserted + mended
		c.stats.Fills += receipt.Inserted + mended
		c.mu.Unlock()
		break
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if silent > 0 && tries < recheckedMost {
		c.recheckAgain(j.from, patience{until: c.o.Now().Add(firstRecheck << tries).Unix(), tries: tries + 1})
		return
	}
	c.stats.Rechecked++
}
