package engine

/*
// Of DuckDB's C interface, whose library the driver links.
typedef void *duckdb_database;
typedef void *duckdb_task_state;
duckdb_task_state duckdb_create_task_state(duckdb_database database);
void duckdb_execute_tasks_state(duckdb_task_state state);
void duckdb_finish_execution(duckdb_task_state state);
void duckdb_destroy_task_state(duckdb_task_state state);
*/
import "C"

import (
	"errors"
	"reflect"
	"sync"
	"time"
	"unsafe"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/engine/guard"
)

// aloneAtMost is how long helpers are held off: longer work profits from them.
const aloneAtMost = time.Second

// helpers are the threads on which DuckDB runs queries, besides the calling ones. The engine owns
// them, not DuckDB, so that they can be held off: each step of a query wakes one, and the calling
// thread spins until it is done. The zero value has no threads.
type helpers struct {
	database unsafe.Pointer // DuckDB's own handle
	count    int
	atMost   time.Duration // a hold lasts

	mu      sync.Mutex
	holds   int     // that are not released
	closed  bool    // they never come again
	working *crew   // nil: none is
	leaving []*crew // told to leave, and maybe still running
}

// crew are threads that were started together.
type crew struct {
	state C.duckdb_task_state
	gone  <-chan struct{}
}

// handleOf returns DuckDB's handle of a connector's database. The driver keeps it in an unexported
// field: nil if it is not where this package expects it.
func handleOf(c *duckdb.Connector) unsafe.Pointer {
	handle := reflect.ValueOf(c).Elem().FieldByName("db")
	if handle.Kind() == reflect.Struct {
		handle = handle.FieldByName("Ptr")
	}
	if handle.Kind() != reflect.UnsafePointer {
		return nil
	}
	return handle.UnsafePointer()
}

// begin starts count threads that work on the queries of a connector's database.
func (h *helpers) begin(of *duckdb.Connector, count int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.database, h.count, h.atMost = handleOf(of), count, aloneAtMost; h.database == nil {
		return errors.New("the database driver has an unknown layout: it cannot get helper threads")
	}
	h.call()
	return nil
}

// call starts the threads unless they are held off.
func (h *helpers) call() {
	if h.closed || h.holds > 0 || h.working != nil || h.count == 0 {
		return
	}
	state := C.duckdb_create_task_state(C.duckdb_database(h.database))
	threads := make([]<-chan error, h.count)
	for i := range threads {
		threads[i] = guard.StartThread(func() error {
			lowerPriority()
			C.duckdb_execute_tasks_state(state)
			return nil
		})
	}
	gone := make(chan struct{})
	guard.Start(func() error {
		defer close(gone)
		for _, thread := range threads {
			<-thread
		}
		return nil
	})
	h.working = &crew{state: state, gone: gone}
}

// send makes the threads leave when their current task is done.
func (h *helpers) send() {
	if h.working != nil {
		C.duckdb_finish_execution(h.working.state)
		h.leaving = append(h.leaving, h.working)
		h.working = nil
	}
	h.bury(false)
}

// bury frees the crews that have left; with wait, it waits for all that were told to.
func (h *helpers) bury(wait bool) {
	staying := h.leaving[:0]
	for _, c := range h.leaving {
		if !c.isGone(wait) {
			staying = append(staying, c)
			continue
		}
		C.duckdb_destroy_task_state(c.state)
	}
	clear(h.leaving[len(staying):])
	h.leaving = staying
}

// isGone reports whether all threads of a crew have left; with wait, it waits until they have.
func (c *crew) isGone(wait bool) bool {
	for {
		select {
		case <-c.gone:
			return true
		default:
			if !wait {
				return false
			}
		}
		C.duckdb_finish_execution(c.state) // again: another thread may have taken the call that was for one of these
		select {
		case <-c.gone:
		case <-time.After(time.Millisecond):
		}
	}
}

// hold stops the threads until release is called, for atMost. Holds may overlap.
func (h *helpers) hold(atMost time.Duration) (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds++
	h.send()
	over, once := make(chan struct{}), sync.Once{}
	end := func() {
		once.Do(func() {
			close(over)
			h.mu.Lock()
			defer h.mu.Unlock()
			h.holds--
			h.call()
		})
	}
	guard.Start(func() error {
		timer := time.NewTimer(atMost)
		defer timer.Stop()
		select {
		case <-over:
		case <-timer.C:
			end()
		}
		return nil
	})
	return end
}

// close ends all threads for good and waits for them: their tasks must end soon.
func (h *helpers) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.send()
	h.bury(true)
}

// Alone keeps DuckDB's helper threads from working until release is called, for a second at most.
// Queries of few rows then take about a quarter less processor time, and long ones longer, because
// the calling thread works alone. It is a hint, and changes no result.
func (db *DB) Alone() (release func()) {
	return db.holdOff(func(h *helpers) time.Duration { return h.atMost })
}

// AloneBeside is Alone for longer work, while the other processors have something else to do. It
// lasts for atMost.
func (db *DB) AloneBeside(atMost time.Duration) (release func()) {
	return db.holdOff(func(*helpers) time.Duration { return atMost })
}

// AloneBesideOne is AloneBeside unless there are several helpers: two threads that work for themselves, and wait for
// statements of theirs, need two processors. Several helpers have time for the statements of others.
func (db *DB) AloneBesideOne(atMost time.Duration) (release func()) {
	return db.holdOff(func(h *helpers) time.Duration {
		if h.count > 1 {
			return 0
		}
		return atMost
	})
}

// holdOff holds the helpers off for as long as atMost says, if that is not 0.
func (db *DB) holdOff(atMost func(*helpers) time.Duration) (release func()) {
	// A caller within Write holds the gate already. If somebody is waiting to close or replace the
	// pools, taking it a second time would deadlock.
	if !db.gate.TryRLock() {
		return func() {}
	}
	defer db.gate.RUnlock()
	if db.pools == nil {
		return func() {}
	}
	h := &db.pools.helpers
	if most := atMost(h); most > 0 {
		return h.hold(most)
	}
	return func() {}
}
