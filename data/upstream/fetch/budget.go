package fetch

import (
	"time"

	"golang.org/x/time/rate"
)

// budget is the state of a host's Budget.
type budget struct {
	limiter   *rate.Limiter
	full      Budget
	share     float64 // the part of full that is used
	changed   time.Time
	halved    time.Time
	notBefore time.Time // when the host allows requests again
}

// smallestShare is the minimum share of a budget after many halvings; restored is the share that is
// restored per minute.
const (
	smallestShare = 1.0 / 64
	restored      = 0.1
)

// halve halves the budget, once for all requests that were in flight together. began is when the
// refused request was sent.
func (b *budget) halve(began, now time.Time) {
	if began.Before(b.halved) {
		return
	}
	b.restore(now)
	b.share, b.halved, b.changed = max(b.share/2, smallestShare), now, now
	b.set(now)
}

// restore restores the share for the time since the last call.
func (b *budget) restore(now time.Time) {
	if b.share >= 1 {
		return
	}
	if passed := now.Sub(b.changed); passed > 0 {
		b.share = min(1, b.share+restored*passed.Minutes())
		b.set(now)
	}
	b.changed = now
}

func (b *budget) set(now time.Time) {
	b.limiter.SetLimitAt(now, rate.Limit(b.full.PerSecond*b.share))
	b.limiter.SetBurstAt(now, max(1, int(float64(b.full.Burst)*b.share)))
}

func (b *budget) pause(until time.Time) {
	if until.After(b.notBefore) {
		b.notBefore = until
	}
}
