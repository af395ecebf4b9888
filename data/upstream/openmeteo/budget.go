package openmeteo

import (
	"fmt"
	"time"
)

// Budget limits the weight of the requests of a UTC day. It must be used by one goroutine. It
// survives a restart if what Spent returns is stored and passed to Restore.
type Budget struct {
	Most  float64
	spent Spent
}

// Spent is the weight of the requests of a day.
type Spent struct {
	Day    int64   `json:"day"` // since 1970
	Weight float64 `json:"weight"`
}

// SpentError is the error of a request that exceeds the rest of the day's budget.
type SpentError struct {
	Weight, Left float64
	Until        time.Time // when the next day begins
}

// Error says how much is left.
func (e *SpentError) Error() string {
	return fmt.Sprintf("a request of weight %.0f exceeds the %.0f left today", e.Weight, max(e.Left, 0))
}

// Restore sets what was spent, after a restart.
func (b *Budget) Restore(s Spent) { b.spent = s }

// Spent returns what was spent.
func (b *Budget) Spent() Spent { return b.spent }

// Left returns the weight that is left on the day of now. If the clock went back, it is that of the
// later day.
func (b *Budget) Left(now time.Time) float64 {
	if dayOf(now) > b.spent.Day {
		return b.Most
	}
	return b.Most - b.spent.Weight
}

// Take counts a request, before it is sent. The error is a *SpentError if less than keep would be
// left.
func (b *Budget) Take(now time.Time, weight, keep float64) error {
	left := b.Left(now)
	if weight+keep > left {
		return &SpentError{weight, left - keep, time.Unix((max(dayOf(now), b.spent.Day)+1)*86_400, 0).UTC()}
	}
	b.spent = Spent{max(dayOf(now), b.spent.Day), b.Most - left + weight}
	return nil
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }
