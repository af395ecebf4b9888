package keeper

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/backup"
	"pmx/engine/control"
	"pmx/engine/guard"
	"pmx/engine/statement"
	"pmx/rollups/serving"
)

//go:embed sql/*.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// BackupFiles are the files of a data directory that a backup contains besides the database: keys,
// and the operator's lists that figures depend on. Everything else is derived from these.
var BackupFiles = []string{"control.db", "cities.csv", "stations.csv", "venue_wallets.txt"}

// BackupRequest says where to back up to.
type BackupRequest struct {
	Dir  string `json:"dir"`  // absolute
	Keep int    `json:"keep"` // how many backups to keep, including this one; 0: all
	Pmx  string `json:"-"`    // the version of the program
	When string `json:"-"`    // the cron entry of scheduled backups; empty: a command asked for it
}

// BackupResult describes a finished backup.
type BackupResult struct {
	Number    int64     `json:"number"`
	At        time.Time `json:"at"`             // time of its state
	AsOf      time.Time `json:"as_of,omitzero"` // the newest fill
	Fills     int64     `json:"fills"`
	Bytes     int64     `json:"bytes"`      // size of the files that are backed up
	NewBlocks int64     `json:"new_blocks"` // blocks that were not there before
	NewBytes  int64     `json:"new_bytes"`  // size of these on the disk
	Removed   int       `json:"removed"`    // old backups that were removed
	Seconds   float64   `json:"seconds"`
	Paused    float64   `json:"paused_seconds"` // for how long imports waited
}

// Backup adds a backup of the venue to a repository. Readers do not wait, and imports wait no
// longer than a checkpoint takes. done is called with the share that is done, by several goroutines
// at once; may be nil.
func (k *Keeper) Backup(ctx context.Context, req BackupRequest, done func(share float64)) (BackupResult, error) {
	var out BackupResult
	err := guard.Do(func() (err error) {
		out, err = k.backUp(ctx, req, done)
		return err
	})
	if errors.Is(err, context.Canceled) { // somebody stopped it
		return out, err
	}
	now := k.cfg.Now().UTC()
	k.updateFreshness(func(f *serving.Freshness) {
		s := &f.Asked
		if req.When != "" {
			s = &f.Scheduled
		}
		s.Failing, s.Problem = err != nil, ""
		if s.Failing {
			s.Failed, s.Problem = now, err.Error()
		}
		if out.Number > 0 {
			s.Made, s.Bytes, s.Seconds = now, out.NewBytes, out.Seconds
		}
		if out.Number > 0 && req.When != "" {
			f.BackupDue = nextTime(req.When, now)
		}
	})
	if err == nil {
		k.cfg.Log.Info().Int64("number", out.Number).Int64("new_blocks", out.NewBlocks).Int64("new_bytes", out.NewBytes).Int("removed", out.Removed).
			Float64("seconds", out.Seconds).Float64("imports_waited_seconds", out.Paused).Msg("backup_made")
	}
	return out, err
}

// ExpectBackups says that a cron entry makes backups into dir, so that overdue ones are noticed.
// Backups by an earlier process count.
func (k *Keeper) ExpectBackups(dir, when string) {
	made, known := backup.Newest(dir)
	from := k.cfg.Now()
	if known && made.Before(from) { // it was dated by a clock that was ahead
		from = made
	}
	k.updateFreshness(func(f *serving.Freshness) { f.Scheduled.Made, f.BackupDue = made, nextTime(when, from) })
}

func (k *Keeper) backUp(ctx context.Context, req BackupRequest, done func(share float64)) (BackupResult, error) {
	began := time.Now()
	if err := k.checkBackupDir(req.Dir); err != nil {
		return BackupResult{}, err
	}
	repo, err := backup.Create(req.Dir)
	if err != nil {
		return BackupResult{}, readOnly(req.Dir, err)
	}
	defer func() { _ = repo.Close() }()
	b := &backingUp{k: k, repo: repo, done: done}
	b.manifest.Pmx, b.manifest.Writer = req.Pmx, k.writer()
	if err := b.run(ctx); err != nil {
		return BackupResult{}, err
	}
	err = b.tidy(req.Keep)
	b.out.Seconds = time.Since(began).Seconds()
	return b.out, err
}

