package engine

import (
	"os"
	"runtime"
	"sync"

	"pmx/engine/guard"
)

// room is how many threads may run Go code beside one for each processor.
const room = 2

// MakeRoom lets more threads run Go code at once than there are processors, once
// and for the whole process, unless GOMAXPROCS in the environment says how many. A
// thread that gives way keeps its right to run Go while the system lets it wait, so
// with one right for each processor a request would wait with it: priority upside
// down. With rights to spare, the system alone decides who runs.
func MakeRoom() {
	madeRoom.Do(func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + room)
		}
	})
}

var madeRoom sync.Once

// Yielding runs f on a thread of its own that gives way to all others: requests
// keep their pace while f, and what DuckDB does for it on that thread, takes what
// time is left. A panic of f goes on in the caller, as a
// *guard.Panic that holds where it began.
func Yielding(f func() error) error {
	return guard.Handed(<-guard.Thread(func() error {
		giveWay()
		return f()
	}))
}
