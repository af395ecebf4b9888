package engine_test

import (
	"errors"
	"strings"
	"testing"

	"pmx/engine"
)

func TestYieldingGivesBackWhatItsWorkGave(t *testing.T) {
	mine := errors.New("mine")
	if err := engine.Yielding(func() error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
	defer func() {
		if p, ok := recover().(string); !ok || !strings.HasPrefix(p, "oh\n") || !strings.Contains(p, "yield_test.go") {
			t.Errorf("the panic came as %q", p)
		}
	}()
	_ = engine.Yielding(func() error { panic("oh") })
}
