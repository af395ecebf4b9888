package keeper

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

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
	specs := []string{s.Refresh, s.Verify}
	for _, chore := range s.Chores {
		specs = append(specs, chore.When)
	}
	for _, spec := range specs {
		if spec == "" {
			continue
		}
		if _, err := cron.ParseStandard(spec); err != nil {
			return fmt.Errorf("schedule %q: %w: use five fields, such as \"15 3 * * *\", or \"@every 30s\"", spec, err)
		}
	}
	return nil
}

// compactFor is how long a refresh may spend on compaction before it makes room
// for imports; the next one goes on.
const compactFor = 2 * time.Second

// Run does the background work until ctx ends. A tick only signals the one
// runner, so that cycles never overlap; a cycle that fails is logged and shown
// in the health, and the previous snapshot stays.
func (k *Keeper) Run(ctx context.Context, s Schedule) error {
	c := cron.New(cron.WithLocation(time.UTC))
	refresh, verify := make(chan struct{}, 1), make(chan struct{}, 1)
	var refreshID cron.EntryID
	for _, job := range []struct {
		spec   string
		signal chan struct{}
		id     *cron.EntryID
	}{{s.Refresh, refresh, &refreshID}, {s.Verify, verify, new(cron.EntryID)}} {
		if job.spec == "" {
			continue
		}
		id, err := c.AddFunc(job.spec, func() {
			select {
			case job.signal <- struct{}{}:
			default: // one is waiting already
			}
		})
		if err != nil {
			return fmt.Errorf("schedule %q: %w", job.spec, err)
		}
		*job.id = id
	}
	alone := cron.NewChain(cron.SkipIfStillRunning(cron.DiscardLogger))
	for _, chore := range s.Chores {
		if chore.When == "" {
			continue
		}
		_, err := c.AddJob(chore.When, alone.Then(cron.FuncJob(func() { k.guarded(ctx, chore.Name, chore.Do) })))
		if err != nil {
			return fmt.Errorf("schedule %q: %w", chore.When, err)
		}
	}
	c.Start()
	next := func() { k.note(func(f *serving.Freshness) { f.NextCycle = c.Entry(refreshID).Next }) }
	next()
	var runner sync.WaitGroup
	k.cfg.Watch.Begin(&runner, "schedule", func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-refresh:
				k.guarded(ctx, "refresh", k.Cycle)
				next()
			case <-verify:
				k.guarded(ctx, "verify", k.verifyNightly)
			}
		}
	})
	<-ctx.Done()
	<-c.Stop().Done()
	runner.Wait()
	return nil
}

// guarded does work of the schedule, and logs how it failed.
func (k *Keeper) guarded(ctx context.Context, name string, do func(context.Context) error) {
	k.logged(name, k.cfg.Watch.Do(name, func() error { return do(ctx) }))
}

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
	k.busy.Lock()
	defer k.busy.Unlock()
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
		if err != nil || !e.Type().IsRegular() || e.Name()[0] == '.' || k.cfg.Now().Sub(info.ModTime()) < settled {
			continue
		}
		if err := k.takeFile(ctx, dir, e.Name()); err != nil {
			return fmt.Errorf("inbox: %w", err)
		}
	}
	return nil
}

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
	if err := os.MkdirAll(filepath.Join(dir, where), 0o755); err != nil {
		return err
	}
	target := filepath.Join(dir, where, fmt.Sprintf("%s-%s", k.cfg.Now().UTC().Format("20060102T150405"), name))
	if err := os.Rename(path, target); err != nil {
		return err
	}
	if note == "" {
		k.cfg.Log.Info().Str("file", name).Int64("inserted", res.Receipts[0].Inserted).
			Int64("rejected", res.Receipts[0].RejectedRows()).Msg("inbox file imported")
		return nil
	}
	k.cfg.Log.Error().Str("file", name).Str("reason", note).Msg("inbox file refused")
	return os.WriteFile(target+".error.txt", []byte(note+"\n"), 0o644)
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
