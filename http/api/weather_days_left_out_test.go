package api

import (
	"fmt"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

// TestDaysThatAreLeftOutAreNamed: if there are more rows than a response can have, it has the
// newest whole days, and names the newest one that is left out.
func TestDaysThatAreLeftOutAreNamed(t *testing.T) {
	city := &serving.DeskCity{City: data.City{Slug: "nyc", Title: "NYC", Zone: "America/New_York", Unit: "F"}}
	q := &dayQuery{city: city, metrics: []data.Metric{data.TMax, data.TMin}}
	for sources, want := range map[int]string{5: "", 10: "", 11: "33"} {
		var known []serving.DayActual
		var days []data.Date
		for day := range data.Date(365) {
			days = append(days, 364-day)
			for s := range sources {
				known = append(known, serving.DayActual{Day: day, WeatherActual: serving.WeatherActual{Kind: data.KindStation, Source: fmt.Sprint("s", 1000+s)}})
			}
		}
		actuals, left := (&encodedSnapshot{}).actualRows(q, days, nil, known)
		anomalies, leftToo := (&anomalyMaker{q: q}).rows(known)
		if len(actuals) != len(anomalies) || len(actuals) > actualRows || len(actuals)%sources != 0 {
			t.Errorf("%d sources: %d and %d rows", sources, len(actuals), len(anomalies))
		}
		for _, l := range []*string{left, leftToo} {
			got := ""
			if l != nil {
				d, err := data.ParseDate(*l)
				if err != nil {
					t.Fatal(err)
				}
				got = fmt.Sprint(int(d))
			}
			if got != want {
				t.Errorf("%d sources: left out through day %q, want %q", sources, got, want)
			}
		}
	}
}
