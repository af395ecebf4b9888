//go:build !linux

package main

import (
	"math"
	"os"

	"pmx/engine"
)

// openFilesLimit is unknown on this system.
func openFilesLimit() uint64 { return math.MaxInt64 }

// checkOwner checks nothing on this system.
func checkOwner(engine.Dir, os.FileInfo) []finding { return nil }

// checkClock is not supported on this system.
func checkClock() finding {
	return finding{"clock", warns, "it is not known on this system whether it is synchronised", "check its settings"}
}
