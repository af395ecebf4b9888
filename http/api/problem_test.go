package api

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A time-out on a busy machine is not an error of the program: clients may retry.
func TestSlowRequestsAreAnsweredWithRetryAfter(t *testing.T) {
	busy := problemOf(fmt.Errorf("export job: %w", context.DeadlineExceeded))
	if busy.status != 503 || busy.code != "not_ready" || busy.retry < 1 {
		t.Errorf("busy = %+v", busy)
	}
	for _, err := range []error{errors.New("anything else"), context.Canceled} {
		if p := problemOf(err); p.status != 500 || p.code != "internal" {
			t.Errorf("%v: got %+v", err, p)
		}
	}
}
