package engine

import (
	"os"
	"runtime"
	"sync"

	"pmx/engine/guard"
)

// spareProcs is how many threads may run Go code beside one for each processor.
const spareProcs = 2

// AddSpareProcs lets more threads run Go code at once than there are processors, once
// and for the whole process, unless GOMAXPROCS in the environment says how many. A
// thread that gives way keeps its right to run Go while the system lets it wait, so
// with one right for each processor a request would wait with it: priority upside
// down. With rights to spare, the system alone decides who runs.
func AddSpareProcs() {
	sparedProcs.Do(func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareProcs)
		}
	})
}

var sparedProcs sync.Once

// LowPriority runs f on a thread of its own that gives way to all others: requests
// keep their pace while f, and what DuckDB does for it on that thread, takes what
// time is left. A panic of f goes on in the caller, as a
// *guard.Panic that holds where it began.
func LowPriority(f func() error) error {
	return guard.Repanic(<-guard.StartThread(func() error {
		lowerPriority()
		return f()
	}))
}
