package engine

import (
	"os"
	"runtime"
	"sync"

	"pmx/engine/guard"
)

// spareProcs is how many threads may run Go code in addition to one for each processor.
const spareProcs = 2

// AddSpareProcs lets more threads run Go code at once than there are processors, once and for the
// whole process, unless GOMAXPROCS in the environment says how many. A thread of low priority keeps
// its right to run Go (its P) while the system lets it wait, so with one P for each processor a
// request would wait with it: priority inversion. With spare ones the system alone decides which
// thread runs.
func AddSpareProcs() {
	sparedProcs.Do(func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcs)
		}
	})
}

var sparedProcs sync.Once

// LowPriority runs f on a thread of its own with the lowest priority: f, and what DuckDB does for
// it on that thread, gets the processor time that requests leave. A panic of f continues in the
// caller, as a *guard.Panic with the original stack.
func LowPriority(f func() error) error { return guard.Repanic(<-StartLowPriority(f)) }

// StartLowPriority begins f as LowPriority runs it, and returns how it ended, a panic as a *guard.Panic.
func StartLowPriority(f func() error) <-chan error {
	return guard.StartThread(func() error {
		lowerPriority()
		return f()
	})
}
