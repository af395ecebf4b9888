package weather

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
)

// TestATwoDegreeBracketHasACeiling: at best, with the forecast in its middle, a bracket of 2 °F has
// 2Φ(1/σ) − 1: 36.6 % for a σ of 2.1 °F, 28.9 % for 2.7 °F.
func TestATwoDegreeBracketHasACeiling(t *testing.T) {
	for sigma, want := range map[data.Temp]data.Micro{1050: 366_061, 1350: 288_893} {
		p := Estimate{Mean: data.Degrees(54, data.Fahrenheit) + 250, Sigma: sigma}.Probabilities([]Bracket{fLow(53), f(54, 55), fHigh(56)}, HalfUp, data.TMax, nil)
		if p[1] < want-1 || p[1] > want+1 {
			t.Errorf("σ %s °F: %s", sigma.Difference(data.Fahrenheit), p[1])
		}
	}
}

// TestProbabilitiesByHand: 23.4 °C with a σ of 1.2. With values rounded half up, the brackets meet
// at 22.5, 23.5 and 24.5: Φ(−0.75) = 0.226627, Φ(0.0833) = 0.533207, Φ(0.9167) = 0.820341; with
// values cut to whole degrees, at 23, 24 and 25: 0.369441, 0.691462, 0.908789.
func TestProbabilitiesByHand(t *testing.T) {
	e := Estimate{Mean: 21_060, Sigma: 1080}
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	for r, want := range map[Rounding][]data.Micro{
		HalfUp: {226_627, 306_579, 287_135, 179_659},
		Floor:  {369_442, 322_021, 217_326, 91_211},
	} {
		if diff := cmp.Diff(want, e.Probabilities(ladder, r, data.TMax, nil)); diff != "" {
			t.Errorf("%s: diff = %s", r, diff)
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
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// drawLadder returns a random ladder of one scale.
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

// TestProbabilitiesComeToExactlyOne by the normal distribution and by members, also after
// measurements have ruled brackets out, which then have 0. The bracket of the measured value, and
// that of its bound, are never ruled out.
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
		so := SoFar{Degrees: rapid.IntRange(-40, 130).Draw(t, "running")}
		so.Bound = so.Degrees - rapid.IntRange(0, 1).Draw(t, "slack")
		if metric == data.TMin {
			so.Bound = 2*so.Degrees - so.Bound
		}
		e := Estimate{Mean: data.Temp(temp.Draw(t, "mean")), Sigma: data.Temp(rapid.Int32Range(720, 6000).Draw(t, "sigma"))}
		for _, p := range [][]data.Micro{e.Probabilities(ladder, r, metric, nil), EnsembleProbabilities(members, ladder, r)} {
			if sum(p) != data.One {
				t.Fatalf("sum of %v: %s", p, sum(p))
			}
		}
		left, dead := e.Probabilities(ladder, r, metric, &so), Dead(ladder, metric, &so)
		if sum(left) != data.One {
			t.Fatalf("sum of the rest %v: %s", left, sum(left))
		}
		for i := range left {
			if left[i] < 0 || dead[i] && left[i] != 0 || dead[i] && (ladder[i].Holds(so.Degrees) || ladder[i].Holds(so.Bound)) {
				t.Fatalf("%s: %s, dead %v at %+v", ladder[i].Label(), left[i], dead[i], so)
			}
		}
	})
}

// TestWhatWasMeasuredRulesBracketsOut: a high of 24 rules out all brackets below 24, a low of 23
// all above; if the reports allow a high of 23, the bracket of 23 is not ruled out.
func TestWhatWasMeasuredRulesBracketsOut(t *testing.T) {
	ladder := []Bracket{cLow(22), c(23, 23), c(24, 24), cHigh(25)}
	for _, tc := range []struct {
		metric data.Metric
		so     SoFar
		want   []bool
	}{
		{data.TMax, SoFar{24, 24}, []bool{true, true, false, false}},
		{data.TMax, SoFar{24, 23}, []bool{true, false, false, false}},
		{data.TMin, SoFar{23, 23}, []bool{false, false, true, true}},
		{data.TMin, SoFar{23, 24}, []bool{false, false, false, true}},
		{data.TMax, SoFar{22, 22}, []bool{false, false, false, false}},
		{data.TMin, SoFar{25, 25}, []bool{false, false, false, false}},
		{data.TMax, SoFar{30, 30}, []bool{true, true, true, false}},
		{data.TMin, SoFar{-3, -3}, []bool{false, true, true, true}},
	} {
		if diff := cmp.Diff(tc.want, Dead(ladder, tc.metric, &tc.so)); diff != "" {
			t.Errorf("%s of %+v: diff = %s", tc.metric, tc.so, diff)
		}
	}
	if Dead(ladder, data.TMax, nil) != nil {
		t.Error("nothing was measured, and yet something is ruled out")
	}
	hopeless := Estimate{Mean: data.Degrees(-80, data.Celsius), Sigma: 720}
	if got := hopeless.Probabilities(ladder, HalfUp, data.TMax, &SoFar{24, 23}); got[2] != data.One {
		t.Errorf("where nothing was foretold: got %v", got)
	}
}

