package keeper_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
)

// word is the value that a source gave for a day, or a report for a time; 0 means a withdrawn one.
// For one time, or one report, the larger rank counts.
type word struct {
	day, rank, value int
}

// standing is the definition: of equal rank, a withdrawn value counts, then the larger one; for a
// day, the last rank counts.
func standing(words []word) map[int]int {
	best := map[int]word{}
	for _, w := range words {
		b, known := best[w.day]
		if !known || w.rank > b.rank || w.rank == b.rank && b.value != 0 && (w.value == 0 || w.value > b.value) {
			best[w.day] = w
		}
	}
	out := map[int]int{}
	for day, w := range best {
		if w.value != 0 {
			out[day] = w.value
		}
	}
	return out
}

func said(values map[int]int) string {
	var out strings.Builder
	for _, day := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&out, "%d %d\n", day, values[day])
	}
	return out.String()
}

// TestWhatIsWithdrawnIsGone: sources give daily values, revise them, mark them as failed and give
// them again, and correct reports, in any files and any order. The stored values, a city's page and
// its series, and an export that is imported elsewhere are those of the definition.
func TestWhatIsWithdrawnIsGone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	cell := func(value int) string {
		if value == 0 {
			return ",true"
		}
		return fmt.Sprint(value, ",")
	}
	for range testfiles.Cases(1, 3) {
		var days, reports []word
		k := open(t, t.TempDir())
		for range 4 {
			actuals, obs := "city,day,metric,kind,source,station,seen_at,value,withdrawn,unit\n", "city,station,source,ts,correction,value,withdrawn,unit\n"
			for range 1 + r.IntN(9) {
				w := word{1 + r.IntN(3), r.IntN(3), r.IntN(3) * (10 + r.IntN(2))}
				days = append(days, w)
				actuals += fmt.Sprintf("nyc,2026-07-%02d,tmax,station,ghcn,KLGA,2026-07-1%d,%s,C\n", w.day, w.rank, cell(w.value))
				w = word{1 + r.IntN(3), r.IntN(3), r.IntN(3) * (10 + r.IntN(2))}
				reports = append(reports, w)
				obs += fmt.Sprintf("nyc,KLGA,metar,2026-07-%02dT15:00:00Z,%d,%s,C\n", w.day, w.rank, cell(w.value))
			}
			mustImport(t, k, write(t, "a.csv", actuals))
			mustImport(t, k, write(t, "o.csv", obs))
		}
		want := map[string]string{"ghcn": said(standing(days)), "metar": said(standing(reports))}
		for source := range want {
			first, last := data.DateFrom(2026, time.July, 1), data.DateFrom(2026, time.July, 31)
			series, page := map[int]int{}, map[int]int{}
			known, err := k.Reader().DayActuals(context.Background(), "nyc", first, last)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range known {
				if a.Source == source && a.Metric == data.TMax {
					series[int(a.Day-first)+1] = int(a.Value) / 900
				}
			}
			dates, err := k.Reader().ActualDays(context.Background(), "nyc", first, last, []data.Metric{data.TMax}, []data.ActualKind{data.KindStation}, source, 100)
			if err != nil || len(dates) != len(series) {
				t.Errorf("%v: days %v of %v", err, dates, series)
			}
			w := cityWeather(t, k, time.Date(2026, time.July, 4, 16, 0, 0, 0, time.UTC), "nyc")["nyc"]
			for d := range 3 {
				for _, a := range w.Extreme(first+data.Date(d), data.TMax).Actuals {
					if a.Source == source {
						page[d+1] = int(a.Value) / 900
					}
				}
			}
			view := strings.ReplaceAll(table(t, k, fmt.Sprintf("SELECT day - %d, value // 900 FROM weather_actual WHERE metric = 0 AND source = '%s' ORDER BY ALL", first-1, source)), "|", " ")
			for what, got := range map[string]string{"series": said(series), "page": said(page), "view": strings.ReplaceAll(view, " \n", "\n")} {
				if diff := cmp.Diff(want[source], got); diff != "" {
					t.Errorf("%s, %s of %v %v (-want +got):\n%s", source, what, days, reports, diff)
				}
			}
		}
		revisions := table(t, k, "SELECT day, value, first_value, revisions, coalesce(revised_at, 0) FROM weather_reported ORDER BY ALL")
		var folded strings.Builder
		known, err := k.Reader().DayActuals(context.Background(), "nyc", 0, data.DateFrom(2026, time.July, 31))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range known {
			if a.Source == "ghcn" {
				fmt.Fprintf(&folded, "%d|%d|%d|%d|%d|\n", a.Day, a.Value, a.FirstValue, a.Revisions, a.RevisedAt)
			}
		}
		if diff := cmp.Diff(revisions, folded.String()); diff != "" {
			t.Errorf("%v (-view +folded):\n%s", days, diff)
		}
		alsoVerify(t, k)
	}
}
