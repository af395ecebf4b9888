package engine

import (
	"runtime"
	"testing"
)

// TestGarbageIsBounded: garbage is limited to a number of bytes, as far as the collector can;
// without a bound, Go's default applies.
func TestGarbageIsBounded(t *testing.T) {
	const mega = 1 << 20
	for _, c := range []struct {
		most, live int64
		percent    int
	}{{0, 400 * mega, 100}, {32 * mega, 0, 100}, {32 * mega, 10 * mega, 100}, {32 * mega, 64 * mega, 50}, {32 * mega, 128 * mega, 25},
		{32 * mega, 10_000 * mega, 15}} {
		if got := garbagePercent(c.most, c.live); got != c.percent {
			t.Errorf("%d MB of garbage with %d MB live: %d %%, want %d", c.most/mega, c.live/mega, got, c.percent)
		}
	}
	runtime.GC()
	if live := LiveHeap(); live < 10_000 || live > 10<<30 {
		t.Errorf("%d bytes live", live)
	}
}
