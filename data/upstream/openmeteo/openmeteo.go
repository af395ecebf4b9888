// Package openmeteo requests the weather of many cities at once from Open-Meteo. It returns each
// city's response with a note about the request, as the feed openmeteo imports it.
package openmeteo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
)

// Service is one of Open-Meteo's services. They have the same response format and different hosts.
type Service string

// The services, with their names in the feed.
const (
	Forecast     Service = "forecast"
	Ensemble     Service = "ensemble"
	Archive      Service = "archive"
	PreviousRuns Service = "previous-runs"
)

// Client is a client of Open-Meteo. It may be used by several goroutines.
type Client struct {
	hosts map[Service]pages.Asker
	now   func() time.Time
}

// New returns a Client with a host for each service; a service without a host is not available. now
// may be nil.
func New(hosts map[Service]pages.Asker, now func() time.Time) *Client {
	if now == nil {
		now = time.Now
	}
	return &Client{hosts: hosts, now: now}
}

// Query is one request.
type Query struct {
	Service  Service
	Cities   []data.City
	Models   []string // none: the service's default
	Days     int      // of a forecast or an ensemble, from today on
	From, To data.Date
	Previous int // of PreviousRuns: the maximum number of days ahead for which hours were predicted
}

// metrics are the daily variables.
var metrics = []string{"temperature_2m_max", "temperature_2m_min"}

// pastDays is the number of days before today for which previous runs are requested. Two include
// the newest complete day of every time zone.
const pastDays = 2

// variables returns the daily and hourly variables of the query, and its number of days.
func (q *Query) variables() (daily, hourly []string, days int) {
	switch q.Service {
	case Archive:
		return metrics, nil, int(q.To-q.From) + 1
	case PreviousRuns:
		for n := range q.Previous {
			hourly = append(hourly, fmt.Sprintf("temperature_2m_previous_day%d", n+1))
		}
		return nil, hourly, pastDays + 1
	}
	return metrics, nil, q.Days
}

// Weight is what the query counts for in a day's budget. More than ten variables, counted for each
// model, or more than two weeks count for more. No place counts for less than one.
func (q *Query) Weight() float64 {
	daily, hourly, days := q.variables()
	tens := float64((len(daily)+len(hourly))*max(len(q.Models), 1)) / 10
	return max(tens, tens*float64(days)/14, 1) * float64(len(q.Cities))
}

// values returns the query parameters.
func (q *Query) values() url.Values {
	lats, lons, zones := make([]string, len(q.Cities)), make([]string, len(q.Cities)), make([]string, len(q.Cities))
	for i, c := range q.Cities {
		lats[i], lons[i], zones[i] = degrees(c.Lat), degrees(c.Lon), c.Zone
	}
	v := url.Values{"latitude": {strings.Join(lats, ",")}, "longitude": {strings.Join(lons, ",")}, "timezone": {strings.Join(zones, ",")}}
	daily, hourly, days := q.variables()
	if len(daily) > 0 {
		v.Set("daily", strings.Join(daily, ","))
	}
	if len(hourly) > 0 {
		v.Set("hourly", strings.Join(hourly, ","))
	}
	if len(q.Models) > 0 {
		v.Set("models", strings.Join(q.Models, ","))
	}
	switch q.Service {
	case Archive:
		v.Set("start_date", q.From.String())
		v.Set("end_date", q.To.String())
	case PreviousRuns:
		v.Set("past_days", strconv.Itoa(pastDays))
		v.Set("forecast_days", "1")
	default:
		v.Set("forecast_days", strconv.Itoa(days))
	}
	return v
}

func degrees(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// paths are the paths of the services.
var paths = map[Service]string{Forecast: "/v1/forecast", Ensemble: "/v1/ensemble", Archive: "/v1/archive", PreviousRuns: "/v1/forecast"}

// RefusedError is the error of a query that Open-Meteo refuses.
type RefusedError struct {
	Service Service
	Reason  string
}

// Error returns the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("open-meteo's %s refused the request: %s", e.Service, e.Reason)
}

// EmptyError is returned together with a response in which half of the places or more have no
// value. Global models have values everywhere, so something may be broken.
type EmptyError struct {
	Service Service
	Cities  []string // their slugs
}

// Error has the number of places without values.
func (e *EmptyError) Error() string {
	return fmt.Sprintf("open-meteo's %s has no value for %d places, such as %s", e.Service, len(e.Cities), e.Cities[0])
}

// ErrNoHost is returned for a service without a host.
var ErrNoHost = errors.New("this service has no host")

// note is the metadata of a response.
type note struct {
	Source    string `json:"source"`
	Kind      string `json:"kind"`
	City      string `json:"city"`
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Models    string `json:"models,omitempty"`
	FetchedAt string `json:"fetched_at_utc"`
}