// writer identifies who makes a backup, for replicas.
func (k *Keeper) writer() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	return host + ":" + string(k.db.Dir())
}

// checkBackupDir refuses a folder in which a backup would be lost together with the data.
func (k *Keeper) checkBackupDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("the backup folder %q is not an absolute path", dir)
	}
	return backup.Apart(string(k.db.Dir()), dir)
}

// readOnly says how to make a folder writable.
func readOnly(dir string, err error) error {
	if !errors.Is(err, syscall.EROFS) {
		return err
	}
	return fmt.Errorf("%w: if the disk is writable, it is systemd that forbids it: add ReadWritePaths=%s below [Service] with systemctl edit pmx", err, dir)
}

// backingUp is one backup under way.
type backingUp struct {
	k        *Keeper
	repo     *backup.Repo
	writer   *backup.Writer
	manifest backup.Manifest
	out      BackupResult
	done     func(share float64)
	seen     *backup.Seen // of the database
}

func (b *backingUp) run(ctx context.Context) (err error) {
	if b.writer, err = b.repo.Begin(); err != nil {
		return err
	}
	defer func() {
		if b.out.Number == 0 {
			err = errors.Join(err, b.writer.Tidy())
		}
	}()
	if err := b.readAhead(ctx); err != nil {
		return fmt.Errorf("the backup was not made: %w", err)
	}
	keys, err := b.copyKeys(ctx)
	if err != nil {
		return err
	}
	if err := b.k.db.Freeze(ctx, b.database); err != nil {
		return fmt.Errorf("the backup was not made: %w", err)
	}
	if keys != nil {
		if err := b.addText(ctx, filepath.Base(b.k.db.Dir().Control()), keys); err != nil {
			return err
		}
	}
	if err := b.addSettings(ctx); err != nil {
		return err
	}
	name, err := b.writer.Publish(b.manifest)
	if err != nil {
		return err
	}
	b.out.Number, b.out.AsOf, b.out.Fills, b.out.Bytes = backup.Number(name), b.manifest.AsOf, b.manifest.Fills, b.manifest.Size()
	return nil
}

// tidy removes what is useless now that the backup is made: unneeded blocks read ahead, and old backups. keep is
// BackupRequest.Keep.
func (b *backingUp) tidy(keep int) error {
	err := b.writer.Tidy()
	if err != nil {
		err = fmt.Errorf("backup %d was made, but blocks that were read ahead could not be removed: %w", b.out.Number, err)
	}
	b.out.NewBlocks, b.out.NewBytes = b.writer.Stored()
	if keep == 0 {
		return err
	}
	removed, _, failed := b.repo.Prune(keep)
	if b.out.Removed = removed; failed != nil {
		err = errors.Join(err, fmt.Errorf("backup %d was made, but older ones could not be removed: %w", b.out.Number, failed))
	}
	return err
}

// addText adds a small file.
func (b *backingUp) addText(ctx context.Context, name string, text []byte) error {
	return b.add(ctx, backup.File{Name: name, Size: int64(len(text))}, bytes.NewReader(text), func(int64) {})
}

