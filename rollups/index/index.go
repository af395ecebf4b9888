// Package index defines the PMX index: from sums over five minutes to the value of every index at
// every instant. It uses no database and, except for a first guess at a root, no floating-point
// numbers, so that equal data give equal values everywhere.
package index

import (
	"time"

	"pmx/data"
)

// Version names the method behind every value; it changes when any definition
// here does.
const Version = "pmx_index_v1"

// Step is the time between two instants at which the index is computed. An
// instant is a multiple of it since 1970, its bucket.
const Step = 5 * time.Minute

const (
	// DayBuckets is how many buckets 24 hours have.
	DayBuckets = int32(24 * time.Hour / Step)
	// BaseWindows is how many windows of 24 hours before the last one are its norm.
	BaseWindows = 30
	// MinWindows is how many of them must hold data.
	MinWindows = 7
	// Reach is how many buckets later a value still depends on a bucket.
	Reach = (BaseWindows + 1) * DayBuckets
)

// At is the bucket whose instant is the last one up to ts, in unix µs.
func At(ts int64) int32 { return int32(ts / Step.Microseconds()) }

// BucketOf is the bucket that a fill at ts counts in: those after the instant
// before it, up to its own.
func BucketOf(ts int64) int32 { return int32((ts + Step.Microseconds() - 1) / Step.Microseconds()) }

// Time is the instant of a bucket in unix µs.
func Time(bucket int32) int64 { return int64(bucket) * Step.Microseconds() }

// Flow is what takers traded in a bucket or a window of them.
type Flow struct {
	Fills                   int64
	Taker                   data.Micro // all of it
	Whale, Politics, Crypto data.Micro // whale moves; markets in a category
	First, Mapped           data.Micro // towards the first outcome; all whose market is known
}

func (f Flow) plus(o Flow) Flow {
	return Flow{f.Fills + o.Fills, f.Taker + o.Taker, f.Whale + o.Whale, f.Politics + o.Politics, f.Crypto + o.Crypto,
		f.First + o.First, f.Mapped + o.Mapped}
}

func (f Flow) minus(o Flow) Flow {
	return Flow{f.Fills - o.Fills, f.Taker - o.Taker, f.Whale - o.Whale, f.Politics - o.Politics, f.Crypto - o.Crypto,
		f.First - o.First, f.Mapped - o.Mapped}
}

// Inputs has everything that the values at one instant follow from.
type Inputs struct {
	Last    Flow // the last 24 hours
	Base    Flow // the BaseWindows times 24 hours before them
	Windows int  // how many of these hold a fill
}

// Name is one of the indices.
type Name int

// The indices: the composite and its five components.
const (
	Composite Name = iota
	Volume
	Whale
	Politics
	Crypto
	Sentiment
	Names // how many there are
)

// String is the public name, such as PMX-Volume.
func (n Name) String() string {
	return [Names]string{"PMX-Composite", "PMX-Volume", "PMX-Whale", "PMX-Politics", "PMX-Crypto", "PMX-Sentiment"}[n]
}

// Weight is the weight of an index in the composite, in tenths; 0 for itself.
func (n Name) Weight() int { return [Names]int{0, 3, 2, 2, 2, 1}[n] }

// of picks the volume of one of the four ratios.
func (n Name) of(f Flow) data.Micro {
	return [Names]data.Micro{Volume: f.Taker, Whale: f.Whale, Politics: f.Politics, Crypto: f.Crypto, Sentiment: f.First}[n]
}

// LastOf is the input of an index over the last 24 hours; 0 for the composite.
func (in *Inputs) LastOf(n Name) data.Micro { return n.of(in.Last) }

// BaseOf is what the last 24 hours are compared with: the mean of the base windows, rounded to a
// millionth, and for the sentiment the volume of known markets. False if there is none.
func (in *Inputs) BaseOf(n Name) (data.Micro, bool) {
	switch {
	case n == Sentiment:
		return in.Last.Mapped, true
	case n == Composite || in.Windows == 0:
		return 0, false
	}
	return data.MulDiv(n.of(in.Base), 1, data.Micro(in.Windows)), true
}

// None stands for a missing value.
const None data.Micro = -1

// Values are all indices at one instant, None where one has no value.
type Values [Names]data.Micro

const (
	highest = 1000 * data.One // of the ratios
	lowest  = data.One        // of a component in the composite
)

// Values computes every index.
func (in *Inputs) Values() Values {
	v := Values{}
	for n := Volume; n < Names; n++ {
		v[n] = in.value(n)
	}
	v[Composite] = composite(&v)
	return v
}

func (in *Inputs) value(n Name) data.Micro {
	if n == Sentiment {
		if in.Last.Mapped <= 0 {
			return None
		}
		return data.MulDiv(in.Last.First, 200*data.One, in.Last.Mapped)
	}
	base := n.of(in.Base)
	if in.Windows < MinWindows || base <= 0 {
		return None
	}
	// 100 × last ÷ (base ÷ windows)
	return min(data.MulDiv(n.of(in.Last), 100*data.One*data.Micro(in.Windows), base), highest)
}

// Reasons why an index has no value.
const (
	FewWindows   = "fewer_than_7_windows" // of the 30 windows before the last have data
	EmptyBase    = "empty_base"           // the base is zero
	NoMarkets    = "no_mapped_volume"     // none in the last 24 hours
	NoComponents = "no_component"         // none of the five has a value
)

// Reason says why an index is None, "" if it is not.
func (in *Inputs) Reason(n Name) string {
	values := in.Values()
	switch {
	case values[n] != None:
		return ""
	case n == Composite:
		return NoComponents
	case n == Sentiment:
		return NoMarkets
	case in.Windows < MinWindows:
		return FewWindows
	}
	return EmptyBase
}
