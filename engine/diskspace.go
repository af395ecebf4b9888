package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
)

// ErrDiskFull is in the error of work that the disk has no room for. errors.Is finds ENOSPC in it,
// too.
var ErrDiskFull error = &data.NoSpace{Text: "the disk is full"}

// reserve is how much of a disk must be free for work to begin; of a small disk at most a
// sixteenth.
const (
	reserve      = 64 << 20
	reserveShare = 16
)

// CheckSpace reports whether the disk has room for an import, a checkpoint or a compaction: nil, or
// an error that is ErrDiskFull and says how much is missing.
func (db *DB) CheckSpace() error {
	err := db.opts.Dir.checkSpace(db.diskFull.Load())
	if err == nil {
		db.diskFull.Store(false)
	}
	return err
}

// checkSpace is DB.CheckSpace. With thorough it tries to allocate the space, as after a full disk:
// only writing shows a quota.
func (d Dir) checkSpace(thorough bool) error {
	return d.checkRoom(d.need(), thorough)
}

// need is how many bytes must be free for work to begin: the reserve, and the log, which a checkpoint writes a second time.
func (d Dir) need() int64 { return d.reserve() + d.logSize() }

// logSize is the size of the log in bytes, 0 if there is none.
func (d Dir) logSize() int64 {
	st, err := os.Stat(d.wal())
	if err != nil {
		return 0
	}
	return st.Size()
}

// reserve is how much of the disk must be free at least, in bytes.
func (d Dir) reserve() int64 {
	_, total, ok := diskSpace(string(d))
	if !ok {
		return 0
	}
	return min(reserve, total/reserveShare)
}

// checkRoom is checkSpace for so many bytes.
func (d Dir) checkRoom(need int64, thorough bool) error {
	free, _, ok := diskSpace(string(d))
	if !ok {
		return nil
	}
	if free < need {
		return fullError{fmt.Sprintf("the disk of %s is full: %s are free and %s are needed: free some space; a running server goes on by itself", d, inMegabytes(free), inMegabytes(need))}
	}
	if thorough && !d.canTake(need) {
		return fullError{fmt.Sprintf("the disk of %s does not take %s, of a quota perhaps: free some space; a running server goes on by itself", d, inMegabytes(need))}
	}
	return nil
}

// canTake reports whether so many bytes can be allocated on the disk, by trying it.
func (d Dir) canTake(bytes int64) bool {
	f, err := os.CreateTemp(d.Tmp(), "room-*")
	if err != nil {
		return !data.IsNoSpace(err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	return !data.IsNoSpace(allocate(f, bytes))
}

// RoomAdvice is what to do about an error that ended a command, "" if it is not a full disk or the
// error says what to do.
func RoomAdvice(err error) string {
	var advised fullError
	if !data.IsNoSpace(err) || errors.As(err, &advised) {
		return ""
	}
	return ": free some space and run the command again"
}

// openRoom is how many bytes of disk opening or creating a database needs.
const openRoom = 1 << 20

// noRoomToOpen returns ErrDiskFull with an explanation if opening failed with err because the disk
// is full.
func (d Dir) noRoomToOpen(err error) error {
	if !data.IsNoSpace(err) && (!slices.Contains(errorTypes(err), duckdb.ErrorTypeIO) || d.canTake(openRoom)) {
		return nil
	}
	return fullError{fmt.Sprintf("open %s: the disk of %s is full: free some space and start again", d.Database(), d)}
}

func inMegabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// fullError is ErrDiskFull with a sentence that says what is missing.
type fullError struct{ text string }

// Error returns the sentence.
func (e fullError) Error() string { return e.text }

// Unwrap returns ErrDiskFull.
func (e fullError) Unwrap() error { return ErrDiskFull }

// wal is the path of the write-ahead log, which the next checkpoint merges into the database.
func (d Dir) wal() string { return filepath.Clean(d.Database() + ".wal") }
