package engine

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pmx/engine/guard"
)

// FileHead is the size in bytes of the head of the database file, before its blocks: the main
// header, and two headers that checkpoints write in turn.
const FileHead = 3 << 12

// checkedEvery is how often it is checked whether the reader of a frozen file may go on.
const checkedEvery = time.Second

// maxFrozenLog is the size in bytes that the log may reach while checkpoints wait.
const maxFrozenLog = 4 << 30

// Reasons to end a freeze before the reader of the file is done.
var (
	errThawClosing = errors.New("the database is being closed or opened again")
	errThawLog     = fmt.Errorf("more than %d GB were imported meanwhile, and the checkpoint cannot wait longer: run it again when less is imported", maxFrozenLog>>30)
)

// Frozen is the database file as a checkpoint left it.
type Frozen struct {
	File   io.ReaderAt
	Size   int64         // bytes
	Conn   *sql.Conn     // sees the data as they are in the file
	Paused time.Duration // how long writers waited
}

// freezing keeps the database file as it is.
type freezing struct {
	one  chan struct{} // a semaphore: one freeze at a time
	held atomic.Bool   // changed only within Write, or after the transaction that holds checkpoints off

	mu   sync.Mutex
	thaw context.CancelCauseFunc // nil: the file is not being read
	bans int                     // how many wait for the exclusive gate
}

// Freeze runs f while the contents of the database file stay as a checkpoint left them. Writers
// wait for that checkpoint and then go on; readers do not wait. What is committed meanwhile stays
// in the log: no checkpoint merges it before f is done. f must return soon after its context ends,
// which happens if the disk or the log runs out of room, or if the database is closed. The error is
// that of f, or says why it was stopped. Only if it is nil did the file stay the same from
// beginning to end.
func (db *DB) Freeze(ctx context.Context, f func(ctx context.Context, file Frozen) error) error {
	select {
	case db.frozen.one <- struct{}{}:
		defer func() { <-db.frozen.one }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, thaw := context.WithCancelCause(ctx)
	defer thaw(nil)
	db.setThaw(thaw)
	defer db.setThaw(nil)
	file, head, release, err := db.awaitCheckpointAndHold(ctx)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer release()
	done := make(chan struct{})
	stopped := db.watchFrozen(ctx, done)
	err = guard.Do(func() error { return f(ctx, file) })
	close(done)
	<-stopped
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return errors.Join(err, sameHead(file.File, head))
}

// Unfrozen returns the database file for reading while it may change: what is read may be old, new or torn. Reading fails once the database
// is closed. It is for reading most of the file before Freeze, and fails like Freeze if the disk has no room.
func (db *DB) Unfrozen(ctx context.Context) (file io.ReaderAt, size int64, err error) {
	if err := db.CheckSpace(); err != nil {
		return nil, 0, err
	}
	err = db.Read(ctx, func(*sql.Conn) error {
		open, err := db.opts.file.open()
		if err != nil {
			return err
		}
		st, err := open.Stat()
		if err != nil {
			return err
		}
		file, size = open, st.Size()
		return nil
	})
	return file, size, err
}

// freezeWait is how long a Freeze waits for queries that are older than a change.
var freezeWait = 10 * time.Minute

const (
	// freezeAgain is the pause before a Freeze tries again to make its checkpoint.
	freezeAgain = 500 * time.Millisecond
	// freezeLong is which of these tries lasts a second: it finds an end of short queries that follow each other.
	freezeLong = 20
)

// awaitCheckpointAndHold is checkpointAndHold as soon as no older query runs, within freezeWait. Others may write meanwhile, a sixth of the
// time excepted. It fails if the disk has no room for the log, which grows.
func (db *DB) awaitCheckpointAndHold(ctx context.Context) (out Frozen, head []byte, release func(), err error) {
	began := time.Now()
	for n := 0; ; n++ {
		tries := checkpointBriefly
		if n%freezeLong == 0 {
			tries = checkpointTries
		}
		out, head, release, err = db.checkpointAndHold(ctx, tries)
		if !errors.Is(err, ErrCheckpointRefused) || time.Since(began) >= freezeWait {
			return out, head, release, err
		}
		select {
		case <-ctx.Done():
			return out, nil, nil, context.Cause(ctx)
		case <-time.After(freezeAgain):
		}
	}
}

// checkpointAndHold makes a checkpoint and holds the next ones off until release. It holds the gate
// meanwhile, so that the instance is not replaced; to replace it, the reader is stopped first
// (thaw). With an error there is nothing to release.
func (db *DB) checkpointAndHold(ctx context.Context, tries int) (out Frozen, head []byte, release func(), err error) {
	err = db.Write(ctx, func(writer *sql.Conn) error {
		began := time.Now()
		if err := db.checkpointOn(ctx, writer, tries, db.CheckSpace); err != nil {
			return err
		}
		// Write holds the gate, too. If somebody is waiting for it, taking it a second time would
		// deadlock.
		if !db.gate.TryRLock() {
			return errThawClosing
		}
		out, head, release, err = db.hold(ctx)
		out.Paused = time.Since(began)
		if err != nil { // here: after a fault Write needs the gate exclusively
			release()
			release = nil
		}
		return err
	})
	if err != nil && release != nil { // the writer's connection could not be given back
		release()
	}
	return out, head, release, err
}

// hold begins the transaction that holds checkpoints off. One that changed the catalog does so; one
// that read or inserted does not. It uses a connection of its own, because the pooled ones belong
// to readers. release is never nil; it releases the gate.
func (db *DB) hold(ctx context.Context) (out Frozen, head []byte, release func(), err error) {
	pool := sql.OpenDB(db.pools.shared)
	release = func() {
		_ = pool.Close() // which ends the transaction, if it is still there
		db.frozen.held.Store(false)
		db.gate.RUnlock()
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return out, nil, release, err
	}
	closed := release
	release = func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), rollback)
		_ = conn.Close()
		closed()
	}
	for _, text := range []string{"BEGIN", "CREATE TABLE frozen_file (i INTEGER)"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return out, nil, release, err
		}
	}
	db.frozen.held.Store(true)
	file, err := db.opts.file.open()
	if err != nil {
		return out, nil, release, err
	}
	out.File, out.Conn = file, conn
	out.Size, head, err = headOf(file)
	return out, head, release, err
}

