package follow

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/engine/ingest"
)

func TestWhatAClockThatWasAheadPlannedIsDue(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		in   time.Duration
		want bool
	}{{-time.Second, true}, {0, true}, {time.Second, false}, {time.Hour, false}, {time.Hour + time.Second, true}, {365 * 24 * time.Hour, true}} {
		if got := reached(now.Add(c.in).Unix(), now, time.Hour); got != c.want {
			t.Errorf("in %s: got %v", c.in, got)
		}
	}
	m := &Markets{asked: map[uint64]patience{}}
	m.absent(1, now.AddDate(1, 0, 0), afterOpen)
	m.absent(2, now, afterOpen)
	if !m.ready(1, now) || m.ready(2, now) {
		t.Error("what was requested while the clock was ahead is delayed, or what was requested now is not")
	}
	for _, pauses := range [][]time.Duration{afterMissing, afterOpen} {
		if pauses[len(pauses)-1] > longestPause {
			t.Errorf("a pause of %s is longer than longestPause", pauses[len(pauses)-1])
		}
	}
}

// A hint of a market that was requested while the clock was ahead is followed, and its quote is
// written.
func TestMarketsDoNotWaitForAClockThatWasAhead(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	ahead := now.AddDate(1, 0, 0)
	m := &Markets{asked: map[uint64]patience{}, hints: map[data.Hash]bool{}, seen: map[data.Hash]seenMarket{}, o: MarketOptions{Quotes: time.Minute}}
	first, second := data.Hash{1}, data.Hash{2}
	m.absent(xxhash.Sum64(first[:]), ahead, afterMissing)
	m.absent(xxhash.Sum64(second[:]), now, afterMissing)
	m.hints[first], m.hints[second] = true, true
	if got := m.heard(now); len(got) != 1 || got[0] != first {
		t.Errorf("%v are followed", got)
	}
	bid := data.One / 2
	for _, c := range []struct {
		written time.Time
		want    bool
	}{{now.Add(-time.Minute), true}, {now.Add(-time.Second), false}, {now, false}, {ahead, true}} {
		old, _, err := m.changed(data.Market{Condition: first}, c.written)
		if err != nil {
			t.Fatal(err)
		}
		m.seen[first] = old
		if _, yes, err := m.changed(data.Market{Condition: first, BestBid: &bid}, now); err != nil || yes != c.want {
			t.Errorf("a quote written at %s is written again at %s: yes = %v, err = %v", c.written, now, yes, err)
		}
	}
}

// forgetful is a venue that has and stores nothing.
type forgetful struct{}

func (forgetful) Commit(context.Context, ingest.Rows, ingest.Remaining) (r ingest.Receipt, err error) {
	return r, nil
}
func (forgetful) Read(context.Context, func(*sql.Conn) error) error { return nil }

// What was found while the clock was ahead is given up after the same time, counted from when the
// clock is right.
func TestRequestsByAClockThatWasAheadAreDropped(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	a := &Audits{o: AuditOptions{Venue: forgetful{}, Now: func() time.Time { return now }, Log: zerolog.Nop()}}
	a.memory.Wanted = []wantedTx{{Tx: "0x1", Fills: 1, Found: now.AddDate(1, 0, 0).Unix()}}
	for _, wanted := range []int{1, 1, 0} {
		if err := a.mended(t.Context()); err != nil || len(a.memory.Wanted) != wanted {
			t.Errorf("at %s: err = %v, a.memory.Wanted = %+v", now, err, a.memory.Wanted)
		}
		now = now.Add(givenUpAfter/2 + time.Minute)
	}
}
