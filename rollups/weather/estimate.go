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

// FewestScored is how many scored days a skill needs to replace the default: the root mean square
// error of fewer may be off by half.
const FewestScored = 5

// Estimate is the normal distribution of a day's extreme.
type Estimate struct {
	Mean  data.Temp // the consensus minus Bias
	Sigma data.Temp // standard deviation, a difference
	Bias  data.Temp // that was subtracted, a difference; 0 by default
	Basis Basis
	Days  int64 // how many scored days Bias and Sigma are from; 0 by default
}

// EstimateOf returns the distribution around a consensus at a lead of so many days; of is the skill
// of the consensus at that lead, nil if it is not known, unit the scale that the event settles in.
// Sigma is the root mean square error, which includes the bias again, because the bias of a few
// days may not last. It is at least 0.8 °C or 1.5 °F, because no forecast knows better what a
// station will report.
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

// DefaultSigma is the standard error of forecasts so many days ahead, for cities whose own is not
// known. On the day and on the day before: the root mean square errors of the National Weather
// Service in seven cities at 13 UTC of the day and at 11 and 19 Eastern time of the day before,
// 2.33 and 2.83 to 2.66 °F (Crosier, arXiv 2609.23969); two days ahead: the mean absolute error of
// Open-Meteo's best match in four cities, 1.62 °C, times √(π/2), as for normal errors. No benchmark
// reaches further: a quarter of a degree more a day, up to 3.5 °C.
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

// weightScale is the resolution of probabilities before they are apportioned: a million times finer
// than the result.
const weightScale = 1e12

// between returns the probability of an interval. Each side of the mean is computed from its own
// tail, so that small probabilities keep their digits.
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

// Probabilities returns the probability of each bracket of a ladder to win, for brackets in any
// order. The intervals of a ladder cover all temperatures exactly once, so the sum is exactly 1.
// With so, the measurements of the day, dead brackets have probability 0, and the others share the
// whole in proportion; if the estimate leaves nothing to them, the bracket that holds the measured
// value gets everything.
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
// brackets, so that a bracket without a member is not ruled out. nil without members.
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

// Dead reports for each bracket whether the measurements so far rule it out: for a high, if its
// upper bound is below every reading within the precision of the reports; for a low, if its lower
// bound is above every such reading. A bracket beyond the running value is not dead even when the
// day is over: a missed value may still be reported. nil if there is no running value.
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

// InSteps rounds probabilities that sum to 1 to whole multiples of step that also sum to 1: what is
// truncated goes to those that lost most. nil for none.
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

// shares returns weights as parts of their sum, in millionths that sum to exactly 1.
func shares(weights []int64) []data.Micro { return apportioned(weights, int64(data.One)) }

// apportioned divides n among weights by the largest remainder: each part is truncated to a whole
// number, and the rest goes to those that lost most, the earlier of equals. No weight may be above
// weightScale, nor n above a million. nil if the sum is 0.
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
