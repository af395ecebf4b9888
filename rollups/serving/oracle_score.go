package serving

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"pmx/data"
)

// Score is how well a set of forecasts did. A forecast says that an outcome comes
// true with probability p, and the outcome pays o, both in millionths. Sums of
// squares are in millionths of millionths and fit as long as there are fewer than
// nine million forecasts. The zero Score is that of no forecasts.
type Score struct {
	Forecasts, Correct int32      // Correct: the payout was more than a half
	Edge               data.Micro // Σ o − p
	Error              int64      // Σ (p − o)²
	BaselineError      int64      // Σ (b − o)², b being what the outcome traded for on average
	BuyUSD             data.Micro // paid for the tokens behind the forecasts, including those sold again
}

// AveragePrice is usd ÷ shares as a probability, both in millionths: rounded half up to a
// millionth, 1 at most; false if there are no shares.
func AveragePrice(usd, shares int64) (data.Micro, bool) {
	price, ok := data.Ratio(data.Micro(usd), data.Micro(shares))
	return min(price, data.One), ok
}

// Forecast adds a forecast of probability p to s.
func (s *Score) Forecast(p, payout, baseline, usd data.Micro) {
	s.Forecasts++
	if payout > data.One/2 {
		s.Correct++
	}
	s.Edge += payout - p
	s.Error += square(p - payout)
	s.BaselineError += square(baseline - payout)
	s.BuyUSD += usd
}

func square(m data.Micro) int64 { return int64(m) * int64(m) }

// plus adds the forecasts of o.
func (s *Score) plus(o *Score) {
	s.Forecasts += o.Forecasts
	s.Correct += o.Correct
	s.Edge += o.Edge
	s.Error += o.Error
	s.BaselineError += o.BaselineError
	s.BuyUSD += o.BuyUSD
}

// mean returns a sum of squares ÷ the number of forecasts, in millionths.
func (s *Score) mean(squares int64) (data.Micro, bool) {
	if s.Forecasts == 0 {
		return 0, false
	}
	return data.MulDiv(data.Micro(squares), 1, data.Micro(s.Forecasts)*data.One), true
}

// Brier is the mean squared error, 0 the best and 1 the worst; false without forecasts, as in all
// methods below.
func (s *Score) Brier() (data.Micro, bool) { return s.mean(s.Error) }

// Baseline is the Brier score of the outcomes' average prices.
func (s *Score) Baseline() (data.Micro, bool) { return s.mean(s.BaselineError) }

// Skill is 1 − Brier ÷ Baseline; false also if the baseline makes no error.
func (s *Score) Skill() (data.Micro, bool) {
	return data.Ratio(data.Micro(s.BaselineError-s.Error), data.Micro(s.BaselineError))
}

// MeanEdge is the mean of payout − probability.
func (s *Score) MeanEdge() (data.Micro, bool) {
	if s.Forecasts == 0 {
		return 0, false
	}
	return data.MulDiv(s.Edge, 1, data.Micro(s.Forecasts)), true
}

// AccuracyPct is how many percent of the forecasts came true.
func (s *Score) AccuracyPct() (data.Micro, bool) {
	return percent(float64(s.Correct) / float64(s.Forecasts)), s.Forecasts > 0
}

// wilsonZ is the normal quantile of a two-sided 95 % interval.
const wilsonZ = 1.959963984540054

// Wilson is the 95 % score interval of AccuracyPct: E. B. Wilson, Probable
// inference, JASA 22 (1927).
func (s *Score) Wilson() (low, high data.Micro, ok bool) {
	if s.Forecasts == 0 {
		return 0, 0, false
	}
	n, z2 := float64(s.Forecasts), wilsonZ*wilsonZ
	share := float64(s.Correct) / n
	middle := share + z2/(2*n)
	half := wilsonZ * math.Sqrt(share*(1-share)/n+z2/(4*n*n))
	return percent(max(0, (middle-half)/(1+z2/n))), percent(min(1, (middle+half)/(1+z2/n))), true
}

// percent returns a share in millionths of a percent.
func percent(share float64) data.Micro { return data.Micro(math.Round(share * 100e6)) }

// compareBrier puts the smaller Brier score first, compared exactly.
func compareBrier(a, b *Score) int {
	aHi, aLo := bits.Mul64(uint64(a.Error), uint64(b.Forecasts))
	bHi, bLo := bits.Mul64(uint64(b.Error), uint64(a.Forecasts))
	switch {
	case aHi != bHi && aHi < bHi, aHi == bHi && aLo < bLo:
		return -1
	case aHi == bHi && aLo == bLo:
		return 0
	}
	return 1
}

