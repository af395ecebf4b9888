package weather

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pmx/data"
)

// Current is how long a reading counts after it was last given: sources are fetched every few
// hours, and one that was silent for a day says nothing about now.
const Current = 24 * time.Hour

// Reading is the newest forecast of one source for one extreme of a day.
type Reading struct {
	Source      string
	IssuedAt    int64 // when the value was first given, unix µs
	ConfirmedAt int64 // when it was last given, unix µs
	Value       data.Temp
	Members     []data.Temp // of an ensemble, from the coldest; empty for others
}

// CurrentAt reports whether the reading was given within the 24 hours before clock, unix µs, or
// later: the clock is the venue's, and forecasts are often newer than its trades.
func (r Reading) CurrentAt(clock int64) bool {
	return r.ConfirmedAt >= clock-Current.Microseconds()
}

// Consensus combines sources with equal weights.
type Consensus struct {
	Sources        int
	Mean           data.Temp  // rounded half away from zero to 1/900 °C
	Deviation      *data.Temp // standard deviation of the sample of sources, a difference; nil for one source
	P10, P50, P90  data.Temp
	Members        int // ensemble members in the percentiles, besides the other sources; 0 without
	Min, Max       data.Temp
	Spread         data.Temp // Max − Min, a difference
	Oldest, Newest int64     // IssuedAt of the oldest and the newest reading, unix µs
}

// ConsensusOf returns the consensus of the readings that are current at clock; false if none is.
// There must be one reading for each source.
//
// The percentiles are those of the mixture in which every source weighs the same, as in the mean:
// one that gives a single value puts all its weight there, an ensemble spreads it evenly over its
// members. A percentile is the least value up to which the mixture has that much weight, and half
// way to the next one if it has exactly that much (Hyndman and Fan's second definition, by weight):
// the median of four values is the mean of the middle two. Raw ensembles spread too little, so p10
// and p90 describe the sources; they are not an interval that is right eight times out of ten.
func ConsensusOf(readings []Reading, clock int64) (Consensus, bool) {
	var c Consensus
	var values []data.Temp
	var points []weighed
	for _, r := range readings {
		if !r.CurrentAt(clock) {
			continue
		}
		if c.Oldest == 0 || r.IssuedAt < c.Oldest {
			c.Oldest = r.IssuedAt
		}
		c.Newest = max(c.Newest, r.IssuedAt)
		values = append(values, r.Value)
		spread := r.Members
		if len(spread) == 0 {
			spread = []data.Temp{r.Value}
		}
		c.Members += len(r.Members)
		for _, v := range spread {
			points = append(points, weighed{v, 1 / float64(len(spread))})
		}
	}
	if c.Sources = len(values); c.Sources == 0 {
		return Consensus{}, false
	}
	c.Min, c.Max = slices.Min(values), slices.Max(values)
	c.Spread = c.Max - c.Min
	c.Mean, c.Deviation = moments(values)
	slices.SortFunc(points, func(a, b weighed) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.weight, b.weight)) })
	c.P10, c.P50, c.P90 = percentile(points, 0.1, c.Sources), percentile(points, 0.5, c.Sources), percentile(points, 0.9, c.Sources)
	return c, true
}

// weighed is a value with its weight.
type weighed struct {
	value  data.Temp
	weight float64
}

// weightSlack is below any weight that a point can have, and above the rounding error of their sum.
const weightSlack = 1e-9

// percentile returns the q-quantile of points, which are in order and whose weights sum to total.
func percentile(points []weighed, q float64, total int) data.Temp {
	at, sum := q*float64(total), 0.0
	for i, p := range points {
		sum += p.weight
		switch {
		case math.Abs(sum-at) < weightSlack && i+1 < len(points):
			return rounded(int64(p.value)+int64(points[i+1].value), 2)
		case sum > at:
			return p.value
		}
	}
	return points[len(points)-1].value
}

// moments returns the mean of values and their sample standard deviation, nil for a single value.
func moments(values []data.Temp) (mean data.Temp, deviation *data.Temp) {
	n, total, squares := int64(len(values)), int64(0), int64(0)
	for _, v := range values {
		total += int64(v)
		squares += int64(v) * int64(v)
	}
	if n > 1 {
		d := data.Temp(math.Round(math.Sqrt(float64(n*squares-total*total) / float64(n*(n-1)))))
		deviation = &d
	}
	return rounded(total, n), deviation
}

// rounded returns a÷n, rounded half away from zero.
func rounded(a, n int64) data.Temp { return data.Temp(data.MulDiv(data.Micro(a), 1, data.Micro(n))) }
