package engine

import (
	"context"
	"errors"
	"os"

	"pmx/data"
)

// Room is disk space, of a file below Dir.Tmp, that is kept for the end of work which may fill the disk.
type Room struct {
	db   *DB
	file *os.File // nil: it is released
}

// KeepRoom keeps as much room as must be free for work to begin. The error is ErrDiskFull if there is less. The caller releases the room.
func (db *DB) KeepRoom() (*Room, error) {
	if err := db.CheckSpace(); err != nil {
		db.diskFull.Store(true)
		return nil, err
	}
	dir := db.opts.Dir
	f, err := os.CreateTemp(dir.Tmp(), "kept-*")
	if err != nil {
		return nil, err
	}
	r, need := &Room{db: db, file: f}, dir.need()
	if err := allocate(f, need); data.IsNoSpace(err) { // a file system that cannot allocate keeps none
		r.Release()
		return nil, errors.Join(dir.checkRoom(need, true), err)
	}
	return r, nil
}

// Release makes the room free. It may be called again.
func (r *Room) Release() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
		r.file = nil
	}
}

// ReleaseAfter is Release after work that failed with err, nil if it did not. It returns ErrDiskFull with a reason if the disk had no room for it, which
// cannot be seen afterwards, and err otherwise.
func (r *Room) ReleaseAfter(err error) error {
	defer r.Release()
	if full := r.db.explain(err); errors.Is(full, ErrDiskFull) {
		return full
	}
	return err
}

// CheckpointDropped is Checkpoint after work that kept room and failed, and whose tables were dropped again. It asks for half of the reserve, and for the log as
// it was before that work, so many bytes: of the log since then, nearly nothing is written to the database file. So the room that such work filled comes back.
func (db *DB) CheckpointDropped(ctx context.Context, log int64) error {
	dir, thorough := db.opts.Dir, true
	return db.checkpointIn(ctx, func() error {
		defer func() { thorough = false }() // the next tries would take the room from others again and again
		return dir.checkRoom(dir.reserve()/2+log, thorough)
	})
}

// LogSize returns the bytes of the write-ahead log, 0 if there is none.
func (db *DB) LogSize() int64 { return db.opts.Dir.logSize() }