// BinCount is how many equal parts probabilities are divided into.
const BinCount = 10

// BinOf is the part that probability p lies in: the lower bound is in it.
func BinOf(p data.Micro) int { return int(min(p*BinCount/data.One, BinCount-1)) }

// Bin is the forecasts of one tenth of probability.
type Bin struct {
	Forecasts           int64
	Probability, Payout data.Micro // sums
}

// Calibration is a set of forecasts by tenth of probability.
type Calibration struct {
	Score
	Bins          [BinCount]Bin
	Payouts       data.Micro // Σ o
	PayoutSquares int64      // Σ o², in millionths of millionths
}

// Forecast adds a forecast of probability p.
func (c *Calibration) Forecast(p, payout, baseline, usd data.Micro) {
	c.Score.Forecast(p, payout, baseline, usd)
	b := &c.Bins[BinOf(p)]
	b.Forecasts++
	b.Probability += p
	b.Payout += payout
	c.Payouts += payout
	c.PayoutSquares += square(payout)
}

// Murphy are the parts of a Brier score: Reliability − Resolution + Uncertainty +
// WithinBins.
type Murphy struct {
	Reliability data.Micro // how far probabilities lie from payouts, bin by bin; 0 the best
	Resolution  data.Micro // how far the bins' payouts lie from the mean payout
	Uncertainty data.Micro // variance of the payouts
	WithinBins  data.Micro // what bins lose by taking forecasts together
}

// Murphy splits the Brier score after A. H. Murphy, A new vector partition of the
// probability score, J. Appl. Meteor. 12 (1973); forecasts of a bin are not all
// the same, so there is a rest (D. B. Stephenson et al., Weather and Forecasting
// 23, 2008). False without forecasts.
func (c *Calibration) Murphy() (Murphy, bool) {
	if c.Forecasts == 0 {
		return Murphy{}, false
	}
	n := float64(c.Forecasts)
	mean := float64(c.Payouts) / n
	reliability, resolution := 0.0, 0.0
	for _, b := range c.Bins {
		if b.Forecasts == 0 {
			continue
		}
		k := float64(b.Forecasts)
		p, o := float64(b.Probability)/k, float64(b.Payout)/k
		reliability += k * (p - o) * (p - o)
		resolution += k * (o - mean) * (o - mean)
	}
	const square = 1e6 // squares of millionths to millionths
	m := Murphy{
		Reliability: data.Micro(math.Round(reliability / n / square)),
		Resolution:  data.Micro(math.Round(resolution / n / square)),
		Uncertainty: data.Micro(math.Round((float64(c.PayoutSquares)/n - mean*mean) / square)),
	}
	brier, _ := c.Brier()
	m.WithinBins = brier - m.Reliability + m.Resolution - m.Uncertainty
	return m, true
}

// CategoryScore is the score of forecasts about markets of one category, "" if that is not known.
type CategoryScore struct {
	Category string
	Score
}

// Accuracy is how well one wallet forecast.
type Accuracy struct {
	Calibration
	Categories []CategoryScore // the most forecasts first, ties by name
}

// Accuracy scores the tokens that a wallet holds of resolved markets. The scores
// of all of them add up to what the snapshot's Oracle says of the wallet.
func (s *Snapshot) Accuracy(b *Portfolio) Accuracy {
	var a Accuracy
	by := map[string]*Score{}
	for i := range b.Holdings {
		h := &b.Holdings[i]
		for j := range h.Legs {
			l := &h.Legs[j]
			payout, known := l.Payout(h.Market)
			if !known || l.Net() <= 0 {
				continue
			}
			p, _ := AveragePrice(int64(l.BuyUSD), int64(l.BuyShares)) // a wallet that holds some has bought some
			baseline := s.Oracle.Baseline(l.Token)
			a.Forecast(p, payout, baseline, l.BuyUSD)
			if by[h.Market.Category] == nil {
				by[h.Market.Category] = &Score{}
			}
			by[h.Market.Category].Forecast(p, payout, baseline, l.BuyUSD)
		}
	}
	for category, score := range by {
		a.Categories = append(a.Categories, CategoryScore{category, *score})
	}
	slices.SortFunc(a.Categories, func(x, y CategoryScore) int {
		return cmp.Or(cmp.Compare(y.Forecasts, x.Forecasts), cmp.Compare(x.Category, y.Category))
	})
	return a
}
