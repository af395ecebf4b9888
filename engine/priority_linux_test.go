package engine_test

import (
	"runtime"
	"syscall"
	"testing"

	"pmx/engine"
)

func TestYieldingLowersOnlyItsOwnThread(t *testing.T) {
	// Linux gives 20 less the niceness.
	nice := func() int {
		n, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := nice()
	var within int
	if err := engine.LowPriority(func() error { within = nice(); return nil }); err != nil {
		t.Fatal(err)
	}
	if within != max(before, 15) || nice() != before {
		t.Errorf("%d before, %d within, %d after", before, within, nice())
	}
}
