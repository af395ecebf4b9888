package main

import (
	"strings"
	"testing"
	"time"
)

// TestStatusShowsACheckpointThatIsPutOff: since when, and nothing if the last one was made.
func TestStatusShowsACheckpointThatIsPutOff(t *testing.T) {
	now := time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	for _, owed := range []time.Time{{}, now.Add(-2 * time.Minute)} {
		var text strings.Builder
		r := statusReport{Server: &serverStatus{CheckpointOwed: owed}}
		if err := r.print(&text, now); err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(text.String(), "put off since 2026-11-07T11:58:00Z, 2 min ago"); shown == owed.IsZero() {
			t.Errorf("put off since %v:\n%s", owed, text.String())
		}
	}
}
