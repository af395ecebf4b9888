package index

import "pmx/data"

// Bar is how one index moved over the instants of a stretch of time; all four are
// None where it never had a value.
type Bar struct{ Open, High, Low, Close data.Micro }

// Bars are the bars of all indices over one stretch.
type Bars [Names]Bar

// HourBuckets is how many instants an hour has: those from its beginning to
// before its end.
const HourBuckets = 12

// NoBar is a stretch without a value.
func NoBar() Bar { return Bar{None, None, None, None} }

// NoBars is where every stretch starts.
func NoBars() Bars {
	var b Bars
	for n := range b {
		b[n] = NoBar()
	}
	return b
}

// Add takes the values of the next instant in.
func (b *Bars) Add(v *Values) {
	for n := range b {
		b[n].add(Bar{v[n], v[n], v[n], v[n]})
	}
}

// Join takes the next stretch in.
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
