package engine

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Bounds of how much garbage is held beside what lives, in percent of that. Go's own is the
// upper one; below the lower one the collector would do little else.
const (
	usualGarbage = 100
	leastGarbage = 15
)

// BoundGarbage has the collector run often enough that Go holds no more than about so many bytes
// beside what lives; 0: as it does by itself. A server that holds a venue in memory and takes in a
// little every second would else hold as much garbage as venue. It changes nothing if the one who
// started the process said how often the collector is to run (GOGC).
func BoundGarbage(most int64) {
	if _, told := os.LookupEnv("GOGC"); told {
		return
	}
	debug.SetGCPercent(garbagePercent(most, liveHeap()))
}

func garbagePercent(most, live int64) int {
	if most <= 0 || live <= 0 {
		return usualGarbage
	}
	return int(min(usualGarbage, max(leastGarbage, most*100/live)))
}

// liveHeap is what lived when the collector ran last, in bytes.
func liveHeap() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// ReturnMemory gives the system what neither Go nor C and its libraries use any more.
func ReturnMemory() {
	runtime.GC() // what is pooled goes with the second collection
	debug.FreeOSMemory()
	TrimMemory()
	TrimBlocks()
}
