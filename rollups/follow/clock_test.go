package follow

import (
	"testing"
	"time"
)

func TestWhatAClockThatWasAheadPlannedIsDue(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		in   time.Duration
		want bool
	}{{-time.Second, true}, {0, true}, {time.Second, false}, {time.Hour, false}, {time.Hour + time.Second, true}, {365 * 24 * time.Hour, true}} {
		if got := reached(now.Add(c.in).Unix(), now, time.Hour); got != c.want {
			t.Errorf("in %s: %v", c.in, got)
		}
	}
	m := &Markets{asked: map[uint64]patience{}}
	m.absent(1, now.AddDate(1, 0, 0), afterOpen)
	m.absent(2, now, afterOpen)
	if !m.ready(1, now) || m.ready(2, now) {
		t.Error("what was asked for by a clock that was ahead waits for it, or what was asked for now does not")
	}
	for _, pauses := range [][]time.Duration{afterMissing, afterOpen} {
		if pauses[len(pauses)-1] > longestPause {
			t.Errorf("a pause of %s is longer than longestPause", pauses[len(pauses)-1])
		}
	}
}
