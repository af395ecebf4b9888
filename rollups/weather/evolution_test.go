package weather

import (
	"bytes"
	"encoding/csv"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
)

// TestEvolutionByHand: two sources for 2 July in New York; the second's last value is from after
// the end of the day. One rose by 2 °C, the other fell by 1: together half a degree up, although
// the last value is a degree below the first.
func TestEvolutionByHand(t *testing.T) {
	at := func(s string) int64 { return instant(t, s) }
	changes := []Change{
		{"nws", at("2026-07-02T12:00:00Z"), celsius(29)},
		{"gfs", at("2026-07-01T04:00:00Z"), celsius(30)},
		{"nws", at("2026-07-01T05:00:00Z"), celsius(30)},
		{"gfs", at("2026-07-01T16:00:00Z"), celsius(32)},
		{"nws", at("2026-07-03T04:00:00Z"), celsius(50)},
	}
	e := Evolve(city(t, "nyc"), on(t, "2026-07-02"), changes)
	var deltas []string
	for _, s := range e.Steps {
		text := "first"
		if s.Delta != nil {
			text = s.Delta.Difference(data.Celsius).String()
		}
		deltas = append(deltas, s.Source+" "+text+" "+Hours(s.Lead.ToStart).String())
	}
	if diff := cmp.Diff([]string{"gfs first 24", "nws first 23", "gfs 2 12", "nws -1 -8"}, deltas); diff != "" {
		t.Error(diff)
	}
	if len(e.Sources) != 2 || e.Sources[0].Total != 1800 || e.Sources[1].Total != -900 || e.Sources[1].Steps != 2 {
		t.Errorf("e.Sources = %+v", e.Sources)
	}
	if e.All.Total != 450 || e.All.Range != 2700 || e.All.First.Source != "gfs" || e.All.Latest.Value != celsius(29) || e.All.Steps != 4 {
		t.Errorf("e.All = %+v", e.All)
	}
	if e := Evolve(city(t, "nyc"), on(t, "2026-07-02"), changes[4:]); e.All != nil || len(e.Steps) != 0 {
		t.Errorf("e = %+v", e)
	}
}

// theRecordedEvolutions: the forecasts of London's 26 June and New York's 27 June 2026, as they
// were fetched each hour.
func theRecordedEvolutions(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(content(t, shared(t, "derived", "forecast_evolution_4cities.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		title, slug, day, first, latest, total, span string
		steps, lead                                  int
		toStart                                      string // hours, of the first
		passes                                       []string
	}{
		{"London", "london", "2026-06-26", "33.6", "35.7", "2.1", "5.9", 34, 2, "47.983056",
			[]string{"33.6", "31.9", "33.4", "35.7", "36.5", "36.7", "37.8", "35.0", "36.2", "35.3", "35.7"}},
		{"NYC", "nyc", "2026-06-27", "72.3", "77.0", "4.7", "13", 29, 2, "47.981944",
			[]string{"72.3", "85.3", "75.3", "83.8", "77.0"}},
	} {
		var changes []Change
		var unit data.Unit
		for _, r := range rows[1:] {
			if r[0] != tc.title || r[1] != tc.day || r[3] != "forecast" {
				continue
			}
			unit, _ = data.ParseUnit(r[2])
			v, err := data.ParseTemp(r[5], unit)
			if err != nil {
				t.Fatal(err)
			}
			changes = append(changes, Change{"best_match", instant(t, r[4]), v})
		}
		slices.Reverse(changes)
		e := Evolve(city(t, tc.slug), on(t, tc.day), changes)
		if e.All.First.Value.Text(unit) != tc.first || e.All.Latest.Value.Text(unit) != tc.latest ||
			e.All.Total.Difference(unit).String() != tc.total || e.All.Range.Difference(unit).String() != tc.span {
			t.Errorf("%s: e.All = %+v", tc.title, *e.All)
		}
		if lead := e.Steps[0].Lead; len(e.Steps) != tc.steps || lead.Days != tc.lead || Hours(lead.ToStart).String() != tc.toStart {
			t.Errorf("%s: %d steps, the first %s hours ahead, %d days", tc.title, len(e.Steps), Hours(lead.ToStart), lead.Days)
		}
		left := tc.passes
		for _, s := range e.Steps {
			if len(left) > 0 && s.Value.Text(unit) == left[0] {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			t.Errorf("%s never passes %v", tc.title, left)
		}
	}
}
