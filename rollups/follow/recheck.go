package follow

import (
	"context"
	"maps"
	"slices"
)

// mostRechecks is how many blocks are kept until they are asked for; who told of the others tells
// of them again.
const mostRechecks = 1_000

// Recheck has committed blocks asked for once more, of every node, of which somebody else says
// that they have what the facts lack. It never waits.
func (c *Chain) Recheck(blocks ...int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rechecks == nil {
		c.rechecks = map[int64]bool{}
	}
	for _, b := range blocks {
		if len(c.rechecks) < mostRechecks {
			c.rechecks[b] = true
		}
	}
}

// recheckDue takes a block that is to be asked for once more now. One that is not committed yet is
// forgotten: it is asked for anyway.
func (c *Chain) recheckDue() (j job, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rechecks) == 0 || !c.inTail() {
		return j, false
	}
	for _, b := range slices.Sorted(maps.Keys(c.rechecks)) {
		delete(c.rechecks, b)
		j = job{from: b, to: b}
		for i, a := range c.asking {
			if a.from <= b && len(c.ranges[i].Gaps(b, b)) == 0 {
				j.filters = append(j.filters, i)
			}
		}
		if len(j.filters) > 0 {
			return j, true
		}
	}
	return j, false
}

// recheck asks one node after the other for a block, until one has something new of it; then the
// blocks around it are brought in too.
func (c *Chain) recheck(ctx context.Context, j job) {
	for _, p := range c.nodes {
		if p.rests().After(c.o.Now()) {
			continue
		}
		r, err := c.askParts(ctx, p, j)
		if err != nil {
			c.refused(ctx, p, j, err)
			continue
		}
		if r.batch.Logs() == 0 || r.hard() != "" {
			continue
		}
		receipt, err := c.bringIn(ctx, r)
		if err != nil {
			c.fail(err)
			return
		}
		if receipt.Inserted == 0 && receipt.Resolutions == 0 {
			continue
		}
		c.o.Log.Error().Int64("block", j.from).Str("node", p.Name()).Int64("fills", receipt.Inserted).Int64("payouts", receipt.Resolutions).
			Msg("the logs of a committed block were not all there are")
		mended, _ := c.mend(ctx, p, j) // what it lacks is for audits
		c.mu.Lock()
		c.stats.AuditDiffers++
		c.stats.Mended += receipt.Inserted + mended
		c.stats.Fills += receipt.Inserted + mended
		c.mu.Unlock()
		break
	}
	c.mu.Lock()
	c.stats.Rechecked++
	c.mu.Unlock()
}
