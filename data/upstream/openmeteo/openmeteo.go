// Package openmeteo asks Open-Meteo for the weather of many cities in one request, and gives
// each city's answer with a note of what was asked, as the feed openmeteo imports it.
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

// Service is one of Open-Meteo's services. They answer in one shape, on hosts of their own.
type Service string

// The services, by the names that the feed knows them by.
const (
	Forecast     Service = "forecast"
	Ensemble     Service = "ensemble"
	Archive      Service = "archive"
	PreviousRuns Service = "previous-runs"
)

// Client asks Open-Meteo. It is for any number of goroutines.
type Client struct {
	hosts map[Service]pages.Asker
	now   func() time.Time
}

// New returns a Client that asks the host of each service; a service without one is not asked. now
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
	Models   []string // none: what the service takes itself
	Days     int      // of a forecast or an ensemble, from today on
	From, To data.Date
	Previous int // by how many days before they came true hours of PreviousRuns were predicted, at most
}

// metrics are what is asked for of days.
var metrics = []string{"temperature_2m_max", "temperature_2m_min"}

// pastDays are the days before today that previous runs are asked of: with two, the newest
// whole day of every zone is among them.
const pastDays = 2

// variables are the daily and hourly variables of the query, and of how many days.
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

// Weight is what the query counts for in a day's budget: more than ten variables, each once
// for every model, or more than two weeks count for more, and no place for less than one.
func (q *Query) Weight() float64 {
	daily, hourly, days := q.variables()
	tens := float64((len(daily)+len(hourly))*max(len(q.Models), 1)) / 10
	return max(tens, tens*float64(days)/14, 1) * float64(len(q.Cities))
}

// values is the query as the service takes it.
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

// paths are where the services answer.
var paths = map[Service]string{Forecast: "/v1/forecast", Ensemble: "/v1/ensemble", Archive: "/v1/archive", PreviousRuns: "/v1/forecast"}

// RefusedError is what Open-Meteo says of a query that it does not answer.
type RefusedError struct {
	Service Service
	Reason  string
}

// Error returns the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("open-meteo's %s refused the request: %s", e.Service, e.Reason)
}

// EmptyError is returned with an answer without a single value for half of the places
// or more: models that are global have values everywhere, so that something may be broken.
type EmptyError struct {
	Service Service
	Cities  []string // their slugs
}

// Error says how many places have none.
func (e *EmptyError) Error() string {
	return fmt.Sprintf("open-meteo's %s has no value for %d places, such as %s", e.Service, len(e.Cities), e.Cities[0])
}

// ErrNoHost is returned for a service without a host.
var ErrNoHost = errors.New("no host of this service is known")

// note is the metadata of an answer.
type note struct {
	Source    string `json:"source"`
	Kind      string `json:"kind"`
	City      string `json:"city"`
	Latitude  string `json:"latitude"`
	Longitude string `json:"longitude"`
	Models    string `json:"models,omitempty"`
	FetchedAt string `json:"fetched_at_utc"`
}

// Ask returns the answers to a query as NDJSON for the feed openmeteo, a line for each city in
// order: {"_meta": what was asked and when, "response": the answer}. The errors are those of the
// host, a *RefusedError, or a *pages.ShapeError or *pages.ForeignError for an answer that is none
// to the query; of such a one nothing is kept. An *EmptyError comes with the answers.
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

// hasValue reports whether an answer has any value but its times.
func hasValue(raw json.RawMessage) bool {
	var a struct{ Daily, Hourly map[string]json.RawMessage }
	if json.Unmarshal(raw, &a) != nil {
		return true // the import says what is wrong with it
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

// answers are those of the places, in order: an array, or one object where one was asked for.
func answers(path string, body []byte, n int) (list []json.RawMessage, err error) {
	if body = bytes.TrimSpace(body); n == 1 && len(body) > 0 && body[0] == '{' {
		return []json.RawMessage{body}, nil
	}
	if json.Unmarshal(body, &list) != nil {
		if reason, refused := refusal(body); refused {
			return nil, &pages.ShapeError{Path: path, Why: "an error without an error's status: " + reason}
		}
		return nil, &pages.ShapeError{Path: path, Why: "the answer is not an array"}
	}
	if len(list) != n {
		return nil, &pages.ShapeError{Path: path, Why: fmt.Sprintf("%d answers for %d places", len(list), n)}
	}
	return list, nil
}

// refusal is the reason of an answer that is an error.
func refusal(raw []byte) (reason string, refused bool) {
	var e struct {
		Error  bool   `json:"error"`
		Reason string `json:"reason"`
	}
	return e.Reason, json.Unmarshal(raw, &e) == nil && e.Error
}

// farthest is how many kilometres the middle of a grid's cell may be from the place that was
// asked for: cells of half a degree are the coarsest. What is farther is of another place.
const farthest = 80

// belongs checks that an answer is of a city.
func belongs(path string, raw json.RawMessage, city data.City) error {
	var a struct {
		Lat *float64 `json:"latitude"`
		Lon *float64 `json:"longitude"`
	}
	if json.Unmarshal(raw, &a) != nil || a.Lat == nil || a.Lon == nil {
		return &pages.ShapeError{Path: path, Why: "the answer of " + city.Slug + " does not say of which place it is"}
	}
	if km := city.Distance(*a.Lat, *a.Lon); !(km <= farthest) {
		return &pages.ForeignError{Path: path, What: fmt.Sprintf("the place %g, %g", *a.Lat, *a.Lon), Asked: fmt.Sprintf("it is %.0f km from %s", km, city.Slug)}
	}
	return nil
}

// Run is the newest run of a model that Open-Meteo has.
type Run struct{ Begun, Available time.Time }

// LastRun returns the newest run of a model, by the name of its folder, which few of the names that
// forecasts are asked by are. It costs the service next to nothing.
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
		return Run{}, &pages.ShapeError{Path: path, Why: "it does not say when the last run began and was there"}
	}
	return Run{time.Unix(m.Begun, 0).UTC(), time.Unix(m.Available, 0).UTC()}, nil
}
