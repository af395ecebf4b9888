package engine

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Bounds of GOGC, the garbage that may accumulate in percent of the live heap. The upper one is
// Go's default; below the lower one the collector would do little else.
const (
	usualGarbage = 100
	leastGarbage = 15
)

// BoundGarbage makes the collector run often enough that Go holds at most about this many bytes of
// garbage; 0 restores Go's default. Without it a server that holds a venue in memory and adds a
// little every second would hold as much garbage as live data. It does nothing if GOGC is set in
// the environment.
func BoundGarbage(most int64) {
	if _, told := os.LookupEnv("GOGC"); told {
		return
	}
	debug.SetGCPercent(garbagePercent(most, LiveHeap()))
}

func garbagePercent(most, live int64) int {
	if most <= 0 || live <= 0 {
		return usualGarbage
	}
	return int(min(usualGarbage, max(leastGarbage, most*100/live)))
}

// LiveHeap is the size in bytes of the live heap after the last collection.
func LiveHeap() int64 { return goMetric("/gc/heap/live:bytes") }

// SpareHeap is the memory in bytes that Go has from the operating system beyond its live heap: garbage, and memory that was
// freed and not returned.
func SpareHeap() int64 {
	held := goMetric("/memory/classes/heap/objects:bytes") + goMetric("/memory/classes/heap/unused:bytes") + goMetric("/memory/classes/heap/free:bytes")
	return max(0, held-LiveHeap())
}

// Collections is how many collections of garbage were due so far, not counting those of ReturnMemory.
func Collections() int64 { return goMetric("/gc/cycles/automatic:gc-cycles") }

// goMetric reads a metric of package runtime/metrics; 0 if this version of Go does not have it.
func goMetric(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(s[0].Value.Uint64())
}

// ReturnMemory returns unused memory of Go and of C libraries to the operating system.
func ReturnMemory() {
	runtime.GC() // pools are emptied by the second collection
	debug.FreeOSMemory()
	TrimMemory()
	TrimBlocks()
}
