package engine

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
)

const (
	// leastDuckDB and leastOfThread are the minimum of DuckDB's part: a checkpoint, which ends the
	// instance if it lacks memory, needs the row groups that its threads write, some 30 MB each.
	leastDuckDB   int64 = 134_000_000
	leastOfThread int64 = 32_000_000
	// Go's limit has to exceed the live heap by a quarter, or the collector runs all the time; and by goOverhead, for stacks
	// and the runtime's own memory.
	goHeadroom int64 = 4 // the share of the live heap: a quarter
	goOverhead int64 = 32_000_000
	// movedAtOnce is the number of bytes by which DuckDB's limit is lowered at once: readers wait
	// while DuckDB evicts blocks.
	movedAtOnce int64 = 256_000_000
	// movedAtLeast: the limits change in steps of this many bytes, not with every change of the
	// heap, and Go's limit is lowered only if Go needs less by a share of goKept.
	movedAtLeast int64 = 16_000_000
	goKept       int64 = 8
	// leastLent is what Lend leaves to Go.
	leastLent int64 = 192_000_000
)

// Divided is the division of a process's memory at a time, in bytes.
type Divided struct {
	Memory         // Memory.DuckDB is the limit of DuckDB, Memory.Go that of Go
	LiveHeap int64 // of Go, when it was last measured; 0: not yet
	Needed   int64 // the total with which Go's limit would be high enough for the live heap; 0: it is high enough now
	GoFixed  bool  // GOMEMLIMIT is set in the environment: nothing changes
}

// Division is the memory of a process, divided by what is live in Go's heap. It begins with equal
// parts. If Go's part is too small for the live heap, DuckDB's limit is lowered and Go's raised by
// as much. Once the heap is smaller, both limits change back. Their sum is never exceeded.
type Division struct {
	equal     Memory
	least     int64 // DuckDB's part
	databases int64 // that are open at once and share DuckDB's part

	mu  sync.Mutex
	now Divided
}

// NewDivision begins with the division of ParseMemory. databases is the number of databases that
// are open at once, with this many threads each; 0: one per core. Go's limit is that of LimitGo.
func NewDivision(m Memory, databases int64, threads int) *Division {
	if threads == 0 {
		threads = runtime.NumCPU()
	}
	least := databases * max(leastDuckDB, int64(threads)*leastOfThread)
	return &Division{equal: m, least: least, databases: databases, now: Divided{Memory: m, GoFixed: goLimitTold()}}
}

// MemoryLimit is DuckDB's limit for each database, as an Options.MemoryLimit.
func (d *Division) MemoryLimit() string { return sizeText(d.Now().DuckDB / d.databases) }

// Now returns the current division.
func (d *Division) Now() Divided {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Follow takes a step towards the division that a live heap of this many bytes needs. It lowers
// DuckDB's limit by 256 MB at most, and not while queries run. more means that another step is due.
// It must not be called within a Write, nor twice at once.
func (d *Division) Follow(ctx context.Context, db *DB, heap int64) (more bool, err error) {
	was := d.Now()
	now, to := was, d.duckDB(was, heap)
	now.LiveHeap, now.Needed = heap, d.needed(was, heap)
	if next := max(to, was.DuckDB-movedAtOnce); next != was.DuckDB {
		moved, err := d.move(ctx, db, was, next)
		if !moved {
			d.becomes(now)
			return false, err
		}
		now.DuckDB, now.Go = next, was.Go+was.DuckDB-next
	}
	d.becomes(now)
	return now.DuckDB != to, nil
}

// move changes both limits, the one that becomes lower first.
func (d *Division) move(ctx context.Context, db *DB, was Divided, duckDB int64) (moved bool, err error) {
	goes := was.Go + was.DuckDB - duckDB
	if goes < was.Go {
		debug.SetMemoryLimit(goes)
	}
	err = db.Write(ctx, func(conn *sql.Conn) (err error) {
		moved, err = db.LimitMemory(ctx, conn, duckDB/d.databases)
		return err
	})
	if moved {
		debug.SetMemoryLimit(goes)
	} else {
		debug.SetMemoryLimit(was.Go)
	}
	return moved, err
}

// Lend gives DuckDB what Go, with a live heap of this many bytes, does not need of its part, for work of a process that serves nothing:
// its heap stays small while DuckDB works. back divides the memory as it was before, and fails while queries run. Neither must be called
// within a Write.
func (d *Division) Lend(ctx context.Context, db *DB, heap int64) (back func(ctx context.Context) error, err error) {
	was := d.Now()
	goes := max(goNeeds(heap), leastLent)
	if was.GoFixed || goes >= was.Go {
		return func(context.Context) error { return nil }, nil
	}
	back = func(ctx context.Context) error { return d.become(ctx, db, was.DuckDB) }
	return back, d.become(ctx, db, was.DuckDB+was.Go-goes)
}

// become changes both limits.
func (d *Division) become(ctx context.Context, db *DB, duckDB int64) error {
	was := d.Now()
	moved, err := d.move(ctx, db, was, duckDB)
	if err == nil && !moved {
		err = errors.New("queries are running, so DuckDB's limit was not lowered")
	}
	if moved {
		was.DuckDB, was.Go = duckDB, was.Go+was.DuckDB-duckDB
		d.becomes(was)
	}
	return err
}

func (d *Division) becomes(now Divided) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = now
}

// goNeeds returns the limit that Go should have for a live heap.
func goNeeds(heap int64) int64 { return heap + heap/goHeadroom + goOverhead }

// mostGo returns the maximum of Go's limit.
func (d *Division) mostGo(was Divided) int64 {
	if was.GoFixed {
		return was.Go
	}
	return d.equal.Go + max(0, d.equal.DuckDB-d.least)
}

// duckDB returns DuckDB's part if the heap has this size.
func (d *Division) duckDB(was Divided, heap int64) int64 {
	needs := goNeeds(heap)
	if was.GoFixed || needs <= was.Go && needs > was.Go-was.Go/goKept {
		return was.DuckDB
	}
	needs = (needs + movedAtLeast - 1) / movedAtLeast * movedAtLeast
	goes := min(max(needs, d.equal.Go), d.mostGo(was))
	return d.equal.DuckDB - (goes - d.equal.Go)
}

// needed is Divided.Needed, in two digits.
func (d *Division) needed(was Divided, heap int64) int64 {
	needs := goNeeds(heap)
	if needs <= d.mostGo(was) {
		return 0
	}
	total := (needs + d.least + uncountedMemory) * uncountedShare / (uncountedShare - 1)
	step := int64(10_000_000)
	for step*100 <= total {
		step *= 10
	}
	return (total + step - 1) / step * step
}
