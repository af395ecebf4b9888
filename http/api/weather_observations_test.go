package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// Two sources pass a station's reports on, and disagree about one: each has running values of its own. New York's
// 27 June lasts from 04:00Z to 04:00Z, and is the present day of its desk.
func TestObservationsOfADay(t *testing.T) {
	v := newWeather(t)
	obs := func(clock, source string, report data.Report, fahrenheit string) serving.Observation {
		at, err := time.Parse(time.RFC3339, "2026-06-27T"+clock+":00Z")
		if err != nil {
			t.Fatal(err)
		}
		value, err := data.ParseTemp(fahrenheit, data.Fahrenheit)
		if err != nil {
			t.Fatal(err)
		}
		return serving.Observation{TS: at.UnixMicro(), Source: source, Station: "KLGA", Report: report, Value: value}
	}
	v.weather.Single = []serving.Observation{obs("12:51", "iem", data.ReportRoutine, "70.0"), obs("12:51", "metar", data.ReportUnknown, "71.1"),
		obs("13:20", "iem", data.ReportSpecial, "73.9"), obs("13:51", "iem", data.ReportRoutine, "69.1")}
	got := exact[wire.Observations](t, v.get(access.Free, "/weather/city/nyc/observations").Body())
	text, _ := json.Marshal(got.Data)
	want := `[{"ts":"2026-06-27T12:51:00Z","station":"KLGA","source":"iem","kind":"metar","value":70.0,"running_max":70.0,"running_min":70.0},` +
		`{"ts":"2026-06-27T12:51:00Z","station":"KLGA","source":"metar","kind":null,"value":71.1,"running_max":71.1,"running_min":71.1},` +
		`{"ts":"2026-06-27T13:20:00Z","station":"KLGA","source":"iem","kind":"speci","value":73.9,"running_max":73.9,"running_min":70.0},` +
		`{"ts":"2026-06-27T13:51:00Z","station":"KLGA","source":"iem","kind":"metar","value":69.1,"running_max":73.9,"running_min":69.1}]`
	if string(text) != want {
		t.Errorf("got %s\nwant %s", text, want)
	}
	if got.Date != "2026-06-27" || got.Unit != "F" || got.Count != 4 || got.EmptyReason != nil || got.DayStart.Format(time.RFC3339) != "2026-06-27T04:00:00Z" || got.Truncated {
		t.Errorf("got.ObservationSeries = %+v", got.ObservationSeries)
	}
	asked := v.weather.Asked
	if v.get(access.Free, "/weather/city/nyc/observations"); v.weather.Asked != asked {
		t.Error("what was read in this epoch is read again")
	}
	for query, want := range map[string]string{"?source=iem&limit=1": "1 of 3 ", "?source=hko": "0 of 0 no_match", "?date=2026-06-26": "4 of 4 ", "?date=2026-05-01": "0 of 0 plan_history"} {
		o := exact[wire.Observations](t, v.get(access.Free, "/weather/city/nyc/observations"+query).Body())
		reason := ""
		if o.EmptyReason != nil {
			reason = *o.EmptyReason
		}
		if got := fmt.Sprintf("%d of %d %s", len(o.Data), o.Count, reason); got != want || o.Truncated != (reason == "plan_history") {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
		if query == "?source=iem&limit=1" && fmt.Sprint(o.Data[0].RunningMax) != fmt.Sprint(got.Data[3].RunningMax) {
			t.Errorf("the running value of a short list is %v", o.Data[0].RunningMax)
		}
	}
	v.weather.Single = nil
	if o := exact[wire.Observations](t, v.get(access.Alpha, "/weather/city/nyc/observations?date=2026-06-20").Body()); o.Count != 0 || *o.EmptyReason != "not_measured" {
		t.Errorf("without a report: %+v", o)
	}
	for path, want := range map[string]string{"atlantis/observations": "404", "nyc/observations?date=today": "400", "nyc/observations?limit=2001": "400", "la/observations": "308"} {
		if r := v.get(access.Free, "/weather/city/"+path); fmt.Sprint(r.status) != want {
			t.Errorf("%s: status = %d, want %s", path, r.status, want)
		}
	}
}
