// Package engine owns the in-process DuckDB: opening, one writer, pooled
// readers, faults and maintenance. It knows nothing of HTTP or of rollups.
package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/engine/schema"
)

// Options say how to open a database.
type Options struct {
	Dir         Dir
	MemoryLimit string // DuckDB syntax, "" = DefaultMemory
	Threads     int    // 0 = one per core
	// Reads is a folder that DuckDB may read besides that of Dir, "" for none.
	Reads string
	// OnFault is called with every fault; recovered is false when the database could
	// not be opened again and the process should end.
	OnFault func(err error, recovered bool)
	// OnStatement is called with the text of every statement before it is run, by the goroutine
	// that runs it: several may at once. It is meant for counting work; nil: it is not called. Rows
	// that an appender adds are not statements.
	OnStatement func(text string)
	// OnMigrate is called before the tables of an older program are changed, with their version and
	// the new one. It may take minutes until the database is open; nil: it is not called.
	OnMigrate func(at, newest int64)

	readOnly string        // the file of a state of a replica; "": that of Dir, for writing too
	file     *databaseFile // for reading it beside DuckDB
	journal  *journal      // nil: the file is not written to
}

// DefaultMemory is DuckDB's limit if none is given. ParseMemory divides the memory of a whole
// process.
const DefaultMemory = "8GB"

// blockSize is the size in bytes of the blocks of a new database; an existing one keeps its own.
// The first rows that are appended to a table after a checkpoint take a block for each column, and
// another for its NULLs: with DuckDB's default of 256 KiB, these took 75 to 120 MB of a venue that
// is followed. In blocks below 128 KiB DuckDB does not pack the bits of HUGEINT columns: with 64
// the file was 9 % larger.
const blockSize = 128 << 10

// storageVersion is the version of the storage format of a new database; an existing one keeps its own. From 1.3 on
// texts and hashes that repeat are stored in 8 % fewer bytes (DICT_FSST); later versions took no fewer.
const storageVersion = "v1.3.0"

// maxReaders bounds the read connections: more than a few per core only queue
// inside DuckDB.
const maxReaders = 8

// DB is an open database: one writer at a time and any number of readers. Readers never wait for
// the writer, only for ReleaseBlocks, which is short.
type DB struct {
	opts Options
	// gate is held for reading by every use and for writing while the instance
	// is replaced: reopening while a connection is out spins a core for ever.
	gate             sync.RWMutex
	pools            *pools
	writing          sync.Mutex
	twins            sync.Mutex  // of the one ReadTwins that has two connections
	diskFull         atomic.Bool // the disk was, when it was last checked
	damage           *LogDamage  // of the log, when it was first opened
	mark             []byte      // that Open found; nil: none
	closedByFullDisk bool        // pools is nil because the disk was too full to open the file again; under gate
	frozen           freezing
	owedSince        atomic.Int64 // when a checkpoint was put off, in nanoseconds; 0: the last one was made
	states           *states      // of a replica, which has no pools of its own; nil: it is not a replica
	named            named
	release          release
	bound            memoryBound
}

// Open opens or creates the database of a data directory and brings its schema
// up to date. It can fail with ErrLocked and ErrNewerSchema.
func Open(ctx context.Context, opts Options) (*DB, error) {
	dir, err := opts.Dir.Abs()
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	opts.Dir = dir
	if strings.Contains(string(dir), "?") {
		return nil, fmt.Errorf("data directory %s: DuckDB cannot open a path with a question mark: choose another --data-dir", dir)
	}
	if err := dir.Create(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir.Database()); err == nil && !info.Mode().IsRegular() { // DuckDB would wait for a pipe's writer
		return nil, fmt.Errorf("%s: %w", dir.Database(), data.ErrNotRegular)
	}
	opts.file = &databaseFile{path: dir.Database()}
	opts.journal = newJournal(dir, opts.file)
	p, damage, err := openFirst(ctx, opts)
	if err != nil {
		return nil, err
	}
	db := &DB{opts: opts, pools: p, damage: damage, frozen: freezing{one: make(chan struct{}, 1)}, named: named{dir: string(dir), sync: data.SyncFolder}}
	if err := errors.Join(db.prepare(ctx), db.named.last()); err != nil {
		return nil, errors.Join(err, p.close(), opts.closeFiles())
	}
	return db, nil
}

// closeFiles closes the files that are read and written beside DuckDB, once DuckDB has closed the
// database.
func (o Options) closeFiles() error {
	if o.journal == nil {
		return o.file.close()
	}
	return errors.Join(o.journal.close(), o.file.close())
}