// Ask returns the responses to a query as NDJSON for the feed openmeteo, a line for each city in
// order: {"_meta": the request and its time, "response": the response}. The error is that of the
// host, a *RefusedError, or a *pages.ShapeError or *pages.ForeignError for a response that does not
// fit the query; no part of it is returned then. An *EmptyError is returned together with the
// responses.
func (c *Client) Ask(ctx context.Context, q Query) ([]byte, error) {
	host := c.hosts[q.Service]
	if host == nil {
		return nil, fmt.Errorf("%s: %w", q.Service, ErrNoHost)
	}
	path := paths[q.Service]
	a, err := host.Do(ctx, fetch.Request{Path: path, Query: q.values()})
	if err != nil {
		var status *fetch.StatusError
		if errors.As(err, &status) && status.Code == http.StatusBadRequest {
			if reason, refused := refusal([]byte(status.Body)); refused {
				return nil, &RefusedError{q.Service, reason}
			}
		}
		return nil, err
	}
	list, err := answers(path, a.Body, len(q.Cities))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	var empty []string
	at := c.now().UTC().Format(time.RFC3339Nano)
	for i, raw := range list {
		city := q.Cities[i]
		if reason, refused := refusal(raw); refused {
			return nil, &RefusedError{q.Service, reason}
		}
		if err := belongs(path, raw, city); err != nil {
			return nil, err
		}
		if !hasValue(raw) {
			empty = append(empty, city.Slug)
		}
		line, err := json.Marshal(struct {
			Meta     note            `json:"_meta"`
			Response json.RawMessage `json:"response"`
		}{note{"open-meteo", string(q.Service), city.Slug, degrees(city.Lat), degrees(city.Lon), strings.Join(q.Models, ","), at}, raw})
		if err != nil {
			return nil, &pages.ShapeError{Path: path, Why: err.Error()}
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	if len(empty) > 0 && 2*len(empty) >= len(list) {
		return out.Bytes(), &EmptyError{q.Service, empty}
	}
	return out.Bytes(), nil
}

// hasValue reports whether a response has any values besides times.
func hasValue(raw json.RawMessage) bool {
	var a struct{ Daily, Hourly map[string]json.RawMessage }
	if json.Unmarshal(raw, &a) != nil {
		return true // the import reports what is wrong with it
	}
	for _, table := range []map[string]json.RawMessage{a.Daily, a.Hourly} {
		for name, column := range table {
			if name != "time" && bytes.ContainsAny(column, "0123456789") {
				return true
			}
		}
	}
	return false
}

// answers returns the responses for the places, in order: from an array, or from an object if one
// place was requested.
func answers(path string, body []byte, n int) (list []json.RawMessage, err error) {
	if body = bytes.TrimSpace(body); n == 1 && len(body) > 0 && body[0] == '{' {
		return []json.RawMessage{body}, nil
	}
	if json.Unmarshal(body, &list) != nil {
		if reason, refused := refusal(body); refused {
			return nil, &pages.ShapeError{Path: path, Why: "an error with a success status: " + reason}
		}
		return nil, &pages.ShapeError{Path: path, Why: "the response is not an array"}
	}
	if len(list) != n {
		return nil, &pages.ShapeError{Path: path, Why: fmt.Sprintf("%d responses for %d places", len(list), n)}
	}
	return list, nil
}

// refusal returns the reason of a response that is an error.
func refusal(raw []byte) (reason string, refused bool) {
	var e struct {
		Error  bool   `json:"error"`
		Reason string `json:"reason"`
	}
	return e.Reason, json.Unmarshal(raw, &e) == nil && e.Error
}

// farthest is the maximum distance in kilometres of the middle of a grid cell from the requested
// place. The coarsest cells have half a degree. A cell farther away belongs to another place.
const farthest = 80

// belongs checks that a response is for a city.
func belongs(path string, raw json.RawMessage, city data.City) error {
	var a struct {
		Lat *float64 `json:"latitude"`
		Lon *float64 `json:"longitude"`
	}
	if json.Unmarshal(raw, &a) != nil || a.Lat == nil || a.Lon == nil {
		return &pages.ShapeError{Path: path, Why: "the response for " + city.Slug + " does not have its coordinates"}
	}
	if km := city.Distance(*a.Lat, *a.Lon); !(km <= farthest) {
		return &pages.ForeignError{Path: path, What: fmt.Sprintf("the place %g, %g", *a.Lat, *a.Lon), Asked: fmt.Sprintf("it is %.0f km from %s", km, city.Slug)}
	}
	return nil
}

// Run is the newest run of a model at Open-Meteo.
type Run struct{ Begun, Available time.Time }

// LastRun returns the newest run of a model, given by the name of its folder, which mostly differs
// from its name in requests of forecasts. It costs the service next to nothing.
func (c *Client) LastRun(ctx context.Context, model string) (Run, error) {
	host := c.hosts[Forecast]
	if host == nil {
		return Run{}, fmt.Errorf("%s: %w", Forecast, ErrNoHost)
	}
	path := "/data/" + model + "/static/meta.json"
	a, err := host.Do(ctx, fetch.Request{Path: path})
	if err != nil {
		return Run{}, err
	}
	var m struct {
		Begun     int64 `json:"last_run_initialisation_time"`
		Available int64 `json:"last_run_availability_time"`
	}
	if json.Unmarshal(a.Body, &m) != nil || m.Begun <= 0 || m.Available < m.Begun {
		return Run{}, &pages.ShapeError{Path: path, Why: "it does not say when the last run began and became available"}
	}
	return Run{time.Unix(m.Begun, 0).UTC(), time.Unix(m.Available, 0).UTC()}, nil
}
