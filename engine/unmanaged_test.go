package engine_test

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"pmx/engine"
)

// Memory outside of Go's heap is zero, as long as was asked for, and not counted by the collector.
func TestUnmanagedMemoryIsNotInTheHeap(t *testing.T) {
	const n = 8 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	values, free, err := engine.Unmanaged[int64](n)
	if err != nil || len(values) != n || cap(values) != n {
		t.Fatalf("%d values, room for %d: %v", len(values), cap(values), err)
	}
	defer free()
	for i := range values {
		if values[i] != 0 {
			t.Fatalf("value %d is %d", i, values[i])
		}
		values[i] = int64(i)
	}
	if now := heap(); now > before+n {
		t.Errorf("the heap grew by %d bytes for %d", now-before, 8*n)
	}
	if values[n-1] != n-1 {
		t.Errorf("the last value is %d", values[n-1])
	}
	if none, free, err := engine.Unmanaged[int64](0); err != nil || len(none) != 0 {
		t.Errorf("no values: %d, %v", len(none), err)
	} else {
		free()
	}
	if _, _, err := engine.Unmanaged[int64](math.MaxInt64 / 16); !errors.Is(err, engine.ErrMemory) {
		t.Errorf("more memory than any machine has: %v", err)
	}
}
