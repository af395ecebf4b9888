package follow

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// liveVolumes are the venue's counts of the volume of an event's takers up to a time, by condition,
// in millionths of a token. Slack is the uncertainty of that time. Both are in seconds.
type liveVolumes struct {
	At     int64            `json:"at"`
	Slack  int64            `json:"slack"`
	Shares map[string]int64 `json:"shares"`
}

// pendingAudit is a day whose counts were read but not compared yet.
type pendingAudit struct {
	Start int64                  `json:"start"` // unix seconds
	End   int64                  `json:"end"`
	At    int64                  `json:"at"` // of the last count
	Slack int64                  `json:"slack"`
	Read  map[string]liveVolumes `json:"read"` // by event; without shares if they could not be read
}

// When a day is compared: some time after its end, if the venue is not far behind. If it does not
// say how far, longestSlack is assumed.
const (
	settleAfter  = 10 * time.Minute
	leastSlack   = 60
	longestSlack = 600
)

// day starts and finishes the comparison of the last complete day.
func (a *Audits) day(ctx context.Context) error {
	a.mu.Lock()
	pending, until, lag := a.memory.Pending, a.status.Until, a.status.venueLag
	a.mu.Unlock()
	if pending != nil {
		return a.compare(ctx, pending)
	}
	now := a.o.Now()
	end := now.UTC().Truncate(24 * time.Hour)
	if now.Sub(end) < settleAfter || !until.Before(end) {
		return nil
	}
	from, to, err := a.o.Chain.Whole(ctx)
	if err != nil || to.Before(end) || !from.Before(end) {
		return err // missing blocks show in the chain's lag
	}
	slack := int64(longestSlack)
	if lag >= 0 {
		slack = min(max(3*lag, leastSlack), longestSlack)
	}
	if lag > longestSlack {
		a.unknown("venue_behind")
		return nil
	}
	start := end.Add(-24 * time.Hour)
	if from.After(start) {
		start = from
	}
	return a.readCounts(ctx, &pendingAudit{Start: start.Unix(), End: end.Unix(), Slack: slack, Read: map[string]liveVolumes{}})
}

// readCounts reads the venue's counts for the events with the largest volume.
func (a *Audits) readCounts(ctx context.Context, p *pendingAudit) error {
	var events []string
	err := a.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		events, err = queryTexts(ctx, conn, auditStatements.Get("BusiestEvents"), p.Start, p.End, p.End*1_000_000, p.Start*1_000_000, a.o.Events)
		return err
	})
	if err != nil {
		return err
	}
	for _, event := range events {
		v := liveVolumes{At: a.o.Now().Unix(), Slack: p.Slack}
		shares, err := a.api.LiveVolume(ctx, event)
		var shape *pages.ShapeError
		var status *fetch.StatusError
		switch {
		case errors.As(err, &shape): // the response is not as expected: trades are compared instead
			a.unknown("odd_live_volume")
		case errors.As(err, &status) && status.Code >= 400 && status.Code < 500:
			a.unknown("no_live_volume")
		case err != nil && !errors.Is(err, errSpent):
			return err
		}
		if err == nil {
			v.Shares = map[string]int64{}
			for c, n := range shares {
				v.Shares[c.String()] = int64(n)
			}
		}
		p.Read[event], p.At = v, v.At
	}
	a.mu.Lock()
	a.memory.Pending = p
	a.mu.Unlock()
	if err := a.save(ctx); err != nil {
		return err
	}
	return a.compare(ctx, p)
}

// counted is a condition whose counts were compared.
type counted struct {
	condition data.Hash
	from, to  int64 // the period to compare, unix seconds
	most      data.Micro
	off       data.Micro // difference of the venue's count from ours; 0: none, or not known
	read      bool       // it was counted at two times
}

// compare compares the counts of a day once the chain is committed up to when they were read. If
// counts differ, it compares trades.
func (a *Audits) compare(ctx context.Context, p *pendingAudit) error {
	from, to, err := a.o.Chain.Whole(ctx)
	if err != nil || to.Unix() < p.At {
		return err
	}
	var list []counted
	for _, event := range slices.Sorted(maps.Keys(p.Read)) {
		some, err := a.countEvent(ctx, p, event, from.Unix())
		if err != nil {
			return err
		}
		list = append(list, some...)
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(x, y counted) int { // first those that differ, then those without two counts, then all others
		return cmp.Or(cmp.Compare(y.off, x.off), -compareBool(!x.read, !y.read))
	})
	sum := AuditDay{Start: unix(p.Start), End: unix(p.End), Events: len(p.Read), Conditions: len(list)}
	var differences []AuditDifference
	spot := a.o.Spot
	for _, c := range list {
		left := a.left()
		if c.off == 0 {
			left = min(left, spot)
		} else {
			sum.Differ++
		}
		w, err := a.scanIn(ctx, &c, left)
		if err != nil {
			return err
		}
		if c.off == 0 {
			spot -= w.pages
		}
		sum.add(&c, &w)
		differences = append(differences, w.differences...)
	}
	a.finish(p, sum, differences)
	return a.save(ctx)
}

