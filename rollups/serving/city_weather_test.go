package serving_test

import (
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

func many(n int64) *int64 { return &n }

// TestTheActualToShowIsTheSettlingStations: from its reports if there are enough, else from its
// daily report, before any other station's; a grid only if it is requested.
func TestTheActualToShowIsTheSettlingStations(t *testing.T) {
	reports := serving.WeatherActual{Kind: data.KindStation, Source: "metar", Station: "KLGA", Observations: many(24), Value: 1}
	few := serving.WeatherActual{Kind: data.KindStation, Source: "nws", Station: "KLGA", Observations: many(11), Value: 2}
	daily := serving.WeatherActual{Kind: data.KindStation, Source: "iem", Station: "KLGA", Value: 3}
	other := serving.WeatherActual{Kind: data.KindStation, Source: "metar", Station: "KJFK", Observations: many(40), Value: 4}
	grid := serving.WeatherActual{Kind: data.KindReanalysis, Source: "era5", Value: 5}
	for want, list := range map[data.Temp][]serving.WeatherActual{
		1: {other, daily, few, reports, grid}, 3: {other, daily, few, grid}, 4: {grid, other}, 0: {grid},
	} {
		x := serving.WeatherExtreme{Station: "KLGA", Actuals: list}
		got := data.Temp(0)
		if a := x.Actual(data.KindStation); a != nil {
			got = a.Value
		}
		if got != want || x.Actual(data.KindReanalysis).Value != 5 {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	x := serving.WeatherExtreme{Station: "KLGA", Actuals: []serving.WeatherActual{daily, few, other, reports}}
	if x.Running("KLGA").Value != 1 || x.Running("KJFK").Value != 4 || x.Running("KEWR") != nil {
		t.Error("the running value is another station's or a daily report")
	}
}

// TestNormalsAreOfTheKindOfTheValue: a station's for a station, a grid's for a grid, and the other
// if there is no such normal.
func TestNormalsAreOfTheKindOfTheValue(t *testing.T) {
	station := serving.WeatherNormal{Source: "ncei", Station: "KLGA", Normal: weather.Normal{Value: 1}}
	grid := serving.WeatherNormal{Source: "derived:era5", Normal: weather.Normal{Value: 2}}
	both := serving.WeatherExtreme{Normals: []serving.WeatherNormal{station, grid}}
	if both.Normal(data.KindStation).Value != 1 || both.Normal(data.KindReanalysis).Value != 2 {
		t.Error("a normal of another kind")
	}
	alone := serving.WeatherExtreme{Normals: []serving.WeatherNormal{grid}}
	if alone.Normal(data.KindStation).Value != 2 {
		t.Error("the only normal is not given")
	}
}

// TestASkillOfFewDaysSaysSo: four scored days are too few, five are enough.
func TestASkillOfFewDaysSaysSo(t *testing.T) {
	key := func(lead int) weather.SkillKey {
		return weather.SkillKey{Source: "gfs", Metric: data.TMax, Lead: lead}
	}
	w := &serving.CityWeather{Skills: []serving.CitySkill{{SkillKey: key(0), Skill: weather.Skill{N: 4}}, {SkillKey: key(1), Skill: weather.Skill{N: 5}}}}
	for lead, want := range []serving.MissingReason{serving.FewScoredDays, "", serving.NoMeasuredDay} {
		s, why := w.Skill("gfs", data.TMax, lead)
		if why != want || (s == nil) != (lead == 2) {
			t.Errorf("lead %d: s = %+v, why = %q", lead, s, why)
		}
	}
	var none *serving.CityWeather
	if s, why := none.Skill("gfs", data.TMax, 0); s != nil || why != serving.NoScoredDays || len(none.Extreme(0, data.TMax).Readings) != 0 {
		t.Errorf("of no weather at all: %+v, %q", s, why)
	}
}
