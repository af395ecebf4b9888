package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// What a busy machine has no time for is no error of the program: callers are told to come again.
func TestWhatTakesTooLongIsToBeTriedAgain(t *testing.T) {
	busy := problemOf(fmt.Errorf("export job: %w", context.DeadlineExceeded))
	if busy.status != 503 || busy.code != "not_ready" || busy.retry < 1 {
		t.Errorf("%+v", busy)
	}
	for _, err := range []error{errors.New("anything else"), context.Canceled} {
		if p := problemOf(err); p.status != 500 || p.code != "internal" {
			t.Errorf("%v gives %+v", err, p)
		}
	}
}
