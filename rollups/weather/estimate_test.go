package weather

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
)

// TestATwoDegreeBracketHasACeiling: at best, with the forecast in its middle, a bracket
// of 2 °F has 2Φ(1/σ) − 1: 36.6 % for a σ of 2.1 °F, 28.9 % for 2.7 °F.
func TestATwoDegreeBracketHasACeiling(t *testing.T) {
	for sigma, want := range map[data.Temp]data.Micro{1050: 366_061, 1350: 288_893} {
		p := Estimate{Mean: data.Degrees(54, data.Fahrenheit) + 250, Sigma: sigma}.Probabilities([]Bracket{fLow(53), f(54, 55), fHigh(56)}, HalfUp)
		if p[1] < want-1 || p[1] > want+1 {
			t.Errorf("σ %s °F: %s", sigma.Difference(data.Fahrenheit), p[1])
		}
	}
}

// TestProbabilitiesByHand: 23.4 °C with a σ of 1.2. Rounded half up the brackets meet at
// 22.5, 23.5 and 24.5: Φ(−0.75) = 0.226627, Φ(0.0833) = 0.533207, Φ(0.9167) = 0.820341;
// cut to whole degrees at 23, 24 and 25: 0.369441, 0.691462, 0.908789.
func TestProbabilitiesByHand(t *testing.T) {
	e := Estimate{Mean: 21_060, Sigma: 1080}
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	for r, want := range map[Rounding][]data.Micro{
		HalfUp: {226_627, 306_579, 287_135, 179_659},
		Floor:  {369_442, 322_021, 217_326, 91_211},
	} {
		if diff := cmp.Diff(want, e.Probabilities(ladder, r)); diff != "" {
			t.Errorf("%s: %s", r, diff)
		}
	}
}

func TestTheWidthOfAnEstimate(t *testing.T) {
	for name, tc := range map[string]struct {
		unit data.Unit
		lead int
		of   *Skill
		want Estimate
	}{
		"by skill":           {data.Celsius, 1, &Skill{N: 5, Bias: 90, RMSE: 1000}, Estimate{9910, 1000, 90, BasisSkill, 5}},
		"at least 0.8 °C":    {data.Celsius, 1, &Skill{N: 40, Bias: -90, RMSE: 100}, Estimate{10_090, 720, -90, BasisSkill, 40}},
		"at least 1.5 °F":    {data.Fahrenheit, 1, &Skill{N: 40, RMSE: 100}, Estimate{10_000, 750, 0, BasisSkill, 40}},
		"four days are few":  {data.Celsius, 1, &Skill{N: 4, Bias: 90, RMSE: 1000}, Estimate{10_000, 1350, 0, BasisDefault, 0}},
		"today by default":   {data.Celsius, 0, nil, Estimate{10_000, 1170, 0, BasisDefault, 0}},
		"in two days":        {data.Fahrenheit, 2, nil, Estimate{10_000, 1800, 0, BasisDefault, 0}},
		"in three":           {data.Celsius, 3, nil, Estimate{10_000, 2025, 0, BasisDefault, 0}},
		"in a fortnight":     {data.Celsius, 14, nil, Estimate{10_000, 3150, 0, BasisDefault, 0}},
		"the day being over": {data.Celsius, -1, nil, Estimate{10_000, 1170, 0, BasisDefault, 0}},
	} {
		if got := EstimateOf(10_000, tc.unit, tc.lead, tc.of); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// drawLadder draws a ladder of one scale.
func drawLadder(t *rapid.T) []Bracket {
	unit, width := data.Celsius, 1
	if rapid.Bool().Draw(t, "fahrenheit") {
		unit, width = data.Fahrenheit, 2
	}
	at := rapid.IntRange(-20, 100).Draw(t, "first")
	out := []Bracket{{Hi: at - 1, OpenLow: true, Unit: unit}}
	for range rapid.IntRange(1, 9).Draw(t, "closed") {
		out = append(out, Bracket{Lo: at, Hi: at + width - 1, Unit: unit})
		at += width
	}
	return append(out, Bracket{Lo: at, OpenHigh: true, Unit: unit})
}

func sum(list []data.Micro) (s data.Micro) {
	for _, p := range list {
		s += p
	}
	return s
}

// TestProbabilitiesComeToExactlyOne by the normal distribution and by members, and
// again when what was measured has ruled brackets out, which then have none.
func TestProbabilitiesComeToExactlyOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ladder := drawLadder(t)
		r := rapid.SampledFrom([]Rounding{HalfUp, Floor}).Draw(t, "rounding")
		metric := rapid.SampledFrom([]data.Metric{data.TMax, data.TMin}).Draw(t, "metric")
		temp := rapid.Int32Range(-40_000, 60_000)
		var members []data.Temp
		for range rapid.IntRange(1, 60).Draw(t, "members") {
			members = append(members, data.Temp(temp.Draw(t, "member")))
		}
		running := rapid.IntRange(-40, 130).Draw(t, "running")
		e := Estimate{Mean: data.Temp(temp.Draw(t, "mean")), Sigma: data.Temp(rapid.Int32Range(720, 6000).Draw(t, "sigma"))}
		for _, p := range [][]data.Micro{e.Probabilities(ladder, r), EnsembleProbabilities(members, ladder, r)} {
			if sum(p) != data.One {
				t.Fatalf("%v come to %s", p, sum(p))
			}
			left, dead := Truncated(p, ladder, metric, &running), Dead(ladder, metric, &running)
			if sum(left) != data.One {
				t.Fatalf("what is left, %v, comes to %s", left, sum(left))
			}
			for i := range p {
				if left[i] < 0 || p[i] < 0 || dead[i] && left[i] != 0 || dead[i] && ladder[i].Holds(running) {
					t.Fatalf("%s: %s of %s, dead %v at %d", ladder[i].Label(), left[i], p[i], dead[i], running)
				}
			}
		}
	})
}

