package follow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A node whose requests failed until the time was over is reported with how they failed.
func TestANodeThatFailsInTimeIsReportedWithItsError(t *testing.T) {
	failed := errors.New("status 503")
	for _, err := range []error{failed, fmt.Errorf("asked twice: %w", failed), fmt.Errorf("asked: %w", context.DeadlineExceeded)} {
		late := tooLate(5*time.Second, err)
		if silent := errors.Is(err, context.DeadlineExceeded); !strings.HasPrefix(late.Error(), "no usable response within 5s") || silent == errors.Is(late, failed) {
			t.Errorf("%v: %v", err, late)
		}
	}
}
