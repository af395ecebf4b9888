package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/sample"
)

// weatherFaults are the faults of the weather services.
var weatherFaults = []Kind{
	{Name: "places-fewer", Of: "openmeteo", About: "the answer for the last place is missing"},
	{Name: "places-order", Of: "openmeteo", About: "the answers are not in the order of the places"},
	{Name: "values-null", Of: "openmeteo", About: "all values are null"},
	{Name: "refused", Of: "openmeteo", About: "an error with status 400"},
	{Name: "run-unsaid", Of: "openmeteo", About: "the metadata of a model do not say when it ran"},
	{Name: "reports-late", Of: "metar", About: "reports of the last this many minutes are missing", Number: 90},
	{Name: "reports-foreign", Of: "metar", About: "a report of a station that was not requested is included"},
	{Name: "reports-none", Of: "metar", About: "no reports, as if there were none"},
	{Name: "temperature-null", Of: "nws", About: "temperatures are null: only the text of the report has them"},
	{Name: "observations-foreign", Of: "nws", About: "observations are of another station"},
}

// Limits of requests for the weather.
const (
	mostPlaces  = 1000
	mostDays    = 16
	mostReports = 400
	mostSeen    = 500
)

// complainWeather answers an invalid request as Open-Meteo does.
func complainWeather(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusBadRequest)
	text, wrong := json.Marshal(map[string]any{"error": true, "reason": err.Error()})
	if wrong == nil {
		_, _ = w.Write(text)
	}
}

// tagged answers with a body, or with 304 if the caller already has it.
func tagged(w http.ResponseWriter, r *http.Request, contentType string, body []byte) {
	sum := fnv.New64a()
	_, _ = sum.Write(body) // a hash never fails
	tag := fmt.Sprintf(`"%x"`, sum.Sum64())
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", contentType)
	out := newStream(w, r)
	defer out.close()
	out.b = append(out.b, body...)
}

var errQuery = errors.New("Value of a parameter is not valid") //nolint:staticcheck // the wording of the service

// places returns the cities at the coordinates of a query.
func (s *Server) places(q url.Values) ([]int, error) {
	lats, lons := strings.Split(q.Get("latitude"), ","), strings.Split(q.Get("longitude"), ",")
	if len(lats) != len(lons) || len(lats) > mostPlaces {
		return nil, fmt.Errorf("%w: latitude and longitude must have the same number of elements", errQuery)
	}
	list := make([]int, len(lats))
	for i := range lats {
		lat, errLat := strconv.ParseFloat(lats[i], 64)
		lon, errLon := strconv.ParseFloat(lons[i], 64)
		if errLat != nil || errLon != nil || !(lat >= -90 && lat <= 90) || !(lon >= -180 && lon <= 180) {
			return nil, fmt.Errorf("%w: latitude or longitude", errQuery)
		}
		list[i] = s.weather.Place(lat, lon)
	}
	return list, nil
}

// daysOf parses the number of days in a query.
func daysOf(q url.Values, key string, otherwise int) (int, error) {
	text := q.Get(key)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > mostDays {
		return 0, fmt.Errorf("%w: %s must be from 0 to %d", errQuery, key, mostDays)
	}
	return n, nil
}

