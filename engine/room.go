package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrDiskFull is in the error of what the disk has no room for.
var ErrDiskFull = errors.New("the disk is full")

// reserve is how much of a disk is to be free for work to begin: so much, but no more
// than a sixteenth of a small one.
const (
	reserve      = 64 << 20
	reserveShare = 16
)

// Room tells whether the disk has room for an import, a checkpoint or a compaction:
// nil, or an error that is ErrDiskFull and says how much is missing.
func (db *DB) Room() error {
	err := db.opts.Dir.room(db.full.Load())
	if err == nil {
		db.full.Store(false)
	}
	return err
}

// room is Room. Where a disk was full it is tried thoroughly: a quota shows only to
// who writes.
func (d Dir) room(thorough bool) error {
	free, total, ok := diskSpace(string(d))
	if !ok {
		return nil
	}
	need := min(reserve, total/reserveShare)
	if st, err := os.Stat(d.wal()); err == nil {
		need += st.Size() // a checkpoint writes it a second time
	}
	if free < need {
		return fullError{fmt.Sprintf("the disk of %s is full: %s are free and %s are needed: make room, the work goes on by itself", d, inMegabytes(free), inMegabytes(need))}
	}
	if thorough && !d.canTake(need) {
		return fullError{fmt.Sprintf("the disk of %s does not take %s, of a quota perhaps: make room, the work goes on by itself", d, inMegabytes(need))}
	}
	return nil
}

// canTake tries whether the disk gives bytes of room.
func (d Dir) canTake(bytes int64) bool {
	f, err := os.CreateTemp(d.Tmp(), "room-*")
	if err != nil {
		return !IsNoSpace(err)
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	return !IsNoSpace(allocate(f, bytes))
}

// IsNoSpace tells whether err says, by its code, that a disk or a quota is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, ErrDiskFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func inMegabytes(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// fullError is ErrDiskFull in words that say what is missing.
type fullError struct{ text string }

// Error gives the sentence.
func (e fullError) Error() string { return e.text }

// Is tells that the error is ErrDiskFull.
func (e fullError) Is(target error) bool { return target == ErrDiskFull }

// wal is the log of the database that its next checkpoint takes in.
func (d Dir) wal() string { return filepath.Clean(d.Database() + ".wal") }
