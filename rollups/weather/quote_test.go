package weather

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
)

func micro(m data.Micro) *data.Micro { return &m }

// TestAMarketsPriceIsItsMid if it has both a bid and an ask, else its last trade.
func TestAMarketsPriceIsItsMid(t *testing.T) {
	for name, tc := range map[string]struct {
		q    Quote
		want *data.Micro
		last bool
	}{
		"both sides": {Quote{micro(300_000), micro(350_000), micro(1)}, micro(325_000), false},
		"no bid":     {Quote{nil, micro(350_000), micro(200_000)}, micro(200_000), true},
		"no ask":     {Quote{micro(300_000), nil, nil}, nil, false},
		"nothing":    {Quote{}, nil, false},
	} {
		p, last := tc.q.Price()
		if diff := cmp.Diff(tc.want, p); diff != "" || last != tc.last {
			t.Errorf("%s: diff = %s, last = %v", name, diff, last)
		}
	}
}

// TestAMarketByHand: the sum of 0.10, 0.40, 0.45 and 0.10 is 1.05. As shares of that they are
// 0.095238, 0.380952, 0.428571 and 0.095238; the remaining millionth goes to the third, which lost
// most. The open-ended ones count as 22 and 25 °C: the mean is 22·0.095238 + 23·0.380952 +
// 24·0.428572 + 25·0.095238 = 23.52381 °C.
func TestAMarketByHand(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	last := func(p data.Micro) Quote { return Quote{Last: micro(p)} }
	quotes := []Quote{last(100_000), {micro(390_000), micro(410_000), nil}, last(450_000), last(100_000)}
	mean := data.Temp(21_171)
	want := Market{Overround: micro(1_050_000), Probabilities: []data.Micro{95_238, 380_952, 428_572, 95_238}, Mean: &mean, Mode: 2}
	if diff := cmp.Diff(want, MarketOf(ladder, HalfUp, quotes)); diff != "" {
		t.Error(diff)
	}
	if m := MarketOf(ladder, Floor, quotes); *m.Mean != mean+450 {
		t.Errorf("cut to whole degrees, each bracket counts half a degree more: *m.Mean = %d", *m.Mean)
	}
	quotes[3] = Quote{}
	if diff := cmp.Diff(Market{Mode: 2}, MarketOf(ladder, HalfUp, quotes)); diff != "" {
		t.Errorf("one without a price: diff = %s", diff)
	}
	if diff := cmp.Diff(Market{Mode: -1}, MarketOf(ladder, HalfUp, make([]Quote, 4))); diff != "" {
		t.Errorf("none with a price: diff = %s", diff)
	}
}

// TestOpenEndedBracketsCountAsOneMore: with all weight on "97°F or below" of a ladder of two
// degrees each, the mean is that of 96-97°F.
func TestOpenEndedBracketsCountAsOneMore(t *testing.T) {
	ladder := []Bracket{fHigh(102), f(98, 99), fLow(97), f(100, 101)}
	for i, want := range []string{"102.5", "98.5", "96.5", "100.5"} {
		quotes := []Quote{{Last: micro(0)}, {Last: micro(0)}, {Last: micro(0)}, {Last: micro(0)}}
		quotes[i] = Quote{Last: micro(970_000)}
		m := MarketOf(ladder, HalfUp, quotes)
		if got := m.Mean.Text(data.Fahrenheit); got != want || m.Mode != i {
			t.Errorf("%s: %s, mode %d", ladder[i].Label(), got, m.Mode)
		}
	}
}

// TestTheEdgeIsNetOfTheFee: at 0.30 the fee is 0.05·0.3·0.7 = 0.0105 a contract.
func TestTheEdgeIsNetOfTheFee(t *testing.T) {
	for p, want := range map[data.Micro]data.Micro{300_000: 10_500, 500_000: 12_500, 10_000: 495, 1_000: 50, 0: 0, data.One: 0} {
		if got := Fee(p); got != want {
			t.Errorf("at %s: got %s", p, got)
		}
	}
	if e := Edge(400_000, 300_000); e != 89_500 {
		t.Errorf("e = %s", e)
	}
	if e := Edge(300_000, 300_000); e != -10_500 {
		t.Errorf("e = %s", e)
	}
}