// openMeteo answers for all places of a query, in order: with an array, or an object for a single
// place.
func (s *Server) openMeteo(w http.ResponseWriter, r *http.Request, f *Fault, one func(city int, q url.Values) ([]byte, error)) {
	q := r.URL.Query()
	places, err := s.places(q)
	if f.is("refused") {
		err = errQuery
	}
	if err != nil {
		complainWeather(w, err)
		return
	}
	answers := make([][]byte, len(places))
	for i, city := range places {
		if answers[i], err = one(city, q); err != nil {
			complainWeather(w, err)
			return
		}
	}
	switch {
	case f.is("places-fewer"):
		answers = answers[:len(answers)-1]
	case f.is("places-order") && len(answers) > 1:
		answers = append(answers[1:], answers[0])
	case f.is("values-null"):
		for i := range answers {
			answers[i] = nulls(answers[i])
		}
	}
	body := bytes.Join(answers, []byte{','})
	if len(places) > 1 {
		body = append(append([]byte{'['}, body...), ']')
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	out := newStream(w, r)
	defer out.close()
	out.b = append(out.b, body...)
}

// nulls replaces all values of an answer with null.
func nulls(answer []byte) []byte {
	var v map[string]any
	if json.Unmarshal(answer, &v) != nil {
		return answer
	}
	for _, table := range []string{"daily", "hourly"} {
		columns, _ := v[table].(map[string]any)
		for name, column := range columns {
			if list, ok := column.([]any); ok && name != "time" {
				clear(list)
			}
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		return answer
	}
	return out
}

func (s *Server) forecast(w http.ResponseWriter, r *http.Request, f *Fault) {
	at := s.clock.Now()
	s.openMeteo(w, r, f, func(city int, q url.Values) ([]byte, error) {
		days, err := daysOf(q, "forecast_days", 7)
		if err != nil {
			return nil, err
		}
		if hourly := q.Get("hourly"); strings.Contains(hourly, "_previous_day") {
			past, err := daysOf(q, "past_days", 0)
			if err != nil {
				return nil, err
			}
			return s.weather.Previous(city, at, past, 1+strings.Count(hourly, ","))
		}
		return s.weather.Forecast(city, at, days, strings.FieldsFunc(q.Get("models"), func(r rune) bool { return r == ',' }))
	})
}

func (s *Server) ensemble(w http.ResponseWriter, r *http.Request, f *Fault) {
	at := s.clock.Now()
	s.openMeteo(w, r, f, func(city int, q url.Values) ([]byte, error) {
		days, err := daysOf(q, "forecast_days", 7)
		if err != nil {
			return nil, err
		}
		return s.weather.Ensemble(city, at, days)
	})
}

func (s *Server) archive(w http.ResponseWriter, r *http.Request, f *Fault) {
	at := s.clock.Now()
	s.openMeteo(w, r, f, func(city int, q url.Values) ([]byte, error) {
		from, err := data.ParseDate(q.Get("start_date"))
		if err != nil {
			return nil, err
		}
		to, err := data.ParseDate(q.Get("end_date"))
		if err != nil {
			return nil, err
		}
		return s.weather.Archive(city, at, from, to)
	})
}

// watch answers with the time of the last run of a model.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, f *Fault) {
	begun, came := s.weather.Run(s.clock.Now(), false)
	body := map[string]any{"chunk_time_length": 121, "data_end_time": begun.AddDate(0, 0, 10).Unix(), "last_run_initialisation_time": begun.Unix(),
		"last_run_modification_time": came.Unix() - 60, "last_run_availability_time": came.Unix(), "temporal_resolution_seconds": 3600, "update_interval_seconds": 21600}
	if f.is("run-unsaid") {
		delete(body, "last_run_availability_time")
	}
	text, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	tagged(w, r, "application/json", text)
}

// metar answers with the reports of stations, newest first.
func (s *Server) metar(w http.ResponseWriter, r *http.Request, f *Fault) {
	q := r.URL.Query()
	hours, err := strconv.ParseFloat(q.Get("hours"), 64)
	if q.Get("hours") == "" {
		hours, err = 1.5, nil
	}
	if err != nil || !(hours > 0 && hours <= 720) || q.Get("format") != "json" {
		http.Error(w, "invalid request", http.StatusBadRequest)
		return
	}
	to := s.clock.Now()
	from := to.Add(-time.Duration(hours * float64(time.Hour)))
	if f.is("reports-late") {
		to = to.Add(-time.Duration(f.Number) * time.Minute)
	}
	var rows [][]byte
	for _, station := range strings.Split(q.Get("ids"), ",") {
		list, err := s.weather.Reports(station, from, to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, one := range list {
			rows = append(rows, one.JSON)
		}
	}
	switch {
	case f.is("reports-none"):
		rows = nil
	case f.is("reports-foreign"):
		rows = append(rows, []byte(`{"icaoId":"XXXX","receiptTime":"`+to.Format(time.RFC3339)+`","obsTime":`+strconv.FormatInt(from.Unix(), 10)+`,"temp":1,"metarType":"METAR","rawOb":""}`))
	}
	if len(rows) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	rows = rows[:min(len(rows), mostReports)]
	tagged(w, r, "application/json", append(append([]byte{'['}, bytes.Join(rows, []byte{','})...), ']'))
}

// observations answers with the observations of an American station, newest first.
func (s *Server) observations(w http.ResponseWriter, r *http.Request, f *Fault) {
	station := r.PathValue("station")
	if r.UserAgent() == "" {
		http.Error(w, `{"title":"Forbidden","status":403}`, http.StatusForbidden)
		return
	}
	if !s.weather.American(station) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"title":"Not Found","status":404}`))
		return
	}
	text, err := s.observed(r, station, f)
	if err != nil {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"title":"Bad Request","status":400}`))
		return
	}
	tagged(w, r, "application/geo+json", text)
}

// observed returns a page of observations.
func (s *Server) observed(r *http.Request, station string, f *Fault) ([]byte, error) {
	q := r.URL.Query()
	to := s.clock.Now()
	from, limit := to.AddDate(0, 0, -7), mostSeen
	var err error
	for key, t := range map[string]*time.Time{"start": &from, "end": &to} {
		if text := q.Get(key); text != "" {
			if *t, err = time.Parse(time.RFC3339, text); err != nil {
				return nil, err
			}
		}
	}
	if to.After(s.clock.Now()) {
		to = s.clock.Now()
	}
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > mostSeen {
			return nil, fmt.Errorf("limit %q: %w", text, errQuery)
		}
	}
	list, err := s.weather.Reports(station, from, to)
	if err != nil {
		return nil, err
	}
	next := ""
	if len(list) > limit {
		list = list[:limit]
		q.Set("end", list[limit-1].At.Add(-time.Second).Add(4*time.Minute).Format(time.RFC3339))
		next = "http://" + r.Host + r.URL.Path + "?" + q.Encode()
	}
	features := make([]any, len(list))
	for i := range list {
		features[i] = feature(&list[i], f)
	}
	page := map[string]any{"type": "FeatureCollection", "features": features}
	if next != "" {
		page["pagination"] = map[string]string{"next": next}
	}
	return json.Marshal(page)
}

func feature(o *sample.Report, f *Fault) map[string]any {
	value := any(o.Celsius)
	if f.is("temperature-null") {
		value = nil
	}
	station := o.Station
	if f.is("observations-foreign") {
		station = "KXXX"
	}
	at := o.At.Format("2006-01-02T15:04:05+00:00")
	base := "https://api.weather.gov/stations/" + station
	return map[string]any{"id": base + "/observations/" + at, "type": "Feature", "properties": map[string]any{
		"station": base, "stationId": station, "timestamp": at, "rawMessage": strings.TrimPrefix(o.Raw, "METAR "), "textDescription": "Clear",
		"temperature": map[string]any{"unitCode": "wmoUnit:degC", "value": value, "qualityControl": "V"}}}
}
