package api

import (
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// TestReportsAndSummariesOfOneSourceAreRowsOfTheirOwn: a source that gives single
// reports and a daily summary of a day says two things.
func TestReportsAndSummariesOfOneSourceAreRowsOfTheirOwn(t *testing.T) {
	n, final := int64(24), false
	day := serving.WeatherDay{Extremes: [2]serving.WeatherExtreme{
		{Actuals: []serving.WeatherActual{
			{Kind: data.KindStation, Source: "iem", Station: "KLGA", Value: data.Degrees(20, data.Celsius), Observations: &n},
			{Kind: data.KindStation, Source: "iem", Station: "KLGA", Value: data.Degrees(21, data.Celsius), Provisional: &final},
		}},
		{Actuals: []serving.WeatherActual{{Kind: data.KindStation, Source: "iem", Station: "KLGA", Value: data.Degrees(11, data.Celsius), Provisional: &final}}},
	}}
	rows := measuredOf(20_000, &day, data.Celsius)
	if len(rows) != 2 || rows[0].Observations == nil || *rows[0].TMax != 2_000 || rows[0].TMin != nil ||
		rows[1].Observations != nil || *rows[1].TMax != 2_100 || *rows[1].TMin != 1_100 {
		t.Errorf("%+v", rows)
	}
}
