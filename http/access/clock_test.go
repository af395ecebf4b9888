package access

import (
	"net/netip"
	"testing"
	"time"
)

// If the clock is set back by more than a minute, the window begins again: a key or an address at
// its limit is not refused until the clock catches up.
func TestClocksThatAreSetBack(t *testing.T) {
	k, now := &Key{}, time.Unix(1_800_000_000, 0)
	limit := k.Tier().Caps().Rate
	for range limit + 5 {
		k.Take(now, 0)
	}
	if k.Take(now, 0).OK || k.Take(now.Add(-time.Minute), 0).OK {
		t.Error("over the limit, and a request that was overtaken is let through")
	}
	if w := k.Take(now.Add(-24*time.Hour), 0); !w.OK || w.ResetIn > windowSeconds {
		t.Errorf("a day back: %+v", w)
	}
	f, addr := newAddressCounts(FailuresPerMinute), netip.MustParseAddr("192.0.2.1")
	minute := now.Unix() / windowSeconds
	for range FailuresPerMinute + 1 {
		f.count(addr, minute, 1)
	}
	if f.count(addr, minute, 0) < FailuresPerMinute || f.count(addr, minute-1, 0) < FailuresPerMinute || f.count(addr, minute-1440, 0) > 0 {
		t.Error("failures")
	}
}
