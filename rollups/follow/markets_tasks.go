package follow

import (
	"context"
	"database/sql"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/data/upstream/gamma"
)

// Maximum numbers of records requested and committed at once, and read from the database.
const (
	mostAtOnce = 400
	mostWanted = 4000
)

// Intervals after which missing records are requested again: a token may be traded shortly before
// its market is listed.
var afterMissing = []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// Intervals after which markets that Gamma still has as open are requested again.
var afterOpen = []time.Duration{10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// wanted has tokens and markets of fills that no source has described.
type wanted struct {
	tokens     []string // of protocol V1
	conditions []data.Hash
	combos     int
}

// tokens requests the markets of unknown tokens of fills.
func (m *Markets) tokens(ctx context.Context) error {
	w, err := m.wanted(ctx)
	if err != nil {
		return err
	}
	now := m.o.Now()
	waiting := 0
	tokens := only(w.tokens, func(t string) bool { return m.ready(xxhash.Sum64String(t), now) })
	conditions := only(w.conditions, func(c data.Hash) bool { return m.ready(xxhash.Sum64(c[:]), now) })
	waiting = len(w.tokens) - len(tokens) + len(w.conditions) - len(conditions)
	m.count(func(s *MarketsStatus) {
		s.Wanted, s.Combos, s.Missing = len(w.tokens)+len(w.conditions), w.combos, waiting
	})
	for len(tokens) > 0 {
		some := tokens[:min(len(tokens), mostAtOnce)]
		tokens = tokens[len(some):]
		found, err := m.o.Gamma.ByTokens(ctx, some)
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for _, r := range found {
			for _, t := range r.TokenIDs {
				there[t] = true
			}
		}
		if err := m.write(ctx, writing{feed: "gamma-markets", name: "gamma tokens", all: true}, ofGamma(found)); err != nil {
			return err
		}
		for _, t := range some {
			m.note(xxhash.Sum64String(t), there[t], now, afterMissing)
		}
	}
	if err := m.describe(ctx, "gamma tokens", conditions, afterMissing, isThere); err != nil {
		return err
	}
	heard := m.heard(now)
	if err = m.describe(ctx, "gamma heard", heard, afterMissing, isThere); err != nil {
		m.Heard(heard...)
		return err
	}
	m.unanswered(heard)
	return nil
}

// heard takes the hints that are due.
func (m *Markets) heard(now time.Time) (conditions []data.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.hints {
		if reached(m.asked[xxhash.Sum64(c[:])].until, now, longestPause) {
			conditions = append(conditions, c)
			delete(m.hints, c)
		}
	}
	return conditions
}

// unanswered keeps hints for which nothing was found, because a response may be incomplete, until
// all pauses have passed.
func (m *Markets) unanswered(heard []data.Hash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range heard {
		if tries := m.asked[xxhash.Sum64(c[:])].tries; tries > 0 && tries <= len(afterMissing) && len(m.hints) < mostHints {
			m.hints[c] = true
		}
	}
}

// wanted reads what is wanted. The id of a position of protocol V2 contains its condition.
func (m *Markets) wanted(ctx context.Context) (w wanted, err error) {
	err = m.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		w = wanted{}
		conditions := map[data.Hash]bool{}
		want := func(c data.Hash) {
			if !conditions[c] && !c.IsZero() {
				conditions[c] = true
				w.conditions = append(w.conditions, c)
			}
		}
		tokens, err := texts(ctx, conn, "UnmappedTokens", mostWanted)
		if err != nil {
			return err
		}
		for _, t := range tokens {
			switch condition, kind := positionOf(t); kind {
			case isCombo:
				w.combos++
			case isPosition:
				want(condition)
			default:
				w.tokens = append(w.tokens, t)
			}
		}
		undescribed, err := conditionsOf(ctx, conn, "UndescribedMarkets", mostWanted)
		if err != nil {
			return err
		}
		for _, c := range undescribed {
			want(c)
		}
		references, err := texts(ctx, conn, "WaitingReferences", mostWanted)
		for _, r := range references {
			if id, _, ok := strings.Cut(strings.TrimPrefix(r, "c:"), ":"); ok && strings.HasPrefix(r, "c:") {
				if c, err := data.ParseCondition(id); err == nil {
					want(c)
				}
			}
		}
		return err
	})
	return w, err
}

