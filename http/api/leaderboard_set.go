package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/rollups/serving"
)

// Leaderboards that no snapshot ranks are computed from all fills of two months. Reading these takes a second or more, so it is done in
// the background from time to time, and a request gets the newest result. If there is little to read, a request reads it for
// its own snapshot.
const (
	littleToRead = 50_000                 // rows, and
	littleTime   = 200 * time.Millisecond // for these

	// LeaderboardsPause is the shortest time between two readings.
	LeaderboardsPause = 10 * time.Second
	leaderboardsShare = 20               // the pause is at least this many times as long as the last reading
	leaderboardsIdle  = 10 * time.Minute // between two readings while nobody asks

	// leaderboardDivisor: one set may take this fraction of Go's part of the memory. There are two while one is read.
	leaderboardDivisor = 16
)

// leaderboardBytes is how many bytes one set may take, given Go's part of the memory at the start; 0: no limit. The part grows with the
// live heap, but what an answer has must not depend on that, and what can be left out must not make it grow more.
func leaderboardBytes(part int64) int64 {
	if part == math.MaxInt64 {
		return 0
	}
	return part / leaderboardDivisor
}

// leaderboardSet has the data that leaderboards of one snapshot are ranked from.
type leaderboardSet struct {
	epoch        uint64 // of the snapshot
	lineage      uint64 // of the snapshot
	took         time.Duration
	asOf         time.Time
	asOfText     []byte // as JSON
	leaderboards *serving.Leaderboards
}

// leaderboardSets keeps the newest set.
type leaderboardSets struct {
	newest  atomic.Pointer[leaderboardSet]
	kept    atomic.Bool               // KeepLeaderboards runs
	asked   atomic.Pointer[time.Time] // time of the last request; nil: none
	refused atomic.Pointer[time.Time] // until when leaderboards that were too large are not read again; nil: they never were
	bytes   int64                     // that one set may take; 0: no limit
	reading chan struct{}             // holds a value while somebody reads
	wake    chan struct{}
	// About the last reading by KeepLeaderboards; used only there.
	ended  time.Time
	took   time.Duration
	failed bool
}

func newLeaderboardSets(goMemory int64) *leaderboardSets {
	return &leaderboardSets{bytes: leaderboardBytes(goMemory), reading: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// nudge makes KeepLeaderboards check whether there is anything to do.
func (b *leaderboardSets) nudge() {
	select {
	case b.wake <- struct{}{}:
	default: // it is going to
	}
}

// leaderboardSet returns the newest set. If that is small, or KeepLeaderboards does not run, it is first read for a newer
// snapshot; if this fails, the older set is returned.
func (a *API) leaderboardSet(v *encodedSnapshot) (*leaderboardSet, error) {
	b := a.leaderboards
	now := time.Now()
	b.asked.Store(&now)
	newest := b.newest.Load()
	if newest.follows(v) && (newest.epoch == v.snap.Epoch || b.kept.Load() && !newest.little()) {
		if newest.epoch != v.snap.Epoch {
			b.nudge()
		}
		return newest, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	set, err := a.readLeaderboards(ctx, v)
	if err != nil && newest.follows(v) {
		b.nudge()
		return newest, nil
	}
	return set, err
}

// little reports whether the set is small enough for a request to wait until it is read.
func (set *leaderboardSet) little() bool {
	return set.leaderboards.Len <= littleToRead && set.took <= littleTime
}

// follows reports whether the set may be shown with a snapshot: ids of wallets mean the same in
// both.
func (set *leaderboardSet) follows(v *encodedSnapshot) bool {
	return set != nil && set.lineage == v.snap.Lineage
}

// readLeaderboards reads the set of a snapshot. Only one is read at a time: however many leaderboards are asked for, the other readers of the
// database stay free for other requests.
func (a *API) readLeaderboards(ctx context.Context, v *encodedSnapshot) (*leaderboardSet, error) {
	b := a.leaderboards
	select {
	case b.reading <- struct{}{}:
		defer func() { <-b.reading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("leaderboards: %w", ctx.Err())
	}
	if set := b.newest.Load(); set.follows(v) && set.epoch >= v.snap.Epoch {
		return set, nil
	}
	if until := b.refused.Load(); until != nil && time.Now().Before(*until) {
		return nil, serving.ErrLeaderboardsTooLarge // it takes long to find out, and there is a snapshot every few seconds
	}
	set := &leaderboardSet{epoch: v.snap.Epoch, lineage: v.snap.Lineage, asOf: v.snap.AsOf, asOfText: v.asOf, leaderboards: serving.NewLeaderboards(0, 0)}
	begun := time.Now()
	var err error
	if !set.asOf.IsZero() {
		set.leaderboards, err = a.reader.Leaderboards(ctx, set.asOf.UnixMicro(), v.snap.Batch, b.bytes)
	}
	set.took = time.Since(begun)
	if errors.Is(err, serving.ErrLeaderboardsTooLarge) {
		until := time.Now().Add(max(LeaderboardsPause, leaderboardsShare*set.took))
		b.refused.Store(&until)
		b.newest.Store(nil) // it would be shown for ever
	}
	if err != nil {
		return nil, fmt.Errorf("leaderboards: %w", err)
	}
	b.newest.Store(set)
	return set, nil
}

// KeepLeaderboards reads leaderboards in the background until ctx ends: soon after a snapshot if leaderboards are being asked for, otherwise
// rarely; at least pause apart, and no more than a twentieth of the time. If a reading fails, it is tried
// again, and requests get the last good result.
func (a *API) KeepLeaderboards(ctx context.Context, pause time.Duration, log zerolog.Logger) error {
	a.leaderboards.kept.Store(true)
	defer a.leaderboards.kept.Store(false)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.leaderboards.wake:
		case <-timer.C:
		}
		wait, due := a.leaderboards.due(a.published.Load(), pause)
		if !due { // a request has read it, or there is no snapshot
			a.leaderboardsRead()
			continue
		}
		if wait > 0 {
			timer.Reset(wait)
			continue
		}
		begun := time.Now()
		_, err := a.readLeaderboards(ctx, a.published.Load())
		first := a.leaderboards.note(begun, err)
		a.leaderboardsRead()
		if first && ctx.Err() == nil && !errors.Is(err, data.ErrElsewhere) {
			log.Error().Err(err).Msg("leaderboards_not_read")
		}
		a.leaderboards.nudge()
	}
}

// note records how a reading went, and reports whether it is the first failure in a row.
func (b *leaderboardSets) note(begun time.Time, err error) (first bool) {
	b.ended = time.Now()
	b.took = b.ended.Sub(begun)
	first = err != nil && !b.failed
	b.failed = err != nil
	return first
}

// due reports how long to wait before the set of a snapshot is read; false if it has been read.
func (b *leaderboardSets) due(v *encodedSnapshot, pause time.Duration) (wait time.Duration, due bool) {
	set := b.newest.Load()
	if v == nil || set.follows(v) && set.epoch == v.snap.Epoch {
		return 0, false
	}
	if b.ended.IsZero() {
		return 0, true
	}
	pause = max(pause, leaderboardsShare*b.took)
	if asked := b.asked.Load(); asked == nil || time.Since(*asked) > leaderboardsIdle {
		pause = max(pause, leaderboardsIdle)
	}
	return max(0, time.Until(b.ended.Add(pause))), true
}