// scanIn scans at most so many pages, which may be none. It scans none if no request is left.
func (a *Audits) scanIn(ctx context.Context, c *counted, pages int) (w scanned, err error) {
	if pages <= 0 {
		return w, nil
	}
	switch w, err = a.scan(ctx, c, pages); {
	case errors.Is(err, errSpent):
		return scanned{}, nil
	case isOdd(err): // others can still be compared
		a.unknown("odd_trades")
		return scanned{}, nil
	}
	if err == nil && c.unexplained(&w) {
		a.o.Log.Warn().Str("audit", "volume").Stringer("condition", c.condition).Stringer("shares", c.off).
			Msg("the venue's count of a condition differs but its trades do not")
	}
	return w, err
}

// unexplained reports whether the counts of a condition differ but its trades do not.
func (c *counted) unexplained(w *scanned) bool {
	return c.off > 0 && w.pages > 0 && len(w.differences) == 0 && !w.cut
}

// add adds the result for a condition.
func (d *AuditDay) add(c *counted, w *scanned) {
	if w.pages == 0 {
		if c.off > 0 {
			d.Unscanned++
		}
		return
	}
	d.Scanned++
	d.Transactions += w.transactions
	if w.cut {
		d.Cut++
	}
	if c.unexplained(w) {
		d.Unexplained++
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// countEvent compares the counts of an event with ours. whole is the time from which on the chain
// is complete.
func (a *Audits) countEvent(ctx context.Context, p *pendingAudit, event string, whole int64) (out []counted, err error) {
	now := p.Read[event]
	a.mu.Lock()
	before, known := a.memory.Read[event]
	a.mu.Unlock()
	known = known && before.Shares != nil && now.Shares != nil && before.At-before.Slack >= whole && before.At < now.At
	inner, outer := p.Start, p.Start
	if known {
		inner, outer = before.At, before.At-before.Slack
	}
	least, most := map[data.Hash]data.Micro{}, map[data.Hash]data.Micro{}
	err = a.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		return eachRow(ctx, conn, func(rows *sql.Rows) error {
			var low, high int64
			c, err := scanHash(rows, &low, &high)
			least[c], most[c] = data.Micro(low), data.Micro(high)
			return err
		}, auditStatements.Get("TakerShares"), inner, now.At-now.Slack, event, outer, now.At+now.Slack)
	})
	if err != nil {
		return nil, err
	}
	all := map[data.Hash]bool{}
	for c := range most {
		all[c] = true
	}
	for text := range now.Shares {
		c, err := data.ParseCondition(text)
		if err != nil {
			return nil, err
		}
		all[c] = true
	}
	for _, c := range slices.SortedFunc(maps.Keys(all), func(x, y data.Hash) int { return bytes.Compare(x[:], y[:]) }) {
		one := counted{condition: c, from: outer, to: now.At - now.Slack, most: most[c], read: known}
		if known {
			traded := data.Micro(now.Shares[c.String()] - before.Shares[c.String()])
			switch {
			case traded < least[c]:
				one.off = least[c] - traded
			case traded > most[c]:
				one.off = traded - most[c]
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// finish records the result of a day.
func (a *Audits) finish(p *pendingAudit, sum AuditDay, differences []AuditDifference) {
	a.mu.Lock()
	known, lacking := map[string]bool{}, 0
	for _, w := range a.memory.Wanted {
		known[w.Tx] = true
	}
	for _, d := range differences {
		switch d.Kind {
		case VenueOnly:
			sum.VenueOnly++
		case OursOnly:
			sum.OursOnly++
		default:
			sum.Others++
		}
		if d.OurFills < d.VenueFills {
			lacking++
		}
		if d.OurFills < d.VenueFills && !known[d.Tx] && len(a.memory.Wanted) < mostWantedTx {
			known[d.Tx] = true
			a.memory.Wanted = append(a.memory.Wanted, wantedTx{Tx: d.Tx, At: d.At.Unix(), Fills: d.VenueFills, Found: a.o.Now().Unix()})
		}
	}
	a.status.Last, a.status.Until = &sum, unix(p.End)
	a.status.List = differences[:min(len(differences), mostListed)]
	a.memory.Read, a.memory.Pending = p.Read, nil
	a.mu.Unlock()
	for i, d := range differences {
		if i == mostListed {
			break
		}
		a.o.Log.Warn().Str("audit", "trades").Str("kind", string(d.Kind)).Str("tx", d.Tx).Str("condition", d.Condition).Time("at", d.At).
			Int64("venue_fills", d.VenueFills).Int64("our_fills", d.OurFills).Msg("a transaction differs from the venue's")
	}
	event := a.o.Log.Info()
	what := "audit_agrees"
	if lacking+sum.Unexplained > 0 {
		event, what = a.o.Log.Error(), "audit_differs"
	}
	event.Str("audit", "trades").Time("day", sum.Start).Int("conditions", sum.Conditions).Int("differ", sum.Differ).Int("scanned", sum.Scanned).Int64("venue_only", sum.VenueOnly).
		Int64("ours_only", sum.OursOnly).Int64("others", sum.Others).Int("unexplained", sum.Unexplained).Msg(what)
}
