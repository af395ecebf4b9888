package engine

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/engine/guard"
)

// FileHead is the size in bytes of what the database file begins with, before its blocks: the
// header, and two that a checkpoint writes in turn.
const FileHead = 3 << 12

// checkedEvery is how often who reads a frozen file is stopped where it must not go on.
const checkedEvery = time.Second

// maxFrozenLog is how many bytes of log may gather while checkpoints wait.
const maxFrozenLog = 4 << 30

// Reasons why a frozen file is let go before its reader is done.
var (
	errThawClosing = errors.New("the database is being closed or opened again")
	errThawLog     = fmt.Errorf("more than %d GB were imported meanwhile, and the checkpoint cannot wait longer: run it again when less is imported", maxFrozenLog>>30)
)

// Frozen is the database file as a checkpoint left it.
type Frozen struct {
	File   io.ReaderAt
	Size   int64         // bytes
	Conn   *sql.Conn     // sees the data as they are in the file
	Paused time.Duration // for which writers waited
}

// freezing keeps the database file as it is.
type freezing struct {
	one  chan struct{} // of one place: who has it in may freeze
	held atomic.Bool   // changed within Write alone, or behind the transaction that holds checkpoints off

	mu   sync.Mutex
	thaw context.CancelCauseFunc // nil: nobody reads the file
	bans int                     // those who wait to have the gate alone
	file *os.File                // see databaseFile
}

// Freeze runs f while what the database file holds stays as a checkpoint leaves it. Writers
// wait for that checkpoint and then go on; readers do not wait. What is committed meanwhile
// is in the log, which no checkpoint takes in before f is done. f must return soon after its
// context ends: it does where the disk or the log leaves no room for going on, and where the
// database is closed. The error is that of f, or says why it was stopped: only without one was
// the file the same from beginning to end.
func (db *DB) Freeze(ctx context.Context, f func(ctx context.Context, file Frozen) error) error {
	select {
	case db.frozen.one <- struct{}{}:
		defer func() { <-db.frozen.one }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := db.CheckSpace(); err != nil {
		return err
	}
	ctx, thaw := context.WithCancelCause(ctx)
	defer thaw(nil)
	db.setThaw(thaw)
	defer db.setThaw(nil)
	file, head, release, err := db.checkpointAndHold(ctx)
	if err != nil {
		return err
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

// Unfrozen is the database file for reading while it may be changed: what is read may be of any time, and torn. Reading fails
// once the database is closed. It serves to have most of the file read before Freeze, and fails as that does where the disk leaves no room.
func (db *DB) Unfrozen(ctx context.Context) (file io.ReaderAt, size int64, err error) {
	if err := db.CheckSpace(); err != nil {
		return nil, 0, err
	}
	err = db.Read(ctx, func(*sql.Conn) error {
		open, err := db.databaseFile()
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

// checkpointAndHold makes a checkpoint and holds the next ones off until release. The gate is
// held meanwhile, so that nobody replaces the instance; who wants to has the reader stopped
// first, see thaw. With an error there is nothing to release.
func (db *DB) checkpointAndHold(ctx context.Context) (out Frozen, head []byte, release func(), err error) {
	err = db.Write(ctx, func(writer *sql.Conn) error {
		began := time.Now()
		if _, err := writer.ExecContext(ctx, "CHECKPOINT"); err != nil {
			return err
		}
		// Write has the gate as well: where somebody waits for it, to wait for it a second time
		// would be forever.
		if !db.gate.TryRLock() {
			return errThawClosing
		}
		out, head, release, err = db.hold(ctx)
		out.Paused = time.Since(began)
		if err != nil { // here: behind a fault Write needs the gate alone
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

// hold begins the transaction that holds checkpoints off: one that has changed the catalog
// does, one that has read or inserted does not. It has a connection of its own: those of
// readers are theirs. release is never nil; it gives the gate back.
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
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		_ = conn.Close()
		closed()
	}
	for _, text := range []string{"BEGIN", "CREATE TABLE frozen_file (i INTEGER)"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return out, nil, release, err
		}
	}
	db.frozen.held.Store(true)
	file, err := db.databaseFile()
	if err != nil {
		return out, nil, release, err
	}
	out.File, out.Conn = file, conn
	out.Size, head, err = headOf(file)
	return out, head, release, err
}

// databaseFile is the open database file for reading. It is opened once and closed behind the
// database alone: closing any descriptor of it would give up the lock that DuckDB has, which
// is the process's (fcntl(2)).
func (db *DB) databaseFile() (*os.File, error) {
	db.frozen.mu.Lock()
	defer db.frozen.mu.Unlock()
	if db.frozen.file == nil {
		file, err := data.OpenRegular(db.opts.Dir.Database())
		if err != nil {
			return nil, err
		}
		db.frozen.file = file
	}
	return db.frozen.file, nil
}

// closeFile closes the database file once DuckDB has.
func (db *DB) closeFile() error {
	db.frozen.mu.Lock()
	defer db.frozen.mu.Unlock()
	if db.frozen.file == nil {
		return nil
	}
	err := db.frozen.file.Close()
	db.frozen.file = nil
	return err
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

// thaw has who reads the frozen file stop.
func (db *DB) thaw(why error) {
	db.frozen.mu.Lock()
	defer db.frozen.mu.Unlock()
	if db.frozen.thaw != nil {
		db.frozen.thaw(why)
	}
}

// lockGate takes the gate alone. Who reads the frozen file stops, and nobody begins meanwhile.
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

// watchFrozen stops who reads the frozen file where checkpoints cannot wait longer, until done
// is closed; then it closes what it gives.
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
