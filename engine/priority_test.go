package engine_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/engine/guard"
)

func TestYieldingReturnsTheResult(t *testing.T) {
	mine := errors.New("mine")
	if err := engine.LowPriority(func() error { return mine }); !errors.Is(err, mine) {
		t.Errorf("err = %v", err)
	}
	defer func() {
		if p, ok := recover().(*guard.Panic); !ok || p.Value != "oh" || !strings.Contains(p.Stack, "priority_test.go") {
			t.Errorf("the panic came as %v", p)
		}
	}()
	_ = engine.LowPriority(func() error { panic("oh") })
}

func TestBuffersAreAllocatedOnce(t *testing.T) {
	if os.Getenv("GOMAXPROCS") != "" {
		t.Skip("GOMAXPROCS is set in the environment, which then applies")
	}
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	engine.AddSpareProcs()
	after := runtime.GOMAXPROCS(0)
	engine.AddSpareProcs()
	if again := runtime.GOMAXPROCS(0); after <= before || again != after {
		t.Errorf("%d threads, then %d, then %d", before, after, again)
	}
}