func headOf(file *os.File) (size int64, head []byte, err error) {
	st, err := file.Stat()
	if err != nil {
		return 0, nil, err
	}
	head = make([]byte, FileHead)
	_, err = file.ReadAt(head, 0)
	return st.Size(), head, err
}

// sameHead reports whether no checkpoint was made since head was read.
func sameHead(file io.ReaderAt, head []byte) error {
	now := make([]byte, len(head))
	if _, err := file.ReadAt(now, 0); err != nil {
		return err
	}
	if !bytes.Equal(now, head) {
		return errors.New("a checkpoint was made while the file was read: run it again")
	}
	return nil
}

func (db *DB) setThaw(thaw context.CancelCauseFunc) {
	db.frozen.mu.Lock()
	defer db.frozen.mu.Unlock()
	db.frozen.thaw = thaw
	if thaw != nil && db.frozen.bans > 0 {
		thaw(errThawClosing)
	}
}

// thaw stops the reader of the frozen file.
func (db *DB) thaw(why error) {
	db.frozen.mu.Lock()
	defer db.frozen.mu.Unlock()
	if db.frozen.thaw != nil {
		db.frozen.thaw(why)
	}
}

// lockGate takes the gate exclusively. The reader of the frozen file is stopped, and no other
// begins meanwhile.
func (db *DB) lockGate() {
	ban := func(n int) {
		db.frozen.mu.Lock()
		defer db.frozen.mu.Unlock()
		db.frozen.bans += n
	}
	ban(1)
	defer ban(-1)
	db.thaw(errThawClosing)
	db.gate.Lock()
}

// watchFrozen stops the reader of the frozen file if checkpoints cannot wait longer, until done is
// closed. Then it closes the channel that it returned.
func (db *DB) watchFrozen(ctx context.Context, done <-chan struct{}) <-chan error {
	return guard.Start(func() error {
		tick := time.NewTicker(checkedEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return nil
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			if err := db.opts.Dir.checkSpace(false); err != nil {
				db.thaw(err)
			} else if st, err := os.Stat(db.opts.Dir.wal()); err == nil && st.Size() > maxFrozenLog {
				db.thaw(errThawLog)
			}
		}
	})
}
