package follow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// refusing is a venue that refuses every other batch with rows.
type refusing struct {
	*keeper.Keeper
	n int
}

var errRefused = errors.New("no")

func (v *refusing) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if rows.Read != nil {
		if v.n++; v.n%2 == 1 {
			return ingest.Receipt{}, errRefused
		}
	}
	return v.Keeper.Commit(ctx, rows, coming)
}

// TestWhatIsFollowedIsWhatIsImported: for reports and observations, with outages, refused batches
// and a restart, the facts are the same as after importing everything that was ever reported.
func TestWhatIsFollowedIsWhatIsImported(t *testing.T) {
	for name, sources := range map[string]int{"metar": skyMETAR, "nws": skyNWS} {
		t.Run(name, func(t *testing.T) {
			k, s := factsOnly(t), newSky(t, testfiles.Cases(2, 6))
			down := map[int]bool{3: true, 4: true, 5: true, 6: true, 7: true}
			s.fault = func(string) http.HandlerFunc {
				if !down[s.clock().Hour()] {
					return nil
				}
				return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
			}
			v := &refusing{Keeper: k}
			o := s.options(v, sources)
			w := s.follow(o, 5*time.Hour)
			if st := statusOf(t, w, name); st.Phase == follow.Idle || st.Error == "" || st.Errors == 0 || len(st.Failing) == 0 {
				t.Errorf("while it is down: %+v", st)
			}
			s.follow(o, 5*time.Hour)
			w = s.follow(s.options(v, sources), 2*time.Hour) // which only has what is stored in the ledger
			if st := statusOf(t, w, name); st.Phase != follow.Idle || st.Error != "" || len(st.Failing) > 0 || len(st.Rejected) > 0 || st.LagSeconds > 1200 {
				t.Errorf("after it: %+v", st)
			}
			other := factsOnly(t)
			if res, err := other.Import(t.Context(), keeper.Request{Paths: []string{s.written(name)}}, nil); err != nil || len(res.Failed) > 0 {
				t.Fatal(err, res.Failed)
			}
			got, want := weatherFacts(t, k), weatherFacts(t, other)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-imported +followed):\n%s", diff)
			}
			hours := rowsOf(t, k, fmt.Sprintf("SELECT station, count(DISTINCT ts) AS n FROM weather_obs WHERE ts >= %d AND ts < %d GROUP BY station",
				morning.UnixMicro(), morning.Add(12*time.Hour).UnixMicro()))
			for _, row := range hours {
				if n := "\"n\":12}"; row[len(row)-len(n):] != n {
					t.Errorf("%s of 12 hours", row)
				}
			}
			if len(hours) == 0 {
				t.Error("no station has any")
			}
		})
	}
}

// TestKnownRecordsAreNotRequested: reports that have not changed are not sent again.
func TestKnownRecordsAreNotRequested(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 3)
	w := s.follow(s.options(k, skyMETAR), 3*time.Hour)
	st := statusOf(t, w, "metar")
	if st.Asked != 36 || st.Answers != 36 || len(s.said["metar"]) > 4 || st.Unchanged < 30 {
		t.Errorf("%d bodies, %+v", len(s.said["metar"]), st)
	}
}

// TestTheWeatherDoesNotWaitForAClockThatWasAhead: requests are sent at their times by the corrected
// clock.
func TestTheWeatherDoesNotWaitForAClockThatWasAhead(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 3)
	o := s.options(k, skyMETAR)
	set := func(d time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now = s.now.Add(d)
	}
	set(90 * 24 * time.Hour)
	s.follow(o, 10*time.Minute)
	set(-90 * 24 * time.Hour)
	before := len(s.asked["metar"])
	s.follow(o, time.Hour)
	if n := len(s.asked["metar"]) - before; before == 0 || n < 11 {
		t.Errorf("requested %d times while the clock was ahead, and %d times in the hour after that", before, n)
	}
}

