package index

import "pmx/data"

// Bar is how one index moved over the instants of an interval; all four are None if it never had a
// value.
type Bar struct{ Open, High, Low, Close data.Micro }

// Bars are the bars of all indices over one interval.
type Bars [Names]Bar

// HourBuckets is how many instants an hour has: those from its beginning to
// before its end.
const HourBuckets = 12

// NoBar is the bar of an interval without a value.
func NoBar() Bar { return Bar{None, None, None, None} }

// NoBars is the start of every interval: no bar has a value.
func NoBars() Bars {
	var b Bars
	for n := range b {
		b[n] = NoBar()
	}
	return b
}

// Add adds the values of the next instant.
func (b *Bars) Add(v *Values) {
	for n := range b {
		b[n].add(Bar{v[n], v[n], v[n], v[n]})
	}
}

// Join adds the bar of the next interval.
func (b *Bar) Join(next Bar) { b.add(next) }

func (b *Bar) add(next Bar) {
	switch {
	case next.Close == None:
	case b.Close == None:
		*b = next
	default:
		b.High, b.Low, b.Close = max(b.High, next.High), min(b.Low, next.Low), next.Close
	}
}
