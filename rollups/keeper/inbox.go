package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pmx/engine"
	"pmx/engine/ingest"
)

// settleTime is how long a file in the inbox must be unchanged before it is imported, so that a
// copy under way is not.
const settleTime = 2 * time.Second

// takeInbox imports files that were put into the inbox, and moves them to inbox/done, or to
// inbox/failed with a note that says why. A file that fails does not affect the others.
func (k *Keeper) takeInbox(ctx context.Context) (failed error) {
	dir := k.db.Dir().Inbox()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.Type().IsRegular() || e.Name()[0] == '.' || !k.arrivals.settled(info, k.cfg.Now()) {
			continue
		}
		if err := k.takeFile(ctx, dir, info); err != nil {
			failed = errors.Join(failed, fmt.Errorf("inbox: %w", err))
		}
		if ctx.Err() != nil || errors.Is(failed, engine.ErrDiskFull) {
			break
		}
	}
	return failed
}

// arrivals remembers files of the inbox whose modification time is in the future: the clock was set
// back since they were written, and by age alone they would have to wait that long. It also
// remembers files that were imported and could not be moved.
type arrivals struct {
	seen  map[string]arrival
	stuck map[string]outcome
}

// outcome is the result for a file of the inbox.
type outcome struct {
	info  os.FileInfo
	where string // the folder it is moved to
	note  string // why it was refused
}

// came returns the outcome of a file that was imported and has not changed since.
func (a *arrivals) came(info os.FileInfo) (outcome, bool) {
	was, known := a.stuck[info.Name()]
	same := known && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) && os.SameFile(was.info, info)
	return was, same
}

// stick remembers the outcome of a file that could not be moved.
func (a *arrivals) stick(o outcome) {
	if a.stuck == nil || len(a.stuck) > maxArrivals {
		a.stuck = map[string]outcome{}
	}
	a.stuck[o.info.Name()] = o
}

type arrival struct {
	size  int64
	mod   time.Time
	since time.Time // with the monotonic clock
}

// settled reports whether nothing was written to a file for a while.
func (a *arrivals) settled(info os.FileInfo, now time.Time) bool {
	age := now.Sub(info.ModTime())
	if age >= 0 {
		delete(a.seen, info.Name())
		return age >= settleTime
	}
	was, known := a.seen[info.Name()]
	if !known || was.size != info.Size() || !was.mod.Equal(info.ModTime()) {
		if a.seen == nil || len(a.seen) > maxArrivals {
			a.seen = map[string]arrival{}
		}
		a.seen[info.Name()] = arrival{info.Size(), info.ModTime(), time.Now()}
		return false
	}
	return time.Since(was.since) >= settleTime
}

// maxArrivals bounds what is remembered; a forgotten file is noticed again.
const maxArrivals = 10_000

func (k *Keeper) takeFile(ctx context.Context, dir string, info os.FileInfo) error {
	o, imported := k.arrivals.came(info)
	if !imported {
		var err error
		if o, err = k.importFile(ctx, dir, info); err != nil {
			return err
		}
	}
	if err := k.putAway(dir, o); err != nil {
		k.arrivals.stick(o)
		return err
	}
	delete(k.arrivals.stuck, info.Name())
	return nil
}

// importFile imports a file of the inbox.
func (k *Keeper) importFile(ctx context.Context, dir string, info os.FileInfo) (outcome, error) {
	o, name := outcome{info: info, where: "done"}, info.Name()
	res, err := k.Import(ctx, Request{Paths: []string{filepath.Join(dir, name)}, OnError: ingest.RejectRow, inbox: true}, nil)
	if ctx.Err() != nil {
		return o, ctx.Err()
	}
	if err != nil {
		o.where, o.note = "failed", err.Error()
	} else if len(res.Failed) > 0 {
		o.where, o.note = "failed", res.Failed[0].Error
	}
	if full := k.db.CheckSpace(); full != nil && o.note != "" {
		return o, full // it stays where it is until there is room
	}
	if o.note != "" {
		k.cfg.Log.Error().Str("file", name).Str("reason", o.note).Msg("inbox file refused")
		return o, nil
	}
	return o, nil
}

// putAway moves an imported file of the inbox; its new name is the time and its name, shortened if
// too long.
func (k *Keeper) putAway(dir string, o outcome) error {
	if err := os.MkdirAll(filepath.Join(dir, o.where), 0o700); err != nil {
		return err
	}
	target := filepath.Join(dir, o.where, k.cfg.Now().UTC().Format("20060102T150405")+"-"+engine.ShortName(o.info.Name()))
	if err := os.Rename(filepath.Join(dir, o.info.Name()), target); err != nil {
		return err
	}
	if o.note != "" {
		if err := os.WriteFile(target+".error.txt", []byte(o.note+"\n"), 0o600); err != nil {
			k.logged("inbox", err) // the file was moved: there is nothing to retry
		}
	}
	if err := os.Chmod(target, 0o600); err != nil && !errors.Is(err, fs.ErrPermission) { // it may belong to another user
		k.logged("inbox", err)
	}
	return nil
}
