//go:build !linux

package main

import (
	"math"
	"os"

	"pmx/engine"
)

// openFilesLimit is how many files this process may have open: not known here.
func openFilesLimit() uint64 { return math.MaxInt64 }

// checkOwner leaves the owner to the system.
func checkOwner(engine.Dir, os.FileInfo) []finding { return nil }

// checkClock cannot tell.
func checkClock() finding {
	return finding{"clock", warns, "whether it is kept right is not known on this system", "look at its settings"}
}