// TestWhatIsLeftKeepsItsDigits: a high of 20 °C with a forecast of 15 and a σ of 1.2 leaves 1 −
// Φ(3.75) = 0.0000884173 of the distribution. Of that, 20 °C has (Φ(4.5833) − Φ(3.75)) / (1 −
// Φ(3.75)) = 0.97412148, 21 °C 0.02553514 and the rest 0.00034337. The millionth that is left after
// they are cut to millionths goes to the first, which lost most.
func TestWhatIsLeftKeepsItsDigits(t *testing.T) {
	ladder := []Bracket{cLow(19), c(20, 20), c(21, 21), cHigh(22)}
	e := Estimate{Mean: data.Degrees(15, data.Celsius), Sigma: 1080}
	got := e.Probabilities(ladder, HalfUp, data.TMax, &SoFar{20, 20})
	if diff := cmp.Diff([]data.Micro{0, 974_122, 25_535, 343}, got); diff != "" {
		t.Error(diff)
	}
	// The same for a low.
	mirrored := []Bracket{cLow(8), c(9, 9), c(10, 10), cHigh(11)}
	if diff := cmp.Diff([]data.Micro{343, 25_535, 974_122, 0}, e.Probabilities(mirrored, HalfUp, data.TMin, &SoFar{10, 10})); diff != "" {
		t.Error(diff)
	}
}

// TestAReportIsAsFineAsItsLastPlace: whole degrees of either scale, tenths, hundredths.
func TestAReportIsAsFineAsItsLastPlace(t *testing.T) {
	for text, want := range map[string]data.Temp{"10C": 450, "-3C": 450, "51F": 250, "50F": 450, "10.2C": 45, "51.3F": 25, "51.08F": 45, "10.23C": 4} {
		v, err := data.ParseTemp(text[:len(text)-1], data.Unit(text[len(text)-1]))
		if err != nil || Slack(v) != want {
			t.Errorf("%s: Slack(v) = %d, err = %v", text, Slack(v), err)
		}
	}
}

// TestAReadingSettlesWithinItsReport: a report of any precision is of a reading in tenths; the value
// that the reading would settle as is within the bound.
func TestAReadingSettlesWithinItsReport(t *testing.T) {
	ten, _ := data.ParseTemp("10", data.Celsius)
	fahrenheit := Rules{Unit: data.Fahrenheit}
	if low, high := fahrenheit.Degrees(ten-Slack(ten), nil), fahrenheit.Degrees(ten+Slack(ten)-1, nil); low != 49 || high != 51 {
		t.Errorf("10 °C is from %d to %d °F", low, high)
	}
	rapid.Check(t, func(t *rapid.T) {
		reading := data.Temp(90 * rapid.IntRange(-400, 450).Draw(t, "tenths")) // of a degree Celsius
		rules := Rules{Unit: rapid.SampledFrom([]data.Unit{data.Celsius, data.Fahrenheit}).Draw(t, "unit"),
			Rounding: rapid.SampledFrom([]Rounding{HalfUp, Floor}).Draw(t, "rounding")}
		report := reading
		if in := rapid.SampledFrom([]data.Unit{0, data.Celsius, data.Fahrenheit}).Draw(t, "report"); in != 0 {
			report = data.Degrees(HalfUp.Degrees(reading, in), in)
		}
		at, slack := rules.Degrees(reading, nil), Slack(report)
		if low, high := rules.Degrees(report-slack, nil), rules.Degrees(report+slack-1, nil); at < low || at > high {
			t.Fatalf("%d, reported as %d, settles as %d, not from %d to %d", reading, report, at, low, high)
		}
	})
}

// TestMembersAreCountedWithHalfAMemberToSpare: 22.4, 22.6 and 23.4 °C are 22, 23 and 23. With 4
// brackets: (1 + 0.5)/(3 + 2), (2 + 0.5)/5, 0.5/5 and 0.5/5.
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

// TestARunningValueSettlesAsTheStationReports: 22.6 °C with a whole-degree group of 22 settles an
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
			t.Errorf("%+v: got %d", tc.rules, got)
		}
	}
}