// TestOneStationIsNotTheOthers: an error of one station is reported, and the others are followed.
func TestOneStationIsNotTheOthers(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 55)
	s.fault = func(what string) http.HandlerFunc {
		if what != "nws KLGA" {
			return nil
		}
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	}
	w := s.follow(s.options(k, skyNWS), time.Hour)
	if st := statusOf(t, w, "nws"); st.Phase != follow.BackOff || !slices.Equal(st.Failing, []string{"KLGA"}) || st.Answers < 20 || st.Errors < 2 {
		t.Errorf("st = %+v", st)
	}
	if got := rowsOf(t, k, "SELECT count(DISTINCT station) > 5 AS several, bool_or(station = 'KLGA') AS failing FROM weather_obs"); !slices.Equal(got, []string{`{"several":true,"failing":false}`}) {
		t.Error(got)
	}
}

// TestASilentSource: a station without reports is named, a source with few reports is reported, and
// one that no longer answers is stalled.
func TestASilentSource(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 12)
	o := s.options(k, skyMETAR)
	if st := statusOf(t, s.follow(o, 4*time.Hour), "metar"); st.Sparse || len(st.Silent) > 0 {
		t.Errorf("st = %+v", st)
	}
	s.fault = func(string) http.HandlerFunc {
		if h := s.clock().Hour(); h < 6 {
			return nil
		} else if h >= 8 {
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
		}
		return func(w http.ResponseWriter, _ *http.Request) {
			at := s.clock().Truncate(time.Hour)
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `[{"icaoId":"KLGA","obsTime":%d,"temp":1,"metarType":"METAR","rawOb":"METAR KLGA %02d%02d00Z 00000KT 9999 01/01 Q1010"}]`, at.Unix(), at.Day(), at.Hour())
		}
	}
	w := s.follow(o, 4*time.Hour) // the first two hours of which are as usual
	if st := statusOf(t, w, "metar"); !st.Sparse || len(st.Silent) < 8 || slices.Contains(st.Silent, "KLGA") {
		t.Errorf("st = %+v", st)
	}
	w = s.follow(o, 3*time.Hour)
	if st := statusOf(t, w, "metar"); st.Phase != follow.Stalled || st.LagSeconds < 3600 {
		t.Errorf("st = %+v", st)
	}
}

// TestAnUnknownModel: a missing folder is counted, and forecasts are requested nevertheless.
func TestAnUnknownModel(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 2)
	s.fault = func(what string) http.HandlerFunc {
		if what != "meta" {
			return nil
		}
		return http.NotFound
	}
	w := s.follow(s.options(k, skyOpenMeteo), 13*time.Hour)
	st := statusOf(t, w, "openmeteo forecast")
	if !slices.Equal(hours(s.asked["forecast"]), []string{"00:00", "12:07"}) || st.Unknown["no_model dwd_icon"] < 13 || st.Unknown["no_new_run"] != 1 || st.Errors > 0 {
		t.Errorf("requested at %v, %+v", hours(s.asked["forecast"]), st)
	}
}

