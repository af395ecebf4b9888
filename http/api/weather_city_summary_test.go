package api

import (
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/weather"
)

// TestReportsAndSummariesOfOneSourceAreRowsOfTheirOwn: a source with single reports and a daily
// summary of a day has two rows.
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
		t.Errorf("rows = %+v", rows)
	}
}

// TestAnAnomalyIsWhatIsPrintedLessWhatIsPrinted: value and normal are printed to a hundredth of
// a degree each, and their printed difference is the anomaly to the last digit, in rows of
// anomalies and of events alike.
func TestAnAnomalyIsWhatIsPrintedLessWhatIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := data.Temp(rapid.Int32Range(-40_000, 50_000).Draw(t, "value"))
		normal := &serving.WeatherNormal{Normal: weather.Normal{Value: data.Temp(rapid.Int32Range(-40_000, 50_000).Draw(t, "normal"))}}
		for _, unit := range []string{"C", "F"} {
			u := unitOf(data.City{Unit: unit})
			m := anomalyMaker{q: &dayQuery{city: &serving.DeskCity{City: data.City{Unit: unit}}}}
			row := wire.AnomalyRow{}
			m.compare(&row, value, normal)
			printed := wire.DegreesOf(value, u)
			o := serving.Outlook{Consensus: &weather.Consensus{Mean: value}, Normal: normal}
			usual, anomaly := normalAndAnomaly(&o, u, map[string]string{})
			want := data.Micro(printed-*usual) * 10_000
			if *row.Anomaly != want || *anomaly != want || row.Value != printed || *row.Normal != *usual {
				t.Fatalf("%v less %v is %s in a row, %s in an event", printed, *usual, row.Anomaly, anomaly)
			}
		}
	})
}
