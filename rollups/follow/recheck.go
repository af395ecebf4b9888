package follow

import (
	"context"
	"maps"
	"slices"
	"time"
)

// mostRechecks is the maximum number of blocks that wait for a recheck; others are reported again
// by their source. The number of times that a block is requested again if a node did not answer.
const (
	mostRechecks  = 1_000
	recheckedMost = 8
	firstRecheck  = 30 * time.Second // the first interval, which doubles each time
)

// Recheck requests committed blocks again, from every node, because another source has facts of
// these blocks that are missing. It never blocks.
func (c *Chain) Recheck(blocks ...int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		c.recheckAgain(b, patience{})
	}
}

// recheckAgain adds a block. The lock must be held.
func (c *Chain) recheckAgain(block int64, p patience) {
	if c.rechecks == nil {
		c.rechecks = map[int64]patience{}
	}
	if _, is := c.rechecks[block]; !is && len(c.rechecks) < mostRechecks {
		c.rechecks[block] = p
	}
}

// recheckDue takes a block that is due to be requested again. A block that is not committed yet is
// dropped, because it will be requested anyway.
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

// recheck requests a block from one node after the other until one has something new. Then the
// blocks around it are imported, too. If none has, and one did not answer, the block is requested
// again later.
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
			continue // the commit failed, and may succeed later
		}
		if receipt.Inserted == 0 && receipt.Resolutions == 0 {
			continue
		}
		c.o.Log.Error().Int64("block", j.from).Str("node", p.Name()).Int64("fills", receipt.Inserted).Int64("payouts", receipt.Resolutions).
			Msg("logs of a committed block were missing")
		mended, _ := c.mend(ctx, p, j) // missing logs are left to audits
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
