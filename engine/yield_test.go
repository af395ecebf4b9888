package engine_test

import (
	"errors"
	"testing"

	"pmx/engine"
)

func TestYieldingGivesBackWhatItsWorkGave(t *testing.T) {
	mine := errors.New("mine")
	if err := engine.Yielding(func() error { return mine }); !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
	defer func() {
		if p := recover(); p != "oh" {
			t.Errorf("the panic came as %v", p)
		}
	}()
	_ = engine.Yielding(func() error { panic("oh") })
}
