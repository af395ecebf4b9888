package engine

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Yielding runs f on a thread of its own that gives way to all others: requests
// keep their pace while f, and what DuckDB does for it on that thread, takes what
// time is left. A panic of f goes on in the caller, as text with where it began.
func Yielding(f func() error) error {
	type outcome struct {
		err      error
		panicked string
		returned bool
	}
	done := make(chan outcome, 1)
	go func() {
		// Never unlocked: the thread ends with the goroutine, and with it its priority.
		runtime.LockOSThread()
		giveWay()
		var o outcome
		defer func() {
			if !o.returned {
				o.panicked = fmt.Sprintf("%v\n%s", recover(), debug.Stack())
			}
			done <- o
		}()
		o.err = f()
		o.returned = true
	}()
	o := <-done
	if !o.returned {
		panic(o.panicked)
	}
	return o.err
}
