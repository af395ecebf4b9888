package keeper

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/engine"
	"pmx/rollups"
)

// imageFrom is from how many wallets and tokens on an image is written: with fewer, a start takes little time without one.
var imageFrom = 100_000

// program identifies this program by the contents of its file.
var program = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err == nil && runtime.GOOS == "linux" {
		path = "/proc/self/exe" // this program, even if its file was replaced since it was started
	}
	if err != nil {
		return "", err
	}
	f, err := data.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	sum := xxhash.New()
	size, err := io.Copy(sum, f)
	return fmt.Sprintf("%d bytes %016x", size, sum.Sum64()), err
})

// imageKey is the key of an image that belongs to a mark in the database.
func (k *Keeper) imageKey(mark []byte) ([]byte, error) {
	is, err := program()
	return fmt.Appendf(nil, "program %s mark %x %s", is, mark, k.live.ImageSettings()), err
}

// loadFirst is load for the first snapshot: from the image that the last server left, if it is of exactly this state.
func (k *Keeper) loadFirst(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		_, _ = program() // now, since its file may be replaced later; an error comes again when an image is read or written
	}
	began := time.Now()
	size, err := k.loadImage(ctx)
	if err == nil {
		k.cfg.Log.Info().Int64("bytes", size).Float64("seconds", time.Since(began).Seconds()).Msg("what the last server had in memory was read from its image")
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	if !errors.Is(err, errNoImage) {
		engine.ReturnMemory() // what was read of an image
	}
	began = time.Now()
	err, reason := k.load(ctx), err
	if err == nil {
		k.cfg.Log.Info().AnErr("reason", reason).Float64("seconds", time.Since(began).Seconds()).Msg("everything was read from the database, without an image")
	}
	return err
}

// Reasons not to read an image.
var (
	errNoImage = errors.New("there is no image")
	errNoMark  = errors.New("the database was opened or changed since the image was written")
)

// loadImage reads the image, once it has removed it: it would be of no use to another start. What it takes on the disk is given back in the
// background, since the system needs a tenth of a second for every 500 MB.
func (k *Keeper) loadImage(ctx context.Context) (size int64, err error) {
	path := k.db.Dir().Image()
	f, err := data.OpenRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, errNoImage
	}
	if err = errors.Join(err, remove(path)); f != nil {
		defer k.cfg.Watch.Begin(&k.background, "free the image", func() { _ = f.Close() })
	}
	if err != nil {
		return 0, err
	}
	mark := k.db.Mark()
	if mark == nil {
		return 0, errNoMark
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	key, err := k.imageKey(mark)
	if err != nil {
		return 0, err
	}
	return info.Size(), k.db.Write(ctx, func(conn *sql.Conn) error {
		if err := k.noteImports(ctx, conn); err != nil {
			return err
		}
		return k.live.ReadImage(ctx, conn, f, info.Size(), key)
	})
}

// remove removes a file that may be missing.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// imageTime is how long an image may take: a stop must not take longer than what started the server waits for it.
const imageTime = 30 * time.Second

// syncEach is after how many bytes a file is synced, so that its end does not wait for all of it.
const syncEach = 64 << 20

// limitedWriter writes to a file, and to the disk, and gives an error after a time.
type limitedWriter struct {
	f      *os.File
	until  time.Time
	behind int // bytes that are not synced
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	if w.behind >= syncEach {
		if err := w.f.Sync(); err != nil {
			return 0, err
		}
		w.behind = 0
	}
	if time.Now().After(w.until) {
		return 0, fmt.Errorf("it was not written within %v", imageTime)
	}
	n, err := w.f.Write(b)
	w.behind += n
	return n, err
}

// leaveImage writes what is kept in memory for the next start, as the last thing before the database is closed. Without it, the
// next start reads everything from the database.
func (k *Keeper) leaveImage(ctx context.Context) {
	if k.live == nil || k.replica || k.snapshotBehind {
		return
	}
	if wallets, tokens := k.live.Known(); wallets+tokens < imageFrom {
		return
	}
	began := time.Now()
	// A checkpoint comes first: it may need the room, and if the process is ended meanwhile, the next start has no log to read.
	size, err := int64(0), k.db.Checkpoint(ctx)
	if err == nil {
		size, err = k.writeImage(ctx)
	}
	if errors.Is(err, rollups.ErrNotCurrent) {
		k.cfg.Log.Info().Err(err).Msg("no image was written: the rollups are to be rebuilt first")
		return
	}
	if err != nil {
		k.cfg.Log.Warn().Err(err).Msg("no image was written: the next start reads everything from the database")
		return
	}
	k.cfg.Log.Info().Int64("bytes", size).Float64("seconds", time.Since(began).Seconds()).Msg("what is in memory was written to an image for the next start")
}

func (k *Keeper) writeImage(ctx context.Context) (size int64, err error) {
	if err := k.db.CheckSpace(); err != nil {
		return 0, err
	}
	if err := k.db.Write(ctx, func(conn *sql.Conn) error { return k.live.Current(ctx, conn) }); err != nil {
		return 0, err
	}
	mark := make([]byte, 16)
	_, _ = rand.Read(mark) // never fails
	key, err := k.imageKey(mark)
	if err != nil {
		return 0, err
	}
	dir := k.db.Dir()
	path := filepath.Join(dir.Tmp(), filepath.Base(dir.Image()))
	defer func() {
		if err != nil {
			err = errors.Join(err, remove(path), remove(dir.Image()))
		}
	}()
	f, err := data.CreateRegular(path)
	if err != nil {
		return 0, err
	}
	err = k.live.WriteImage(&limitedWriter{f: f, until: time.Now().Add(imageTime)}, key) // nobody is served any more, so its priority is the usual one
	info, stat := f.Stat()
	if err = errors.Join(err, stat, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	if err := k.db.CheckSpace(); err != nil { // still, with the image
		return 0, err
	}
	if err := errors.Join(os.Rename(path, dir.Image()), data.SyncFolder(string(dir))); err != nil {
		return 0, err
	}
	return info.Size(), k.db.LeaveMark(ctx, mark) // the file is of no use without it, so it comes last
}