// What follows from the id of a token.
type tokenKind int

const (
	isToken    tokenKind = iota // of protocol V1: nothing
	isPosition                  // its condition
	isCombo                     // a combination of several conditions
)

// positionOf returns the condition of a position of protocol V2: its id has the module in the first
// byte, 8 bytes of zeros from the 20th on, and the outcome in the last byte. One in 2^69 of the
// hashes that are tokens of V1 looks like this.
func positionOf(token string) (data.Hash, tokenKind) {
	n, ok := new(big.Int).SetString(token, 10)
	var h data.Hash
	if !ok || n.Sign() < 0 || n.BitLen() > 8*len(h) {
		return h, isToken
	}
	n.FillBytes(h[:])
	switch {
	case [8]byte(h[19:27]) != [8]byte{} || h[31] > 1 || h[0] == 0 || h[0] > 3:
		return data.Hash{}, isToken
	case h[0] == 3:
		return data.Hash{}, isCombo
	}
	h[31] = 0
	return h, isPosition
}

// describe requests conditions and writes their records. Those that are missing or not as expected
// are requested again after one of the pauses.
func (m *Markets) describe(ctx context.Context, name string, conditions []data.Hash, pauses []time.Duration, settled func(*data.Market) bool) error {
	now := m.o.Now()
	for len(conditions) > 0 {
		some := conditions[:min(len(conditions), mostAtOnce)]
		conditions = conditions[len(some):]
		if err := m.describeOnce(ctx, writing{feed: "gamma-markets", name: name, all: true}, some, now, pauses, settled); err != nil {
			return err
		}
	}
	return nil
}

// describeOnce is like describe, for conditions that are written together.
func (m *Markets) describeOnce(ctx context.Context, w writing, some []data.Hash, now time.Time, pauses []time.Duration, settled func(*data.Market) bool) error {
	found, err := m.o.Gamma.ByConditions(ctx, some)
	if err != nil {
		return err
	}
	if err := m.write(ctx, w, ofGamma(found)); err != nil {
		return err
	}
	done := map[data.Hash]bool{}
	for i := range found {
		done[found[i].Condition] = settled(&found[i].Market)
	}
	for _, c := range some {
		m.note(xxhash.Sum64(c[:]), done[c], now, pauses)
	}
	return nil
}

// isThere accepts any market.
func isThere(*data.Market) bool { return true }

func (m *Markets) note(key uint64, there bool, now time.Time, pauses []time.Duration) {
	if there {
		m.there(key)
	} else {
		m.absent(key, now, pauses)
	}
}

// sweep reads all open events, and requests markets that are no longer among them.
func (m *Markets) sweep(ctx context.Context) error {
	began := m.o.Now()
	m.mu.Lock()
	before := len(m.open)
	m.mu.Unlock()
	var open map[data.Hash]string
	var events int
	for try := 0; ; try++ {
		var err error
		if open, events, err = m.sweepOnce(ctx); err != nil {
			return err
		}
		if len(open) >= before/2 && (len(open) > 0 || before == 0) {
			break
		}
		m.count(func(s *MarketsStatus) { s.Empty++ })
		if try == 2 {
			if len(open) == 0 {
				return errors.New("the sweep found no open market three times, although it did before")
			}
			break
		}
	}
	m.mu.Lock()
	m.open = open
	m.state.Events, m.state.Open, m.state.Swept, m.state.Few = events, len(open), began.UTC(), m.usualOpen(len(open))
	m.mu.Unlock()
	if len(open) == 0 {
		return nil
	}
	return m.gone(ctx, open)
}

