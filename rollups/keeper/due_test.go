package keeper

import (
	"testing"
	"time"

	"pmx/rollups/walletrun"
)

func TestWhenAFileInWalletOrderIsWritten(t *testing.T) {
	now := time.Now()
	tried := func(ago time.Duration, failed bool) *wallets {
		return &wallets{took: time.Second, at: now.Add(-ago), failed: failed}
	}
	written, longAgo := tried(10*time.Second, false), tried(21*time.Second, false)
	const large = 100_000_000
	for _, c := range []struct {
		what string
		w    *wallets
		s    walletrun.Stats
		due  bool
	}{
		{"nobody asked yet", &wallets{}, walletrun.Stats{Idle: true}, false},
		{"there is none", &wallets{}, walletrun.Stats{}, true},
		{"there is none, and the last try failed", tried(10*time.Second, true), walletrun.Stats{}, false},
		{"it failed long ago", tried(21*time.Second, true), walletrun.Stats{}, true},
		{"nothing came in", longAgo, walletrun.Stats{Ready: true, Run: large}, false},
		{"a new venue", &wallets{}, walletrun.Stats{Ready: true, Tail: tailFew - 1}, false},
		{"a new venue grows", &wallets{}, walletrun.Stats{Ready: true, Tail: tailFew}, true},
		{"few beside many", written, walletrun.Stats{Ready: true, Run: 1_600_000, Tail: 99_999}, false},
		{"a sixteenth", written, walletrun.Stats{Ready: true, Run: 1_600_000, Tail: 100_000}, true},
		{"the most there may be", written, walletrun.Stats{Ready: true, Run: large, Tail: tailMost}, true},
		{"a fill was replaced", written, walletrun.Stats{Ready: true, Run: large, Dirty: 1}, false},
		{"a fill was replaced a while ago", longAgo, walletrun.Stats{Ready: true, Run: large, Dirty: 1}, true},
	} {
		if got := c.w.due(c.s, now); got != c.due {
			t.Errorf("%s: due %v", c.what, got)
		}
	}
}