// TestWhatWasMeasuredRulesBracketsOut: a high of 24 rules out all below 24, a low of 24
// all above. With 0.2, 0.3, 0.4 and 0.1 a high of 24 leaves 0.4 and 0.1: four fifths
// and one. A high of 30 leaves the upper tail alone.
func TestWhatWasMeasuredRulesBracketsOut(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	p := []data.Micro{200_000, 300_000, 400_000, 100_000}
	for _, tc := range []struct {
		metric  data.Metric
		running int
		want    []data.Micro
	}{
		{data.TMax, 24, []data.Micro{0, 0, 800_000, 200_000}},
		{data.TMin, 23, []data.Micro{400_000, 600_000, 0, 0}},
		{data.TMax, 22, p},
		{data.TMin, 25, p},
		{data.TMax, 30, []data.Micro{0, 0, 0, 1_000_000}},
		{data.TMin, -3, []data.Micro{1_000_000, 0, 0, 0}},
	} {
		if diff := cmp.Diff(tc.want, Truncated(p, ladder, tc.metric, &tc.running)); diff != "" {
			t.Errorf("%s of %d: %s", tc.metric, tc.running, diff)
		}
	}
	if Dead(ladder, data.TMax, nil) != nil || &Truncated(p, ladder, data.TMax, nil)[0] != &p[0] {
		t.Error("nothing was measured, and yet something is ruled out")
	}
	hopeless := []data.Micro{1_000_000, 0, 0, 0}
	running := 24
	if got := Truncated(hopeless, ladder, data.TMax, &running); got[2] != data.One {
		t.Errorf("where nothing was foretold: %v", got)
	}
}

// TestMembersAreCountedWithHalfAMemberToSpare: 22.4, 22.6 and 23.4 °C are 22, 23 and 23.
// Of 4 brackets: (1 + 0.5)/(3 + 2), (2 + 0.5)/5, 0.5/5 and 0.5/5.
func TestMembersAreCountedWithHalfAMemberToSpare(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	got := EnsembleProbabilities([]data.Temp{20_160, 20_340, 21_060}, ladder, HalfUp)
	if diff := cmp.Diff([]data.Micro{300_000, 500_000, 100_000, 100_000}, got); diff != "" {
		t.Error(diff)
	}
	if EnsembleProbabilities(nil, ladder, HalfUp) != nil {
		t.Error("no members, and yet probabilities")
	}
}

// TestARunningValueSettlesAsTheStationReports: 22.6 °C beside a group of 22 settles an
// event in Celsius as 22, one in Fahrenheit, 72.68, as 73; cut to whole degrees as 22.
func TestARunningValueSettlesAsTheStationReports(t *testing.T) {
	whole := celsius(22)
	for _, tc := range []struct {
		rules Rules
		whole *data.Temp
		want  int
	}{
		{Rules{Unit: data.Celsius}, &whole, 22}, {Rules{Unit: data.Celsius}, nil, 23},
		{Rules{Unit: data.Fahrenheit}, &whole, 73}, {Rules{Unit: data.Celsius, Rounding: Floor}, nil, 22},
	} {
		if got := tc.rules.Degrees(20_340, tc.whole); got != tc.want {
			t.Errorf("%+v: %d", tc.rules, got)
		}
	}
}
