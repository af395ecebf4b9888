package weather

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
)

func celsius(n int) data.Temp { return data.Degrees(n, data.Celsius) }

// readings makes a reading of each value, each from a source of its own, given at 100.
func readings(values ...data.Temp) []Reading {
	var out []Reading
	for i, v := range values {
		out = append(out, Reading{Source: string(rune('a' + i)), IssuedAt: int64(100 + i), ConfirmedAt: int64(100 + i), Value: v})
	}
	return out
}

// TestConsensusByHand: of 20, 21 and 23 °C the mean is 21⅓ and the sample deviation
// √(((−1⅓)² + (−⅓)² + (1⅔)²)/2) = √2⅓ = 1.5275 °C, 1,375 of 1/900 °C.
func TestConsensusByHand(t *testing.T) {
	c, ok := ConsensusOf(readings(celsius(21), celsius(20), celsius(23)), 200)
	deviation := data.Temp(1375)
	want := Consensus{Sources: 3, Mean: 19_200, Deviation: &deviation, P10: celsius(20), P50: celsius(21), P90: celsius(23),
		Min: celsius(20), Max: celsius(23), Spread: 2700, Oldest: 100, Newest: 102}
	if diff := cmp.Diff(want, c); diff != "" || !ok {
		t.Error(diff)
	}
	if one, ok := ConsensusOf(readings(celsius(-5)), 200); !ok || one.Deviation != nil || one.Mean != celsius(-5) || one.P10 != celsius(-5) || one.Spread != 0 {
		t.Errorf("one source: one = %+v", one)
	}
	if two, _ := ConsensusOf(readings(celsius(20), celsius(22)), 200); two.P50 != celsius(21) || two.P10 != celsius(20) {
		t.Errorf("two sources: two = %+v", two)
	}
}

// TestAnEnsembleWeighsAsMuchAsAnyOtherSource: next to a source with 20 °C, an ensemble of 22, 23,
// 24 and 25 has half the weight: exactly half is at 20 or below, so the median is half way to 22;
// nine tenths are reached only at 25 (⅞ at 24).
func TestAnEnsembleWeighsAsMuchAsAnyOtherSource(t *testing.T) {
	list := readings(celsius(20), 23*900+450)
	list[1].Members = []data.Temp{celsius(22), celsius(23), celsius(24), celsius(25)}
	c, _ := ConsensusOf(list, 200)
	if c.P10 != celsius(20) || c.P50 != celsius(21) || c.P90 != celsius(25) || c.Members != 4 || c.Sources != 2 || c.Mean != 21*900+675 {
		t.Errorf("c = %+v", c)
	}
}

// TestOnlyCurrentReadingsCount: a value that was confirmed exactly 24 hours ago counts, whenever it
// was first given, and so does one that was given later than the clock; one that was confirmed
// earlier does not.
func TestOnlyCurrentReadingsCount(t *testing.T) {
	const day = 86_400_000_000
	clock := int64(10 * day)
	list := []Reading{
		{Source: "a", IssuedAt: clock - 3*day, ConfirmedAt: clock - day, Value: 900},
		{Source: "b", IssuedAt: clock - 3*day, ConfirmedAt: clock - day - 1, Value: 9000},
		{Source: "c", IssuedAt: clock + 1, ConfirmedAt: clock + 1, Value: 2700},
	}
	if c, ok := ConsensusOf(list, clock); !ok || c.Sources != 2 || c.Mean != 1800 || c.Oldest != clock-3*day {
		t.Errorf("c = %+v", c)
	}
	if c, ok := ConsensusOf(list[1:2], clock); ok || c != (Consensus{}) {
		t.Errorf("c = %+v", c)
	}
}

// TestPercentilesLieAmongTheValuesInOrder for any sources and ensembles.
func TestPercentilesLieAmongTheValuesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Reading
		lo, hi := data.Temp(1<<30), data.Temp(-1<<30)
		for range rapid.IntRange(1, 9).Draw(t, "sources") {
			r := Reading{IssuedAt: 1, ConfirmedAt: 1, Value: data.Temp(rapid.Int32Range(-50_000, 50_000).Draw(t, "value"))}
			spread := []data.Temp{r.Value}
			for range rapid.IntRange(0, 51).Draw(t, "members") {
				r.Members = append(r.Members, data.Temp(rapid.Int32Range(-50_000, 50_000).Draw(t, "member")))
			}
			if len(r.Members) > 0 {
				slices.Sort(r.Members)
				spread = r.Members
			}
			lo, hi = min(lo, slices.Min(spread)), max(hi, slices.Max(spread))
			list = append(list, r)
		}
		c, _ := ConsensusOf(list, 1)
		if c.P10 < lo || c.P50 < c.P10 || c.P90 < c.P50 || hi < c.P90 || c.Mean < c.Min || c.Mean > c.Max {
			t.Fatalf("%+v of %+v", c, list)
		}
	})
}