// openFirst opens the database and returns what was wrong with its log. DuckDB treats a log that is
// cut off as one that ends there, and does not open with one whose checksums are wrong.
func openFirst(ctx context.Context, opts Options) (*pools, *LogDamage, error) {
	open := func() (*pools, error) { return openPools(ctx, opts) }
	damage, err := scanLog(opts.Dir.wal(), false)
	if err != nil {
		return nil, nil, err
	}
	if damage != nil {
		// The log of a database that another process has open grows meanwhile.
		if pid, _ := lockHolder(opts.Dir.Database()); pid == 0 {
			if err = damage.keepCopy(opts.Dir.wal(), time.Now()); err == nil && !damage.Torn {
				// DuckDB would ignore it, and write after it what would then be ignored too.
				err = os.Truncate(opts.Dir.wal(), damage.At)
			}
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("keep the damaged log: %w", err)
	}
	p, err := open()
	if err == nil {
		return p, damage, nil
	}
	return openTruncated(opts.Dir, err, open)
}

// prepare runs once on a fresh handle, before anything else uses it.
func (db *DB) prepare(ctx context.Context) error {
	if err := db.opts.Dir.sweep(); err != nil {
		return err
	}
	migrated, err := schema.Migrate(ctx, db.pools.writer, db.opts.OnMigrate)
	if errors.Is(err, schema.ErrNewer) {
		return fmt.Errorf("%s: %w: run that version, or restore a backup: %w", db.opts.Dir.Database(), ErrNewerSchema, err)
	}
	if err != nil {
		if full := db.opts.Dir.noRoomToOpen(db.explain(err)); full != nil {
			return &operatorError{text: full.Error(), kind: full, cause: err}
		}
		return fmt.Errorf("migrate %s: %w", db.opts.Dir.Database(), db.explain(err))
	}
	if err := db.takeMark(ctx); err != nil || !migrated {
		return err
	}
	if err := db.Checkpoint(ctx); !errors.Is(err, ErrDiskFull) {
		return err
	}
	return nil // the log has it
}

// Dir is the data directory, absolute.
func (db *DB) Dir() Dir { return db.opts.Dir }

// Close waits for running reads and writes and closes the file. It leaves no write-ahead log behind
// unless the disk is full.
func (db *DB) Close() error {
	if db.states != nil {
		return db.states.close()
	}
	db.lockGate()
	defer db.gate.Unlock()
	db.closedByFullDisk = false
	if db.pools == nil {
		return db.opts.closeFiles()
	}
	var err error
	if db.opts.readOnly == "" {
		err = checkpoint(context.Background(), db.pools.writer, checkpointTries, func() error { return nil })
	}
	if isFault(err) || errors.Is(err, ErrDiskFull) {
		err = nil // the log is replayed at the next open
	}
	err = errors.Join(err, db.pools.close(), db.opts.closeFiles())
	db.pools = nil
	return err
}

// Read runs f on a pooled connection, in the caller's goroutine. f sees one
// consistent state per statement and must not keep conn.
func (db *DB) Read(ctx context.Context, f func(conn *sql.Conn) error) error {
	of := func(p *pools) *sql.DB { return p.readers }
	if ctx.Value(lean{}) != nil {
		return db.use(ctx, of, f)
	}
	db.bound.add(1)
	defer db.bound.add(-1)
	return db.use(ctx, of, func(conn *sql.Conn) error {
		if err := db.unbound(ctx, conn); err != nil {
			return err
		}
		return f(conn)
	})
}

// ReadLowPriority is Read for long work, which lets requests go first: see LowPriority.
func (db *DB) ReadLowPriority(ctx context.Context, f func(conn *sql.Conn) error) error {
	return LowPriority(func() error { return db.Read(ctx, f) })
}

// Beside runs f on a pooled connection at low priority. The caller is inside Write; f sees what is
// committed. It returns false, and does not run f, if somebody waits to
// close or replace the file, because they wait for the caller.
func (db *DB) Beside(ctx context.Context, f func(conn *sql.Conn) error) (ran bool, err error) {
	err = LowPriority(func() (err error) {
		ran, err = db.BesideUsual(ctx, f)
		return err
	})
	return ran, err
}

// BesideUsual is Beside at the priority of the caller.
func (db *DB) BesideUsual(ctx context.Context, f func(conn *sql.Conn) error) (ran bool, err error) {
	return db.besideUsual(ctx, func(p *pools) *sql.DB { return p.readers }, f)
}

// WriteBeside is Beside on a second writing connection, which is closed afterwards. Meanwhile f, and the caller on its own
// connection, may change tables in transactions of InTx, and only so; the two must change different tables.
func (db *DB) WriteBeside(ctx context.Context, f func(conn *sql.Conn) error) (ran bool, err error) {
	err = LowPriority(func() (err error) {
		ran, err = db.besideUsual(ctx, func(p *pools) *sql.DB { return p.second }, f)
		return err
	})
	return ran, err
}

func (db *DB) besideUsual(ctx context.Context, pool func(*pools) *sql.DB, f func(conn *sql.Conn) error) (ran bool, err error) {
	if db.states != nil || !db.gate.TryRLock() {
		return false, nil
	}
	defer db.gate.RUnlock()
	if db.pools == nil {
		return false, nil
	}
	conn, err := pool(db.pools).Conn(ctx)
	if err != nil {
		return true, err
	}
	return true, withConn(conn, f)
}

// Write runs f on the single writing connection, after earlier writers are done, and lets readers
// go first: see LowPriority. Temporary tables made there exist until they are dropped. When Write
// returns nil, what f committed is durable, including the names of the files that it is in.
func (db *DB) Write(ctx context.Context, f func(conn *sql.Conn) error) error {
	db.writing.Lock()
	defer db.writing.Unlock()
	return LowPriority(func() error {
		if err := db.use(ctx, func(p *pools) *sql.DB { return p.writer }, f); err != nil {
			return err
		}
		return db.named.last()
	})
}

func (db *DB) use(ctx context.Context, pool func(*pools) *sql.DB, f func(conn *sql.Conn) error) error {
	if db.states != nil {
		return db.states.using(ctx, pool, f)
	}
	used, err := db.tryUse(ctx, pool, f)
	if used == nil && db.reopenAfterFullDisk(ctx) {
		used, err = db.tryUse(ctx, pool, f)
	}
	if err == nil {
		return nil
	}
	reason := stopped(ctx, db.explain(err)) // before a failed instance frees disk space
	if errors.Is(reason, ErrDiskFull) {
		db.diskFull.Store(true)
	}
	if isFault(err) {
		db.reopen(ctx, used, reason)
	}
	return reason
}

// tryUse tries once to use the database; used is nil if it is closed.
func (db *DB) tryUse(ctx context.Context, pool func(*pools) *sql.DB, f func(conn *sql.Conn) error) (used *pools, err error) {
	db.gate.RLock()
	defer db.gate.RUnlock()
	if used = db.pools; used == nil {
		return nil, ErrClosed
	}
	conn, err := pool(used).Conn(ctx)
	if err != nil {
		return used, err
	}
	return used, withConn(conn, f)
}

// withConn runs f on conn and returns conn to its pool. After a panic, whose transaction may still
// be open, conn is discarded instead.
func withConn(conn *sql.Conn, f func(conn *sql.Conn) error) (err error) {
	returned := false
	defer func() {
		if !returned {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		if closed := conn.Close(); !errors.Is(closed, sql.ErrConnDone) { // it may be discarded by now
			err = errors.Join(err, closed)
		}
	}()
	err = f(conn)
	returned = true
	return err
}

// reopen replaces the instance after a fault: once in a process's life if the instance itself is
// the cause, always if the disk was full. used is the instance that failed: all that were using it
// see the fault, and the first of them has it replaced.
func (db *DB) reopen(ctx context.Context, used *pools, fault error) {
	full := errors.Is(fault, ErrDiskFull)
	if used.replacement && !full {
		db.report(fault, false)
		return
	}
	db.lockGate()
	defer db.gate.Unlock()
	if db.pools == nil || db.pools != used {
		return
	}
	_ = db.pools.close() // a poisoned instance cannot close cleanly; the file is what counts
	db.pools = nil
	p, err := openPools(context.WithoutCancel(ctx), db.reopening())
	if err != nil {
		db.closedByFullDisk = full
		db.report(errors.Join(fault, err), full)
		return
	}
	p.replacement = used.replacement || !full
	db.pools = p
	db.bound.reopened()
	db.report(fault, true)
}

// reopenAfterFullDisk opens the file again if a full disk had prevented that, and reports whether
// the database is open.
func (db *DB) reopenAfterFullDisk(ctx context.Context) bool {
	db.gate.Lock()
	defer db.gate.Unlock()
	if db.pools != nil || !db.closedByFullDisk {
		return db.pools != nil
	}
	p, err := openPools(context.WithoutCancel(ctx), db.reopening())
	if err != nil {
		return false
	}
	db.pools, db.closedByFullDisk = p, false
	db.bound.reopened()
	return true
}

func (db *DB) report(err error, recovered bool) {
	if db.opts.OnFault != nil {
		db.opts.OnFault(err, recovered)
	}
}

// Checkpoint writes the log into the database file, so that the next open has nothing to replay.
// While the file is frozen it does nothing, and is owed: the next checkpoint includes the log.
func (db *DB) Checkpoint(ctx context.Context) error { return db.checkpointIn(ctx, db.CheckSpace) }

// checkpointIn is Checkpoint if room, which is asked again before each try, returns no error.
func (db *DB) checkpointIn(ctx context.Context, room func() error) error {
	if err := room(); err != nil {
		db.diskFull.Store(true)
		db.oweCheckpoint()
		return err
	}
	return db.Write(ctx, func(conn *sql.Conn) error {
		if db.frozen.held.Load() {
			db.oweCheckpoint()
			return nil
		}
		err := db.checkpointOn(ctx, conn, checkpointTries, room)
		db.release.stuck = 0
		return err
	})
}

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.Read(Lean(ctx), func(conn *sql.Conn) error {
		var one int
		return conn.QueryRowContext(ctx, "SELECT 1").Scan(&one)
	})
}

// Size returns the bytes of the database file and its log.
func (db *DB) Size() (int64, error) {
	total := int64(0)
	for _, path := range []string{db.opts.Dir.Database(), db.opts.Dir.wal()} {
		st, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total += st.Size()
	}
	return total, nil
}
