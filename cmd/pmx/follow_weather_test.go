package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/fetch"
	"pmx/http/replay"
)

// TestSyncOfTheWeatherAlone checks that without a provider of the chain, forecasts, reports and
// observations are imported, and that --once ends.
func TestSyncOfTheWeatherAlone(t *testing.T) {
	testfiles.InLong(t, "TestADayOfForecasts follows the forecasts of a day")
	keepUmask(t)
	now := time.Now().UTC().Truncate(time.Hour)
	s, err := replay.New(t.Context(), replay.Options{Config: sample.Config{Fills: 500, Days: 8, End: now, Seed: 5}, Start: now})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []*fetch.Budget{&openMeteoBudget, &metarBudget, &nwsBudget} {
		was := *budget
		*budget = fetch.Budget{PerSecond: 1000, Burst: 100, InFlight: 1}
		t.Cleanup(func() { *budget = was })
	}
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "d")
	call := func(args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		status := run(args, stdio{out: &out, err: &errs})
		return status, out.String(), errs.String()
	}
	sync := []string{"sync", "--data-dir", dir, "--contact", "me@example.org", "--only", "weather", "--openmeteo", web.URL + "/openmeteo", "--metar", web.URL + "/metar",
		"--nws", web.URL + "/nws", "--once"}
	for range 2 {
		if status, out, errs := call(sync...); status != 0 {
			t.Fatalf("status = %d, out = %q, errs = %q", status, out, errs)
		}
	}
	for dataset, least := range map[string]int{"forecasts": 100, "observations": 50} {
		to := filepath.Join(t.TempDir(), dataset+".csv")
		if status, out, errs := call("export", "--data-dir", dir, dataset, "--out", to); status != 0 {
			t.Fatalf("status = %d, out = %q, errs = %q", status, out, errs)
		}
		text, err := os.ReadFile(to)
		if n := bytes.Count(text, []byte("\n")); err != nil || n < least {
			t.Errorf("%s has %d lines: %v", dataset, n, err)
		}
	}
	status, out, errs := call("sync", "status", "--data-dir", dir, "--json")
	var state followStatus
	if err := json.Unmarshal([]byte(out), &state); err != nil || status != 0 {
		t.Fatalf("err = %v, status = %d, out = %q, errs = %q", err, status, out, errs)
	}
	var names []string
	for _, w := range state.Weather {
		names = append(names, w.Source)
		if w.Phase != "STOPPED" || time.Since(w.LastAnswer) > time.Hour || w.LastAnswer.After(time.Now()) {
			t.Errorf("%+v", w)
		}
	}
	if want := []string{"metar", "nws", "openmeteo archive", "openmeteo ensemble", "openmeteo forecast", "openmeteo previous runs"}; !slices.Equal(names, want) {
		t.Errorf("names = %v, want %v", names, want)
	}
	if status, out, errs := call("sync", "status", "--data-dir", dir); status != 0 || !strings.Contains(out, "weather: openmeteo forecast") {
		t.Errorf("status = %d, out = %q, errs = %q", status, out, errs)
	}
}