// sweepOnce writes changes in the open events, and returns their open markets.
func (m *Markets) sweepOnce(ctx context.Context) (open map[data.Hash]string, events int, err error) {
	open = map[data.Hash]string{}
	all := map[data.Hash]bool{}
	err = m.o.Gamma.EachEvents(ctx, false, "", func(p gamma.Page) error {
		events += len(p.Events)
		var records []record
		for _, e := range p.Events {
			for _, r := range e.Markets {
				records = append(records, record{r.Market, r.Bad})
				if r.Bad != nil {
					continue
				}
				all[r.Condition] = true
				if r.Closed == nil || !*r.Closed {
					open[r.Condition] = ""
					if len(r.TokenIDs) > 0 {
						open[r.Condition] = r.TokenIDs[0]
					}
				}
			}
		}
		return m.write(ctx, writing{feed: "gamma-events", name: "gamma open events", remember: true}, records)
	})
	if err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.seen {
		if !all[c] {
			delete(m.seen, c)
		}
	}
	return open, events, nil
}

// gone requests the markets that are not closed in the database and not in the open events.
func (m *Markets) gone(ctx context.Context, open map[data.Hash]string) error {
	var there []data.Hash
	err := m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		there, err = conditionsOf(ctx, conn, "NotSaidClosed")
		return err
	})
	if err != nil {
		return err
	}
	now := m.o.Now()
	there = only(there, func(c data.Hash) bool {
		_, is := open[c]
		return !is && m.ready(xxhash.Sum64(c[:]), now)
	})
	return m.describe(ctx, "gamma closed", there, afterOpen, func(r *data.Market) bool { return r.Closed != nil && *r.Closed })
}

// steps are the times, unix µs, up to which markets were read again, one for each of afterClosing.
type steps []int64

// notAfter sets steps in the future, which are from a clock that was ahead, back to now, and
// reports whether there were any. The change has to be stored even if nothing is due, because each
// run reads the steps from the database.
func (s steps) notAfter(now time.Time) (changed bool) {
	for i, after := range afterClosing {
		if until := now.Add(-after).UnixMicro(); s[i] > until {
			s[i], changed = until, true
		}
	}
	return changed
}

// closed reads markets again that closed some time ago, and requests missing payouts.
func (m *Markets) closed(ctx context.Context) error {
	now := m.o.Now()
	var done steps
	if err := m.cursor(ctx, stepsCursor, &done); err != nil {
		return err
	}
	begins := len(done) != len(afterClosing)
	if begins { // markets that closed before the lane first ran are left to the reconciliation
		done = nil
		for _, after := range afterClosing {
			done = append(done, now.Add(-after).UnixMicro())
		}
	}
	if done.notAfter(now) || begins {
		if err := m.write(ctx, writing{name: "gamma closed", within: cursorOf(stepsCursor, done)}, nil); err != nil {
			return err
		}
	}
	for i, after := range afterClosing {
		until := now.Add(-after).UnixMicro()
		for done[i] < until {
			var due []data.Hash
			var last int64
			err := m.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
				due, last, err = closedBetween(ctx, conn, done[i], until)
				return err
			})
			if err != nil {
				return err
			}
			if len(due) == 0 {
				break // late records of this time are still found
			}
			done[i] = last
			if err := m.again(ctx, due, done, now); err != nil {
				return err
			}
		}
	}
	return m.payouts(ctx, now)
}

// again reads the markets again for which a step is due, and stores that the step is done.
func (m *Markets) again(ctx context.Context, due []data.Hash, done steps, now time.Time) error {
	w := writing{feed: "gamma-markets", name: "gamma closed", all: true, within: cursorOf(stepsCursor, done)}
	if err := m.describeOnce(ctx, w, due, now, afterMissing, isThere); err != nil {
		return err
	}
	m.unanswered(due) // the step is done, but they are still requested later
	return nil
}

// closedBetween returns about mostAtOnce markets that closed after one time and not after the
// other, and when the last of them did.
func closedBetween(ctx context.Context, conn *sql.Conn, after, until int64) (due []data.Hash, last int64, err error) {
	err = eachRow(ctx, conn, func(rows *sql.Rows) error {
		c, err := scanHash(rows, &last)
		due = append(due, c)
		return err
	}, marketStatements.Get("ClosedBetween"), after, until, mostAtOnce)
	return due, last, err
}