// TestSkillByHand: errors of +1, −2 and +3 °C: bias ⅔, mean absolute error 2, root mean square
// √(14/3) = 2.1602 °C, 1,944 of 1/900 °C. Of two days with a winner, the forecast was 21 °C for one
// that 21 °C won, and 23 for one that "22°C or below" won.
func TestSkillByHand(t *testing.T) {
	var e Errors
	if e.Skill() != nil {
		t.Error("a skill of no pair")
	}
	for _, d := range []int{1, -2, 3} {
		e.Add(celsius(20+d), celsius(20), map[int]*Settled{1: {Bracket: c(21, 21)}, 3: {Bracket: cLow(22)}}[d])
	}
	if s := e.Skill(); *s != (Skill{N: 3, Bias: 600, MAE: 1800, RMSE: 1944, Settled: 2, Hits: 1}) {
		t.Errorf("*s = %+v", *s)
	}
}

// TestTheConsensusIsScoredAsASource: one source is 2 °C too warm and the other 1 °C too cold: their
// mean is half a degree too warm. A day without an actual value counts for no source.
func TestTheConsensusIsScoredAsASource(t *testing.T) {
	day := on(t, "2026-07-02")
	key := func(source string, d data.Date, lead int) ScoreKey {
		return ScoreKey{City: "nyc", Source: source, Metric: data.TMin, Day: d, Lead: lead}
	}
	got := Score(map[ScoreKey]data.Forecast{
		key("a", day, 1): {Value: celsius(22)}, key("b", day, 1): {Value: celsius(19)},
		key("a", day, 2): {Value: celsius(25)}, key("a", day+1, 1): {Value: celsius(40)},
	}, func(m data.Metric, d data.Date) (data.Temp, bool) { return celsius(20), m == data.TMin && d == day },
		func(data.Metric, data.Date) *Settled { return &Settled{Bracket: c(21, 22), Rounding: HalfUp} })
	want := map[SkillKey]Skill{
		{"a", data.TMin, 1}:             {N: 1, Bias: 1800, MAE: 1800, RMSE: 1800, Settled: 1, Hits: 1}, // 22
		{"b", data.TMin, 1}:             {N: 1, Bias: -900, MAE: 900, RMSE: 900, Settled: 1},            // 19
		{ConsensusSource, data.TMin, 1}: {N: 1, Bias: 450, MAE: 450, RMSE: 450, Settled: 1, Hits: 1},    // 20.5, which settles as 21
		{"a", data.TMin, 2}:             {N: 1, Bias: 4500, MAE: 4500, RMSE: 4500, Settled: 1},
		{ConsensusSource, data.TMin, 2}: {N: 1, Bias: 4500, MAE: 4500, RMSE: 4500, Settled: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheTruthOfADay(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	whole := Measured{Source: "metar", Station: "KLGA", Value: 1, Observations: n(24)}
	few := Measured{Source: "metar", Station: "KLGA", Value: 2, Observations: n(11)}
	running := Measured{Source: "metar", Station: "KLGA", Value: 3, Observations: n(24), Provisional: true}
	report := Measured{Source: "iem", Station: "KLGA", Value: 4, SeenAt: 5}
	later := Measured{Source: "ghcn", Station: "KLGA", Value: 5, SeenAt: 6}
	shifted := Measured{Source: "a", Station: "KLGA", Value: 6, SeenAt: 7, Shift: -3600}
	elsewhere := Measured{Source: "metar", Station: "KJFK", Value: 7, Observations: n(24)}
	closed, openEnded := &Settled{Bracket: f(54, 55)}, &Settled{Bracket: fHigh(56)}
	for name, tc := range map[string]struct {
		measured []Measured
		won      *Settled
		value    data.Temp
		basis    TruthBasis
	}{
		"single reports before all":          {[]Measured{later, whole, few}, closed, 1, FromStationDay},
		"too few of them leave the report":   {[]Measured{few, report}, closed, 4, FromStationReport},
		"of reports the later":               {[]Measured{report, later}, nil, 5, FromStationReport},
		"the city's day before a shifted":    {[]Measured{shifted, report}, nil, 4, FromStationReport},
		"a day that runs is none":            {[]Measured{running}, nil, 0, ""},
		"nor is one of another station":      {[]Measured{elsewhere}, openEnded, 0, ""},
		"the middle of the winner":           {[]Measured{running, elsewhere}, closed, 11_250, FromSettled}, // 54.5 °F is 12.5 °C
		"of a source that is cut half above": {nil, &Settled{c(28, 28), Floor}, 25_650, FromSettled},        // 28.5 °C
		"nothing":                            {nil, nil, 0, ""},
	} {
		for range 2 {
			got, ok := TruthOf("KLGA", tc.measured, tc.won)
			if got != (Truth{tc.value, tc.basis}) || ok != (tc.basis != "") {
				t.Errorf("%s: got %+v", name, got)
			}
			slices.Reverse(tc.measured)
		}
	}
}
