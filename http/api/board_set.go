package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/rollups/serving"
)

// Boards that no snapshot ranks are made from all fills of two months, which takes from a second on. So they are read
// beside the requests, now and then, and a request gets those that were read last. Where there is little to read, it gets
// those of its snapshot.
const (
	littleToRead = 50_000                 // rows, and
	littleTime   = 200 * time.Millisecond // for these

	// BoardsPause is how long there is between two readings at least.
	BoardsPause = 10 * time.Second
	boardsShare = 20               // times as long as a reading took
	boardsIdle  = 10 * time.Minute // between two while nobody asks

	// boardParts is how many parts of Go's memory one set may take. There are two while one is read.
	boardParts = 16
)

// boardBytes is what one set may take, given what Go may; 0: any number.
func boardBytes(limit int64) int64 {
	if limit == math.MaxInt64 {
		return 0
	}
	return limit / boardParts
}

// boardSet is what boards of one snapshot are ranked from.
type boardSet struct {
	epoch    uint64 // of the snapshot
	lineage  uint64 // of the snapshot
	took     time.Duration
	asOf     time.Time
	asOfText []byte // as JSON
	boards   *serving.Boards
}

// boardSets keeps the newest set.
type boardSets struct {
	newest  atomic.Pointer[boardSet]
	kept    atomic.Bool   // KeepBoards runs
	asked   atomic.Int64  // when somebody asked last, wall clock in unix ns
	refused atomic.Uint64 // one more than the epoch of which boards are too large; 0: none
	reading chan struct{} // has room for one who reads
	wake    chan struct{}
	// Of the last reading by KeepBoards, which alone looks at them.
	ended  time.Time
	took   time.Duration
	failed bool
}

func newBoardSets() *boardSets {
	return &boardSets{reading: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// nudge has KeepBoards look whether there is anything to do.
func (b *boardSets) nudge() {
	select {
	case b.wake <- struct{}{}:
	default: // it will
	}
}

// boardSet gives the newest set. Where it is small, or nobody keeps them, it is read for a newer snapshot; where that
// fails, it is given as it is.
func (a *API) boardSet(v *encodedSnapshot) (*boardSet, error) {
	b := a.boards
	b.asked.Store(time.Now().UnixNano())
	newest := b.newest.Load()
	if newest.follows(v) && (newest.epoch == v.snap.Epoch || b.kept.Load() && !newest.little()) {
		if newest.epoch != v.snap.Epoch {
			b.nudge()
		}
		return newest, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	set, err := a.readBoards(ctx, v)
	if err != nil && newest.follows(v) {
		b.nudge()
		return newest, nil
	}
	return set, err
}

// little tells whether a request may wait for such a set.
func (set *boardSet) little() bool {
	return set.boards.Len <= littleToRead && set.took <= littleTime
}

// follows tells whether a set may be shown with a snapshot: it names the same wallets.
func (set *boardSet) follows(v *encodedSnapshot) bool {
	return set != nil && set.lineage == v.snap.Lineage
}

// readBoards reads the set of a snapshot, one at a time: however many ask, the other readers of the database are left to
// other answers.
func (a *API) readBoards(ctx context.Context, v *encodedSnapshot) (*boardSet, error) {
	b := a.boards
	select {
	case b.reading <- struct{}{}:
		defer func() { <-b.reading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("boards: %w", ctx.Err())
	}
	if set := b.newest.Load(); set.follows(v) && set.epoch >= v.snap.Epoch {
		return set, nil
	}
	if b.refused.Load() == v.snap.Epoch+1 {
		return nil, serving.ErrBoardsTooLarge // it takes long to find out
	}
	set := &boardSet{epoch: v.snap.Epoch, lineage: v.snap.Lineage, asOf: v.snap.AsOf, asOfText: v.asOf, boards: serving.NewBoards(0, 0)}
	begun := time.Now()
	var err error
	if !set.asOf.IsZero() {
		set.boards, err = a.reader.Boards(ctx, set.asOf.UnixMicro(), v.snap.Batch, boardBytes(debug.SetMemoryLimit(-1)))
	}
	set.took = time.Since(begun)
	if errors.Is(err, serving.ErrBoardsTooLarge) {
		b.refused.Store(v.snap.Epoch + 1)
	}
	if err != nil {
		return nil, fmt.Errorf("boards: %w", err)
	}
	b.newest.Store(set)
	return set, nil
}

// KeepBoards reads boards beside the requests until ctx ends: soon after a snapshot where somebody asks for them, else
// now and then, at least pause apart, and so that it takes a twentieth of the time. Where they cannot be read, it is tried
// again, and requests get those that were read last.
func (a *API) KeepBoards(ctx context.Context, pause time.Duration, log zerolog.Logger) error {
	a.boards.kept.Store(true)
	defer a.boards.kept.Store(false)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.boards.wake:
		case <-timer.C:
		}
		wait, due := a.boards.due(a.published.Load(), pause)
		if !due {
			continue
		}
		if wait > 0 {
			timer.Reset(wait)
			continue
		}
		begun := time.Now()
		_, err := a.readBoards(ctx, a.published.Load())
		first := a.boards.note(begun, err)
		if first && ctx.Err() == nil && !errors.Is(err, data.ErrElsewhere) {
			log.Error().Err(err).Msg("boards_not_read")
		}
		a.boards.nudge()
	}
}

// note keeps how a reading went, and tells whether it is the first that failed.
func (b *boardSets) note(begun time.Time, err error) (first bool) {
	b.ended = time.Now()
	b.took = b.ended.Sub(begun)
	first = err != nil && !b.failed
	b.failed = err != nil
	return first
}

// due tells how long it is until the set of a snapshot is to be read; false where it is there.
func (b *boardSets) due(v *encodedSnapshot, pause time.Duration) (wait time.Duration, due bool) {
	set := b.newest.Load()
	if v == nil || set.follows(v) && set.epoch == v.snap.Epoch {
		return 0, false
	}
	if b.ended.IsZero() {
		return 0, true
	}
	pause = max(pause, boardsShare*b.took)
	if time.Since(time.Unix(0, b.asked.Load())) > boardsIdle {
		pause = max(pause, boardsIdle)
	}
	return max(0, time.Until(b.ended.Add(pause))), true
}