// addSettings adds the operator's files next to the database, if any.
func (b *backingUp) addSettings(ctx context.Context) error {
	for _, name := range BackupFiles {
		if name == filepath.Base(b.k.db.Dir().Control()) {
			continue // control.db: it is copied as one consistent state
		}
		text, err := data.ReadRegular(filepath.Join(string(b.k.db.Dir()), name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = b.addText(ctx, name, text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyKeys returns control.db as one consistent state; nil if there is none yet.
func (b *backingUp) copyKeys(ctx context.Context) (text []byte, err error) {
	path := b.k.db.Dir().Control()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	dir, err := os.MkdirTemp(b.k.db.Dir().Tmp(), "backup-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys, err := control.Open(ctx, path, b.k.cfg.Now)
	if err != nil {
		return nil, err
	}
	to := filepath.Join(dir, filepath.Base(path))
	if err := errors.Join(keys.CopyTo(ctx, to), keys.Close()); err != nil {
		return nil, err
	}
	return data.ReadRegular(to)
}

// aheadShare is the share of a backup's work that is done before the database is frozen.
const aheadShare = 0.9

// databaseFile is the database as a file of a backup.
func (b *backingUp) databaseFile(size int64) backup.File {
	return backup.File{Name: filepath.Base(b.k.db.Dir().Database()), Size: size, Head: engine.FileHead}
}

// share reports the progress of a part of the work in bytes: the part begins at one share of the
// whole and takes another.
func (b *backingUp) share(begins, has float64, size int64) func(int64) {
	var read atomic.Int64
	return func(n int64) {
		if all := read.Add(n); b.done != nil && size > 0 {
			b.done(begins + has*(float64(all)/float64(size))) // all of it gives begins + has, not a bit more
		}
	}
}

// readAhead stores the current blocks of the database file while it is being written to. Then it has to be frozen only for
// finding what changed since, which shortens the wait of the next checkpoint and of others that need a frozen file.
func (b *backingUp) readAhead(ctx context.Context) error {
	b.seen = backup.NewSeen()
	file, size, err := b.k.db.Unfrozen(ctx)
	if err != nil {
		return err
	}
	return b.writer.AddAhead(ctx, b.databaseFile(size), file, b.seen, b.share(0, aheadShare, size))
}

// database backs up the frozen database.
func (b *backingUp) database(ctx context.Context, file engine.Frozen) error {
	b.out.Paused = file.Paused.Seconds()
	b.manifest.At = b.k.cfg.Now().UTC().Truncate(time.Second)
	b.out.At = b.manifest.At
	if err := b.describe(ctx, file.Conn); err != nil {
		return err
	}
	f, err := b.writer.AddChanged(ctx, b.databaseFile(file.Size), file.File, b.seen, b.share(aheadShare, 1-aheadShare, file.Size))
	b.manifest.Files = append(b.manifest.Files, f)
	return err
}

func (b *backingUp) add(ctx context.Context, f backup.File, from io.ReaderAt, done func(int64)) error {
	f, err := b.writer.Add(ctx, f, from, done)
	b.manifest.Files = append(b.manifest.Files, f)
	return err
}

// describe notes what is in the database.
func (b *backingUp) describe(ctx context.Context, conn *sql.Conn) error {
	m := &b.manifest
	var err error
	m.Fills, m.Batch, m.AsOf, err = contents(ctx, conn)
	if err != nil {
		return err
	}
	return conn.QueryRowContext(ctx, statements.Get("BackupVersions")).Scan(&m.DuckDB, &m.Schema)
}

// contents counts the facts, or, in a database that was pulled, those of the lake that its rollups were computed from.
func contents(ctx context.Context, conn *sql.Conn) (fills, batch int64, asOf time.Time, err error) {
	var ts int64
	err = conn.QueryRowContext(ctx, statements.Get("BackupContents")).Scan(&fills, &batch, &ts)
	return fills, batch, stamp(ts), err
}

// CheckRestored reports whether the venue holds what a backup's manifest says.
func (k *Keeper) CheckRestored(ctx context.Context, m *backup.Manifest) error {
	return k.db.Read(ctx, func(conn *sql.Conn) error {
		fills, batch, asOf, err := contents(ctx, conn)
		if err != nil {
			return err
		}
		if fills != m.Fills || batch != m.Batch || !asOf.Equal(m.AsOf) {
			return fmt.Errorf("it has %d fills up to %s and import %d, but the backup should have %d up to %s and %d", fills, asOf, batch, m.Fills, m.AsOf, m.Batch)
		}
		return nil
	})
}
