package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/serving"
)

// Schedule is when background work is done, in cron syntax ("@every 30s" and
// five fields, UTC). An empty entry is never.
type Schedule struct {
	Refresh string // take the inbox in, rebuild what is stale, compact, checkpoint
	Verify  string // prove the whole database and log what fails
	Chores  []Chore
}

// Chore is work of another part that has its times from the same schedule. It runs
// beside the keeper's own work and never twice at once.
type Chore struct {
	Name string
	When string
	Do   func(context.Context) error
}

// Check tells whether every entry can be understood.
func (s Schedule) Check() error {
	all := append([]Chore{{When: s.Refresh}, {When: s.Verify}}, s.Chores...)
	for _, chore := range all {
		if chore.When == "" {
			continue
		}
		if _, err := newTurn(chore.Name, chore.When, chore.Do); err != nil {
			return err
		}
	}
	return nil
}

// compactFor is how long a refresh may spend on compaction before it makes room
// for imports; the next one goes on.
const compactFor = 2 * time.Second

func (k *Keeper) logged(what string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, engine.ErrDiskFull) { // noteRoom said that one
		k.cfg.Log.Error().Err(err).Str("job", what).Msg("background work failed")
	}
}

// Cycle is one turn of the background work.
func (k *Keeper) Cycle(ctx context.Context) error {
	if err := k.db.Room(); err != nil {
		return k.cycleDone(err)
	}
	if err := k.takeInbox(ctx); err != nil {
		return k.cycleDone(err)
	}
	if err := k.busy.Enter(ctx); err != nil {
		return err
	}
	defer k.busy.Leave()
	if err := k.refresh(ctx, nil); err != nil {
		return k.cycleDone(err)
	}
	err := k.compact(ctx)
	if k.runs != nil {
		k.writeRuns()
		err = errors.Join(err, k.rewarm(ctx))
	}
	return k.cycleDone(err)
}

// rewarm loads what merging keeps in memory where an import had to drop it.
func (k *Keeper) rewarm(ctx context.Context) error {
	return k.db.Write(ctx, func(conn *sql.Conn) error {
		if k.merger.Warmed() {
			return nil
		}
		return k.merger.Warm(ctx, conn)
	})
}

// compact folds tails in bounded steps, and checkpoints after any.
func (k *Keeper) compact(ctx context.Context) error {
	deadline := time.Now().Add(compactFor)
	folded := false
	for time.Now().Before(deadline) {
		worked := false
		err := k.db.Write(ctx, func(conn *sql.Conn) error {
			var err error
			worked, err = rollups.Compact(ctx, conn)
			return err
		})
		if err != nil {
			return err
		}
		if !worked {
			break
		}
		folded = true
	}
	if !folded {
		return nil
	}
	return k.db.Checkpoint(ctx)
}

// settled is how long a file in the inbox must be unchanged before it is taken,
// so that a copy under way is not.
const settled = 2 * time.Second

// takeInbox imports what was dropped into the inbox and moves it to inbox/done
// or inbox/failed, where a note says why.
func (k *Keeper) takeInbox(ctx context.Context) error {
	dir := k.db.Dir().Inbox()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() || e.Name()[0] == '.' || !k.arrived.settled(info, k.cfg.Now()) {
			continue
		}
		if err := k.takeFile(ctx, dir, e.Name()); err != nil {
			return fmt.Errorf("inbox: %w", err)
		}
	}
	return nil
}

// arrivals remembers files of the inbox whose time lies ahead: the clock was set back
// since they were written, and by their age alone they would wait as long.
type arrivals struct{ seen map[string]arrival }

type arrival struct {
	size  int64
	mod   time.Time
	since time.Time // with the monotonic clock
}

// settled tells whether nothing was written to a file for a while.
func (a *arrivals) settled(info os.FileInfo, now time.Time) bool {
	age := now.Sub(info.ModTime())
	if age >= 0 {
		delete(a.seen, info.Name())
		return age >= settled
	}
	was, known := a.seen[info.Name()]
	if !known || was.size != info.Size() || !was.mod.Equal(info.ModTime()) {
		if a.seen == nil || len(a.seen) > maxArrivals {
			a.seen = map[string]arrival{}
		}
		a.seen[info.Name()] = arrival{info.Size(), info.ModTime(), time.Now()}
		return false
	}
	return time.Since(was.since) >= settled
}

// maxArrivals bounds what is remembered; what was forgotten is seen again.
const maxArrivals = 10_000

func (k *Keeper) takeFile(ctx context.Context, dir, name string) error {
	path := filepath.Join(dir, name)
	res, err := k.Import(ctx, Request{Paths: []string{path}, OnError: ingest.RejectRow}, nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	where, note := "done", ""
	if err != nil {
		where, note = "failed", err.Error()
	} else if len(res.Failed) > 0 {
		where, note = "failed", res.Failed[0].Error
	}
	if full := k.db.Room(); full != nil && note != "" {
		return full // it stays where it is until there is room
	}
	if err := os.MkdirAll(filepath.Join(dir, where), 0o700); err != nil {
		return err
	}
	target := filepath.Join(dir, where, fmt.Sprintf("%s-%s", k.cfg.Now().UTC().Format("20060102T150405"), name))
	if err := os.Rename(path, target); err != nil {
		return err
	}
	if err := os.Chmod(target, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) { // of another user
		return err
	}
	if note == "" {
		k.cfg.Log.Info().Str("file", name).Int64("inserted", res.Receipts[0].Inserted).
			Int64("rejected", res.Receipts[0].RejectedRows()).Msg("inbox file imported")
		return nil
	}
	k.cfg.Log.Error().Str("file", name).Str("reason", note).Msg("inbox file refused")
	return os.WriteFile(target+".error.txt", []byte(note+"\n"), 0o600)
}

func (k *Keeper) verifyNightly(ctx context.Context) error {
	checks, err := k.Verify(ctx, nil)
	if err != nil {
		return err
	}
	var failed error
	for _, c := range checks {
		if !c.OK {
			failed = errors.Join(failed, fmt.Errorf("%s: %d of %d rows: %s", c.Name, c.Bad, c.Rows, c.Detail))
		}
	}
	k.note(func(f *serving.Freshness) { f.LastVerified, f.VerifyFailure = k.cfg.Now().UTC(), errText(failed) })
	return failed
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
