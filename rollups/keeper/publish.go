package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/rollups/serving"
)

const (
	// publishLook is how often it is checked whether anything changed.
	publishLook = 50 * time.Millisecond
	// keysLook is how often it is checked whether a key changed, as often as the gate does.
	keysLook = 250 * time.Millisecond
	// publishRest is the longest pause after a state; normally the pause is as long as publishing it
	// took.
	publishRest = time.Second
	// publishAgain is how long after a failure the next try is made.
	publishAgain = 2 * time.Second
	// publishedStates is how many states are kept, for replicas that are still copying an older
	// one.
	publishedStates = 16
)

// Publish writes every state that is served into a repository, for servers that follow it, until
// ctx ends: as soon as something is committed or a key changes. Only blocks that changed are
// written. The result is not a backup, see backup.CreatePassing.
func (k *Keeper) Publish(ctx context.Context, dir, version string, keys *control.DB) error {
	said := "" // a repeated reason is logged once
	for {
		err := k.publishInto(ctx, dir, version, keys)
		if ctx.Err() != nil {
			return nil
		}
		k.updateFreshness(func(f *serving.Freshness) {
			s := &f.Published
			s.Failed, s.Failing, s.Problem = k.cfg.Now().UTC(), true, err.Error()
		})
		if err.Error() != said {
			said = err.Error()
			k.cfg.Log.Error().Err(err).Msg("changes could not be published")
		}
		if guard.Sleep(ctx, publishAgain) != nil {
			return nil
		}
	}
}

// publishInto is Publish until something fails.
func (k *Keeper) publishInto(ctx context.Context, dir, version string, keys *control.DB) (err error) {
	if err := k.checkBackupDir(dir); err != nil {
		return err
	}
	repo, err := backup.CreatePassing(dir)
	if err != nil {
		return readOnly(dir, err)
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	// What earlier runs left may be why the disk is full. A failure to remove it does not prevent publishing.
	if err := prune(repo); err != nil && !errors.Is(err, backup.ErrNone) {
		k.cfg.Log.Warn().Err(err).Msg("older published states could not be removed")
	}
	p := &publisher{k: k, repo: repo, keys: keys, version: version, at: contentVersion{revision: -1}, seen: backup.NewSeen()}
	if p.writer, err = repo.Begin(); err != nil {
		return err
	}
	for {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		rest := publishLook
		if now != p.at {
			began := time.Now()
			if err := p.publish(ctx, now); err != nil {
				return err
			}
			rest = max(rest, min(time.Since(began), publishRest)) // else imports would wait for one checkpoint after the other
		}
		if err := guard.Sleep(ctx, rest); err != nil {
			return err
		}
	}
}

// contentVersion is what changes are detected by.
type contentVersion struct {
	epoch    uint64 // of the snapshot
	revision int64  // of the keys
}

// publisher publishes.
type publisher struct {
	k       *Keeper
	repo    *backup.Repo
	writer  *backup.Writer
	keys    *control.DB
	version string

	at       contentVersion // that is published
	files    []backup.File  // of the state that is published
	keysFile backup.File
	looked   time.Time // at the keys
	revision int64
	seen     *backup.Seen
	done     int
}

// look returns the current version.
func (p *publisher) look(ctx context.Context) (contentVersion, error) {
	if now := time.Now(); now.Sub(p.looked) >= keysLook {
		p.looked = now
		var err error
		if p.revision, err = p.keys.Revision(ctx); err != nil {
			return contentVersion{}, err
		}
	}
	s := contentVersion{revision: p.revision}
	if snap := p.k.Snapshot(); snap != nil {
		s.epoch = snap.Epoch
	}
	return s, nil
}

// publish publishes the current state, which is now or a later one.
func (p *publisher) publish(ctx context.Context, now contentVersion) error {
	began := time.Now()
	b := &backingUp{k: p.k, repo: p.repo, writer: p.writer}
	b.manifest = backup.Manifest{Pmx: p.version, Writer: p.k.writer()}
	_, before := p.writer.Stored()
	err := p.k.db.Freeze(ctx, func(ctx context.Context, file engine.Frozen) error {
		b.manifest.At = p.k.cfg.Now().UTC() // the checkpoint may have waited for a query
		if err := b.describe(ctx, file.Conn); err != nil {
			return err
		}
		f, err := p.writer.AddChanged(ctx, b.databaseFile(file.Size), file.File, p.seen, func(int64) {})
		b.manifest.Files = append(b.manifest.Files, f)
		b.out.Paused = file.Paused.Seconds()
		return err
	})
	if err != nil {
		return err
	}
	if err := p.addKeys(ctx, b, now.revision); err != nil {
		return err
	}
	if err := b.addSettings(ctx); err != nil {
		return err
	}
	if reflect.DeepEqual(b.manifest.Files, p.files) { // imports after now were in the previous state already
		p.at = now
		return nil
	}
	name, err := p.writer.Publish(b.manifest)
	if err != nil {
		return err
	}
	p.at, p.files = now, b.manifest.Files
	_, after := p.writer.Stored()
	took := time.Since(began).Seconds()
	p.k.updateFreshness(func(f *serving.Freshness) {
		s := &f.Published
		s.Made, s.Failing, s.Problem, s.Bytes, s.Seconds = p.k.cfg.Now().UTC(), false, "", after-before, took
	})
	p.k.cfg.Log.Debug().Int64("number", backup.Number(name)).Int64("new_bytes", after-before).Float64("seconds", took).
		Float64("imports_waited_seconds", b.out.Paused).Msg("published")
	return p.prune()
}

// addKeys adds the current keys; those of a revision that is already published are not copied
// again.
func (p *publisher) addKeys(ctx context.Context, b *backingUp, revision int64) error {
	if p.keysFile.Name == "" || revision != p.at.revision {
		dir, err := os.MkdirTemp(p.k.db.Dir().Tmp(), "publish-*")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path := filepath.Join(dir, filepath.Base(p.k.db.Dir().Control()))
		if err := p.keys.CopyTo(ctx, path); err != nil {
			return err
		}
		text, err := data.ReadRegular(path)
		if err != nil {
			return err
		}
		if err := b.addText(ctx, filepath.Base(path), text); err != nil {
			return err
		}
		p.keysFile = b.manifest.Files[len(b.manifest.Files)-1]
		return nil
	}
	b.manifest.Files = append(b.manifest.Files, p.keysFile)
	return nil
}

// prune removes the oldest states now and then.
func (p *publisher) prune() error {
	if p.done++; p.done%publishedStates != 0 {
		return nil
	}
	if err := prune(p.repo); err != nil {
		return err
	}
	return p.writer.Refresh()
}

// prune removes all but the newest states.
func prune(repo *backup.Repo) error {
	if _, _, err := repo.Prune(publishedStates); err != nil {
		return fmt.Errorf("older states could not be removed: %w", err)
	}
	return nil
}
