package follow

import (
	"context"
	"slices"
	"time"

	"pmx/data/feeds/polygon"
	"pmx/engine/ingest"
)

func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// audit is a committed range that is fetched a second time later: a node that lacked logs at first
// may have them by then, or another node may have them.
type audit struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Filters []int  `json:"filters"` // versions
	Logs    int64  `json:"logs"`
	Digest  uint64 `json:"digest"`
	Node    string `json:"node"` // the node that answered
	Due     int64  `json:"due"`  // unix seconds
}

// mostAudits is the maximum number of waiting audits.
const mostAudits = 5_000

// audits selects ranges to audit from those that are being committed.
func (c *Chain) audits(results []*result) (out []audit) {
	for _, r := range results {
		if !r.odd && !c.chosen() || len(c.memory.Audits)+len(out) >= mostAudits {
			continue
		}
		a := audit{From: r.job.from, To: r.job.to, Logs: r.logs, Digest: r.digest, Node: r.node.Name(), Due: c.o.Now().Add(c.o.AuditIn).Unix()}
		for _, i := range r.job.filters {
			a.Filters = append(a.Filters, c.asking[i].ledger.Version)
		}
		out = append(out, a)
	}
	return out
}

// auditDue reports whether a range is due to be fetched a second time, and there is time for it.
func (c *Chain) auditDue(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.memory.Audits) > 0 && reached(c.memory.Audits[0].Due, now, c.o.AuditIn) && c.inTail() && !c.auditing.After(now)
}

// auditPause is how long audits pause if no node answered.
const auditPause = time.Minute

// audit fetches the next range a second time, from a different node if there is one, and imports
// missing logs.
func (c *Chain) audit(ctx context.Context) {
	c.mu.Lock()
	a := c.memory.Audits[0]
	j := job{from: a.From, to: a.To}
	for i, asked := range c.asking {
		if slices.Contains(a.Filters, asked.ledger.Version) {
			j.filters = append(j.filters, i)
		}
	}
	c.mu.Unlock()
	p := c.auditor(a.Node)
	var r *result
	if len(j.filters) > 0 && p != nil {
		var err error
		if r, err = c.askSplit(ctx, p, j); err != nil {
			c.refused(ctx, p, j, err)
			r = nil
		}
	}
	if r == nil && len(j.filters) > 0 {
		c.mu.Lock()
		c.auditing = c.o.Now().Add(auditPause)
		c.mu.Unlock()
		return
	}
	differs := r != nil && (r.logs != a.Logs || r.digest != a.Digest)
	mended := int64(0)
	if differs {
		c.o.Log.Error().Int64("from", a.From).Int64("to", a.To).Int64("logs_then", a.Logs).Int64("logs_now", r.logs).Str("then", a.Node).Str("now", p.Name()).
			Msg("the logs of a committed range have changed")
		if a.Logs < r.logs || a.Logs == r.logs {
			c.caught(a.Node)
		} else {
			p.caught()
		}
		var ok bool
		if mended, ok = c.mend(ctx, p, j); !ok {
			c.mu.Lock()
			c.auditing = c.o.Now().Add(auditPause)
			c.mu.Unlock()
			return
		}
	}
	c.mu.Lock()
	c.memory.Audits = slices.Clone(c.memory.Audits[1:])
	c.stats.Audited++
	c.stats.Mended += mended
	c.stats.Fills += mended
	if differs {
		c.stats.AuditDiffers++
	}
	more := len(c.memory.Audits) > 0 && reached(c.memory.Audits[0].Due, c.o.Now(), c.o.AuditIn)
	c.mu.Unlock()
	if more { // completed audits are stored with the last of them
		return
	}
	if err := c.remember(ctx); err != nil && ctx.Err() == nil {
		c.fail(err) // it is fetched again after a restart
	}
}

// caught records that a node's response lacked logs.
func (c *Chain) caught(name string) {
	for _, p := range c.nodes {
		if p.Name() == name {
			p.caught()
		}
	}
}

// auditor returns an available node, if possible another than the named one.
func (c *Chain) auditor(name string) (p *provider) {
	now := c.o.Now()
	for _, o := range c.nodes {
		if o.rests().After(now) {
			continue
		}
		if p == nil || p.Name() == name {
			p = o
		}
	}
	return p
}

// aroundDifference is the number of blocks before and after a range with different logs that are
// imported again.
const aroundDifference = 500

// mend imports the current logs of a range and of the blocks around it: known ones stay, missing
// ones are added. False if the node does not return all of them.
func (c *Chain) mend(ctx context.Context, p *provider, j job) (fills int64, ok bool) {
	c.mu.Lock()
	j.from, j.to = max(j.from-aroundDifference, c.memory.Start), min(j.to+aroundDifference, c.head.Number)
	c.mu.Unlock()
	r, err := c.askSplit(ctx, p, j)
	if err != nil {
		c.refused(ctx, p, j, err)
		return 0, false
	}
	if why := r.hard(); why != "" {
		c.o.Log.Warn().Str("node", p.Name()).Str("why", why).Msg("the logs around a range with different logs are incomplete")
		return 0, false
	}
	receipt, err := c.bringIn(ctx, r)
	if err != nil {
		c.fail(err)
		return 0, false
	}
	return receipt.Inserted, true
}

// bringIn commits the logs of blocks that are already committed: known ones stay, missing ones are
// added.
func (c *Chain) bringIn(ctx context.Context, r *result) (ingest.Receipt, error) {
	c.mu.Lock()
	instead := c.instead
	c.mu.Unlock()
	return c.o.Venue.Commit(ctx, ingest.Rows{Feed: polygon.Feed(), Name: rowsName, Instead: instead, Read: polygon.Rows([]*polygon.Batch{r.batch})}, ingest.Remaining{})
}
