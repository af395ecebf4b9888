package openmeteo

import (
	"fmt"
	"time"
)

// Budget is how much weight may be asked for on one UTC day. It is for one goroutine, and
// survives a restart where its State is kept.
type Budget struct {
	Most  float64
	spent Spent
}

// Spent is what was asked for on a day.
type Spent struct {
	Day    int64   `json:"day"` // since 1970
	Weight float64 `json:"weight"`
}

// SpentError is what is returned where the day's weight does not allow for a request.
type SpentError struct {
	Weight, Left float64
	Until        time.Time // when the next day begins
}

// Error says how much is left.
func (e *SpentError) Error() string {
	return fmt.Sprintf("a request of weight %.0f is more than the %.0f left of this day's", e.Weight, max(e.Left, 0))
}

// Restore puts the budget where it was.
func (b *Budget) Restore(s Spent) { b.spent = s }

// Spent is where the budget is.
func (b *Budget) Spent() Spent { return b.spent }

// Left is what may still be asked for on the day of now. Where the clock went back, it is
// that of the later day.
func (b *Budget) Left(now time.Time) float64 {
	if dayOf(now) > b.spent.Day {
		return b.Most
	}
	return b.Most - b.spent.Weight
}

// Take counts a request, which is to be asked only behind it, or gives a *SpentError where
// less than keep would be left.
func (b *Budget) Take(now time.Time, weight, keep float64) error {
	left := b.Left(now)
	if weight+keep > left {
		return &SpentError{weight, left - keep, time.Unix((max(dayOf(now), b.spent.Day)+1)*86_400, 0).UTC()}
	}
	b.spent = Spent{max(dayOf(now), b.spent.Day), b.Most - left + weight}
	return nil
}

func dayOf(t time.Time) int64 { return t.Unix() / 86_400 }
