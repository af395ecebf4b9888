package weather

import (
	"fmt"
	"slices"

	"pmx/data"
)

// Rounding is how a measured temperature becomes the whole degrees that settle an
// event.
type Rounding int8

// The two roundings. Stations report whole degrees rounded half up; the Hong Kong Observatory
// reports tenths, all ten of which belong to the bracket of the whole degree.
const (
	HalfUp Rounding = iota
	Floor
)

// String returns "half_up" or "floor".
func (r Rounding) String() string {
	if r == Floor {
		return "floor"
	}
	return "half_up"
}

// Degrees returns the whole degrees of u that t settles as: half up means that 22.5 is 23 and −2.5
// is −2 (WMO-No. 8, not half away from zero).
func (r Rounding) Degrees(t data.Temp, u data.Unit) int {
	n, step := int64(t)-int64(data.Degrees(0, u)), int64(u.Degree())
	if r == HalfUp {
		n += step / 2
	}
	q := n / step
	if n%step < 0 {
		q--
	}
	return int(q)
}

// Degrees returns the whole degrees of the event's scale that a station's value settles as. whole
// is the group of whole degrees Celsius that a report has besides the finer value, nil if there is
// none: an event in Celsius settles by it.
func (r Rules) Degrees(value data.Temp, whole *data.Temp) int {
	if whole != nil && r.Unit == data.Celsius && r.Rounding == HalfUp {
		value = *whole
	}
	return r.Rounding.Degrees(value, r.Unit)
}

// Slack returns how far a reading may be from the reported value: half of the value's last place,
// which is the coarsest one that fits: whole degrees Celsius before Fahrenheit, then their tenths,
// then hundredths. A report of 10 °C means a reading from 9.5 up to below 10.5, one of 51 °F from
// 50.5 up to below 51.5, one of 10.2 °C from 10.15 up to below 10.25. A report in tenths that
// happens to be in whole degrees counts as one in whole degrees.
func Slack(value data.Temp) data.Temp {
	for _, u := range []data.Unit{data.Celsius, data.Fahrenheit} {
		if value%u.Degree() == 0 {
			return u.Degree() / 2
		}
	}
	for _, u := range []data.Unit{data.Celsius, data.Fahrenheit} {
		if tenth := u.Degree() / 10; value%tenth == 0 {
			return tenth / 2
		}
	}
	return 4
}

// SoFar is what a station has measured of a day's extreme, in the whole degrees that it
// would settle as.
type SoFar struct {
	Degrees int // of the value as reported
	// Bound is the limit of all readings within the precision of the reports: a high is at least
	// this, a low at most.
	Bound int
}

// Interval has the temperatures of a bracket: at least From and below To, unless the side is open.
type Interval struct {
	From, To           data.Temp
	Unbounded, Endless bool // no From, no To
}

// Interval returns the temperatures that settle in b: from half a degree below its lower bound to
// half a degree above its upper, or with Floor the whole degrees.
func (b Bracket) Interval(r Rounding) Interval {
	below := data.Temp(0)
	if r == HalfUp {
		below = b.Unit.Degree() / 2
	}
	iv := Interval{Unbounded: b.OpenLow, Endless: b.OpenHigh}
	if !b.OpenLow {
		iv.From = data.Degrees(b.Lo, b.Unit) - below
	}
	if !b.OpenHigh {
		iv.To = data.Degrees(b.Hi+1, b.Unit) - below
	}
	return iv
}

// Contains reports whether t lies in the interval.
func (iv Interval) Contains(t data.Temp) bool {
	return (iv.Unbounded || t >= iv.From) && (iv.Endless || t < iv.To)
}

// LadderError says why brackets do not form a ladder.
type LadderError struct{ Reason string }

// Error says what is wrong.
func (e *LadderError) Error() string { return "brackets: " + e.Reason }

func broken(format string, args ...any) error { return &LadderError{fmt.Sprintf(format, args...)} }

// minBrackets is the fewest brackets a ladder has: two open-ended ones and one between.
const minBrackets = 3

// Ladder returns the order of brackets from the coldest up, as indexes into list: sources list them
// in any order. Brackets of list without a scale are given unit. It returns a *LadderError unless
// they cover all temperatures exactly once: for brackets of two scales, no open-ended one or two on
// a side, a gap, or an overlap.
func Ladder(list []Bracket, unit data.Unit) ([]int, error) {
	if len(list) < minBrackets {
		return nil, broken("there are %d, a ladder has at least %d", len(list), minBrackets)
	}
	order := make([]int, len(list))
	for i, b := range list {
		order[i] = i
		if b.Unit == 0 {
			list[i].Unit = unit
		}
		if list[i].Unit == 0 || list[i].Unit != list[0].Unit {
			return nil, broken("%s is not of the scale of %s", b.Label(), list[0].Label())
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return list[i].rank() - list[j].rank() })
	if !list[order[0]].OpenLow || !list[order[len(order)-1]].OpenHigh {
		return nil, broken("the line is not taken up at both ends: %s … %s", list[order[0]].Label(), list[order[len(order)-1]].Label())
	}
	for k := 1; k < len(order); k++ {
		low, high := list[order[k-1]], list[order[k]]
		switch {
		case low.OpenHigh || high.OpenLow || high.Lo <= low.Hi:
			return nil, broken("%s and %s overlap", low.Label(), high.Label())
		case high.Lo > low.Hi+1:
			return nil, broken("there is a gap between %s and %s", low.Label(), high.Label())
		}
	}
	return order, nil
}

// rank orders brackets: open-ended ones by their open side, others by their lower bound.
func (b Bracket) rank() int {
	switch {
	case b.OpenLow:
		return -10_000 + b.Hi
	case b.OpenHigh:
		return 10_000 + b.Lo
	}
	return b.Lo
}
