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

// aloneAtMost is how long helpers are held off: what takes longer has use for them.
const aloneAtMost = time.Second

// helpers are the threads on which DuckDB works at queries, beside those that ask them. They
// are the engine's and not DuckDB's own, so that they can be held off: each step of a query wakes
// one, and the thread that asks spins until it is done. The zero helpers are none.
type helpers struct {
	database unsafe.Pointer // DuckDB's own handle
	count    int
	atMost   time.Duration // a hold lasts

	mu      sync.Mutex
	holds   int     // that are not over
	closed  bool    // they never come again
	working *crew   // nil: none is
	leaving []*crew // sent away, and maybe not gone
}

// crew are the threads that were begun together.
type crew struct {
	state C.duckdb_task_state
	gone  <-chan struct{}
}

// handleOf is DuckDB's own handle of a connector's database, nil if the driver has it elsewhere
// than this package knows: it is in no exported field.
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

// begin has count threads work at the queries of a connector's database.
func (h *helpers) begin(of *duckdb.Connector, count int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.database, h.count, h.atMost = handleOf(of), count, aloneAtMost; h.database == nil {
		return errors.New("the database driver keeps its handle elsewhere: no thread can help it")
	}
	h.call()
	return nil
}

// call has them work, where nothing holds them off.
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

// send has those that work leave when they are done with what they are at.
func (h *helpers) send() {
	if h.working != nil {
		C.duckdb_finish_execution(h.working.state)
		h.leaving = append(h.leaving, h.working)
		h.working = nil
	}
	h.bury(false)
}

// bury frees the crews that are gone; with wait, all that were sent away.
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

// isGone reports whether all threads of a crew that was sent away have left; with wait, it waits
// for it.
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
		C.duckdb_finish_execution(c.state) // once more: another may have taken the call that was for one of these
		select {
		case <-c.gone:
		case <-time.After(time.Millisecond):
		}
	}
}

// hold keeps them away until release is called, for atMost. Several may hold at once.
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

// close sends all away for good, and waits for it: what they work at must be over soon.
func (h *helpers) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.send()
	h.bury(true)
}

// Alone keeps DuckDB's helping threads from queries that follow until release is called, for a
// second at most. Queries of few rows take about a quarter less processor time, and long ones
// longer: the thread that asks works alone. It is a hint, and changes no result.
func (db *DB) Alone() (release func()) {
	return db.holdOff(func(h *helpers) time.Duration { return h.atMost })
}

// AloneBeside is Alone for work that is longer, and for which the other processors have something
// else to do: it lasts for atMost.
func (db *DB) AloneBeside(atMost time.Duration) (release func()) {
	return db.holdOff(func(*helpers) time.Duration { return atMost })
}

func (db *DB) holdOff(atMost func(*helpers) time.Duration) (release func()) {
	// Who asks from within Write has the gate already: where somebody waits to close or replace the
	// pools, to wait for it a second time would be forever.
	if !db.gate.TryRLock() {
		return func() {}
	}
	defer db.gate.RUnlock()
	if db.pools == nil {
		return func() {}
	}
	h := &db.pools.helpers
	return h.hold(atMost(h))
}
