package weather

import (
	"math"

	"pmx/data"
)

// Basis is where the width of an Estimate comes from.
type Basis string

// The bases.
const (
	BasisSkill   Basis = "skill"   // how far the consensus was off in this city at this lead
	BasisDefault Basis = "default" // how far forecasts are off elsewhere
)

// FewestScored is how many scored days a skill takes to stand in place of the
// default: the root mean square error of fewer may be off by half.
const FewestScored = 5

// Estimate is the normal distribution of what a day's extreme will come to.
type Estimate struct {
	Mean  data.Temp // the consensus less Bias
	Sigma data.Temp // standard deviation, a difference
	Bias  data.Temp // that was taken off, a difference; 0 by default
	Basis Basis
	Days  int64 // how many scored days Bias and Sigma are of; 0 by default
}

// EstimateOf returns the distribution about a consensus at a lead of so many days; of is the skill
// of the consensus at that lead, nil if it is not known, unit the scale that the event settles in.
// Sigma is the root mean square error, which counts the bias once more: a few days' bias may pass.
// It is at least 0.8 °C or 1.5 °F, as no forecast knows what a station will report any better.
func EstimateOf(consensus data.Temp, unit data.Unit, lead int, of *Skill) Estimate {
	if of == nil || of.N < FewestScored {
		return Estimate{Mean: consensus, Sigma: DefaultSigma(lead), Basis: BasisDefault}
	}
	return Estimate{Mean: consensus - of.Bias, Sigma: max(of.RMSE, leastSigma(unit)), Bias: of.Bias, Basis: BasisSkill, Days: of.N}
}

func leastSigma(u data.Unit) data.Temp {
	if u == data.Fahrenheit {
		return 750 // 1.5 °F
	}
	return 720 // 0.8 °C
}

// DefaultSigma is how far forecasts of so many days ahead are off where this city's
// own are not known. On the day and on the day before: the root mean square errors
// of the National Weather Service in seven cities at 13 UTC of the day and at 11 and
// 19 Eastern time of the day before, 2.33 and 2.83 to 2.66 °F (Crosier, arXiv
// 2609.23969); two days ahead: the mean absolute error of Open-Meteo's best match in
// four cities, 1.62 °C, times √(π/2), as for normal errors. No benchmark reaches
// further: a quarter of a degree more a day, up to 3.5 °C.
func DefaultSigma(lead int) data.Temp {
	switch {
	case lead <= 0:
		return 1170 // 1.3 °C
	case lead == 1:
		return 1350 // 1.5 °C
	}
	return min(1800+225*data.Temp(lead-2), 3150) // from 2.0 °C
}

// below returns the probability of less than t.
func (e Estimate) below(t data.Temp) float64 {
	return math.Erfc(-float64(t-e.Mean)/(float64(e.Sigma)*math.Sqrt2)) / 2
}

// above returns the probability of t and more.
func (e Estimate) above(t data.Temp) float64 {
	return math.Erfc(float64(t-e.Mean)/(float64(e.Sigma)*math.Sqrt2)) / 2
}

// weightScale is how finely probabilities are counted before they are shared out: a
// million times finer than the result.
const weightScale = 1e12

// between returns the probability of what settles in an interval. Each side of the mean is taken
// from its own end, so that small parts keep their digits.
func (e Estimate) between(iv Interval) float64 {
	switch {
	case iv.Unbounded && iv.Endless:
		return 1
	case iv.Unbounded:
		return e.below(iv.To)
	case iv.Endless:
		return e.above(iv.From)
	case iv.From > e.Mean:
		return max(0, e.above(iv.From)-e.above(iv.To))
	}
	return max(0, e.below(iv.To)-e.below(iv.From))
}

// Probabilities returns the probability that each bracket of a ladder wins, in any order, by what
// of the line settles in it. The parts of a ladder tile the line, so the sum is exactly 1. With so,
// what was measured of the day, brackets that are dead have none, and the rest share all in
// proportion; where the estimate leaves nothing to them, the bracket that holds the measured value
// has all.
func (e Estimate) Probabilities(ladder []Bracket, r Rounding, metric data.Metric, so *SoFar) []data.Micro {
	dead := Dead(ladder, metric, so)
	probabilities, sum := make([]float64, len(ladder)), 0.0
	for i, b := range ladder {
		if dead == nil || !dead[i] {
			probabilities[i] = e.between(b.Interval(r))
			sum += probabilities[i]
		}
	}
	weights := make([]int64, len(ladder))
	for i, b := range ladder {
		switch {
		case sum > 0:
			weights[i] = int64(math.Round(probabilities[i] / sum * weightScale))
		case so != nil && b.Holds(so.Degrees):
			weights[i] = 1
		}
	}
	return shares(weights)
}

// EnsembleProbabilities returns the probabilities by counting the members of an ensemble, each
// rounded as the event's source rounds: (k + 0.5) / (n + 0.5·B) for k of n members in one of B
// brackets, so that what no member foretells is not ruled out. nil without members.
func EnsembleProbabilities(members []data.Temp, ladder []Bracket, r Rounding) []data.Micro {
	if len(members) == 0 {
		return nil
	}
	weights := make([]int64, len(ladder))
	for i, b := range ladder {
		weights[i] = 1
		iv := b.Interval(r)
		for _, m := range members {
			if iv.Contains(m) {
				weights[i] += 2
			}
		}
	}
	return shares(weights)
}

// Dead reports of each bracket whether what was measured so far has ruled it out: one whose upper
// bound no reading within the precision of the reports of a high leaves possible, or whose lower
// bound none of those of a low does. A bracket beyond the running value stays alive when the day is
// over: what was missed may yet be reported. nil if there is no running value: then nothing is
// known of any.
func Dead(ladder []Bracket, metric data.Metric, so *SoFar) []bool {
	if so == nil {
		return nil
	}
	dead := make([]bool, len(ladder))
	for i, b := range ladder {
		if metric == data.TMax {
			dead[i] = !b.OpenHigh && b.Hi < so.Bound
		} else {
			dead[i] = !b.OpenLow && b.Lo > so.Bound
		}
	}
	return dead
}

// InSteps returns parts that come to 1, as whole multiples of step that come to 1 too: what is cut
// off goes where most was. nil for none.
func InSteps(probabilities []data.Micro, step data.Micro) []data.Micro {
	weights := make([]int64, len(probabilities))
	for i, p := range probabilities {
		weights[i] = int64(p)
	}
	out := apportioned(weights, int64(data.One/step))
	for i := range out {
		out[i] *= step
	}
	return out
}

// shares gives what part of their sum weights are, in millionths that come to exactly 1.
func shares(weights []int64) []data.Micro { return apportioned(weights, int64(data.One)) }

// apportioned gives each weight its part of n by the largest remainder: each is cut to a whole
// number, and what is left goes to those that lost most by it, the earlier of equals. No weight may
// be above weightScale, nor n above a million. nil if the sum is 0.
func apportioned(weights []int64, n int64) []data.Micro {
	sum := int64(0)
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return nil
	}
	out, left, lost := make([]data.Micro, len(weights)), n, make([]int64, len(weights))
	for i, w := range weights {
		part := w * n
		out[i], lost[i] = data.Micro(part/sum), part%sum
		left -= part / sum
	}
	for ; left > 0; left-- {
		most := 0
		for i, l := range lost {
			if l > lost[most] {
				most = i
			}
		}
		out[most]++
		lost[most] = -1
	}
	return out
}
