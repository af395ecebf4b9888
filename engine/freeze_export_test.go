package engine

import (
	"testing"
	"time"
)

// FreezeWithin sets how long a Freeze waits for queries that are older than a change.
func FreezeWithin(t *testing.T, d time.Duration) {
	was := freezeWait
	freezeWait = d
	t.Cleanup(func() { freezeWait = was })
}