// TestAnswersOfNulls: a request with a response without values is repeated soon, at most three
// times, and within the day's weight; then the response is accepted and counted.
func TestAnswersOfNulls(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 5)
	s.fault = func(what string) http.HandlerFunc {
		if what != "archive" && (what != "forecast" || len(s.asked[what]) > 2) {
			return nil
		}
		return func(w http.ResponseWriter, _ *http.Request) {
			var list []any
			for _, c := range s.cities {
				list = append(list, map[string]any{"latitude": c.Lat, "longitude": c.Lon, "utc_offset_seconds": 0, "timezone": "GMT",
					"daily_units": map[string]string{"temperature_2m_max": "°C"}, "daily": map[string]any{"time": []string{"2026-11-16"}, "temperature_2m_max": []any{nil}}})
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(list)
		}
	}
	w := s.follow(s.options(k, skyOpenMeteo), 10*time.Hour)
	for source, want := range map[string]struct {
		asked            []string
		errors, noValues int64
	}{
		"forecast": {[]string{"00:00", "00:00", "00:01", "05:07"}, 2, 0},
		"archive":  {[]string{"00:00", "00:00", "00:01", "08:30", "08:30", "08:31"}, 4, 2},
		"ensemble": {[]string{"00:00", "00:52", "06:52"}, 0, 0},
	} {
		st := statusOf(t, w, "openmeteo "+source)
		if got := hours(s.asked[source]); !slices.Equal(got, want.asked) || st.Errors != want.errors || st.Unknown["no_values"] != want.noValues || st.Phase != follow.Idle {
			t.Errorf("%s requested at %v: st = %+v", source, got, st)
		}
	}
	if got := rowsOf(t, k, "SELECT min(issued_at) AS at, count(DISTINCT city) AS n FROM weather_issue WHERE source = 'best_match'"); !slices.Equal(got,
		[]string{fmt.Sprintf(`{"at":%d,"n":5}`, morning.Add(90*time.Second).UnixMicro())}) {
		t.Error(got)
	}
	left := *statusOf(t, w, "openmeteo forecast").WeightLeft
	if asked := 5*(4+6+3+2) + len(s.asked["meta"]); left != 1500-float64(asked) {
		t.Errorf("weight left %g, requested %d", left, asked)
	}
}

// TestOnce: every source that is due is requested once, and failures are reported.
func TestOnce(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 4)
	s.fault = func(what string) http.HandlerFunc {
		if what != "ensemble" {
			return nil
		}
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":true,"reason":"no such model"}`)
		}
	}
	w, err := follow.NewWeather(s.options(k, skyOpenMeteo|skyMETAR|skyNWS))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Once(t.Context()); err == nil || err.Error() != "openmeteo ensemble: open-meteo's ensemble refused the request: no such model" {
		t.Error(err)
	}
	for table, rows := range weatherFacts(t, k) {
		if len(rows) == 0 {
			t.Errorf("%s has none", table)
		}
	}
	if err := w.Once(t.Context()); err != nil || len(s.asked["metar"]) != 1 || len(s.asked["forecast"]) != 1 || len(s.asked["ensemble"]) != 1 {
		t.Errorf("again at once: %v, %v", err, s.asked)
	}
	// The next start knows when each source was last requested, and requests nothing early.
	again, err := follow.NewWeather(s.options(k, skyOpenMeteo|skyMETAR|skyNWS))
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Once(t.Context()) // the ensembles fail once more
	for _, source := range []string{"metar", "nws", "openmeteo archive", "openmeteo forecast", "openmeteo previous runs"} {
		if st, was := statusOf(t, again, source), statusOf(t, w, source); was.LastNew.IsZero() || st.LastNew.Before(morning) || st.Asked != 0 || st.LastAnswer.Before(morning) || !st.LastAnswer.Equal(was.LastAnswer.Truncate(time.Second)) {
			t.Errorf("%s: %+v, %v before", source, st, was.LastAnswer)
		}
	}
	// A reader that follows nothing knows when each source was last requested.
	var names []string
	stored, err := follow.StoredWeather(t.Context(), k, s.clock().Add(time.Minute))
	for _, st := range stored {
		names = append(names, st.Source)
		if st.Phase != follow.Stopped || st.LastNew.Before(morning) || st.LagSeconds < 60 || st.LastAnswer.Before(morning) {
			t.Errorf("st = %+v", st)
		}
	}
	if want := []string{"metar", "nws", "openmeteo archive", "openmeteo forecast", "openmeteo previous runs"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("names = %v, err = %v", names, err)
	}
}

// TestAWeatherLaneWithoutSources is refused.
func TestAWeatherLaneWithoutSources(t *testing.T) {
	k, s := factsOnly(t), newSky(t, 1)
	if w, err := follow.NewWeather(s.options(k, 0)); err == nil {
		t.Error(w)
	}
	if w, err := follow.NewWeather(follow.WeatherOptions{Venue: k}); err == nil {
		t.Error(w)
	}
}
