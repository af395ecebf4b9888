package follow

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/openmeteo"
)

// The times at which sources are requested, and the numbers of days.
const (
	forecastEvery, forecastAt = time.Hour, 7 * time.Minute
	ensembleEvery, ensembleAt = 6 * time.Hour, 52 * time.Minute
	archiveAt                 = 8*time.Hour + 30*time.Minute // the previous day is over in all time zones
	previousAt                = 9*time.Hour + 10*time.Minute
	reportsEvery              = 5 * time.Minute
	observationsEvery         = 15 * time.Minute

	forecastDays = 7
	archiveDays  = 8 // the archive changes days for a week: they are read again until they are a week old
	archiveMost  = 92
	previousDays = 5

	// settled is the time after a run's publication until all of the service's machines have it.
	settled = 10 * time.Minute
	// longestUnwatched is the time after which forecasts are requested even without a new run: the
	// folders may have moved.
	longestUnwatched = 12 * time.Hour
	watchWeight      = 1 // weight of a request for a run
)

// The groups of sources, with their names in the ledger.
const (
	openMeteoGroup = "weather/openmeteo"
	metarGroup     = "weather/metar"
	nwsGroup       = "weather/nws"
)

// openMeteo returns the sources of Open-Meteo's services, which share a budget.
func (w *Weather) openMeteo() *weatherGroup {
	g := &weatherGroup{lane: w, name: openMeteoGroup, budget: &openmeteo.Budget{Most: w.o.DayWeight}}
	cities := w.o.Cities.Cities()
	add := func(name string, every, offset time.Duration, query func(now time.Time) openmeteo.Query) {
		s := &weatherSource{name: name, shown: "openmeteo " + name, every: every, offset: offset}
		s.weight = func(now time.Time) float64 {
			q := query(now)
			return q.Weight()
		}
		s.ask = func(ctx context.Context, now time.Time) (weatherAnswer, error) {
			body, err := w.o.OpenMeteo.Ask(ctx, query(now))
			err = w.believe(s, err)
			return weatherAnswer{feed: "openmeteo", format: data.NDJSON, body: body}, err
		}
		g.sources = append(g.sources, s)
	}
	add("forecast", forecastEvery, forecastAt, func(time.Time) openmeteo.Query {
		return openmeteo.Query{Service: openmeteo.Forecast, Cities: cities, Models: w.o.Models, Days: forecastDays}
	})
	g.watched(g.sources[0])
	add("ensemble", ensembleEvery, ensembleAt, func(time.Time) openmeteo.Query {
		return openmeteo.Query{Service: openmeteo.Ensemble, Cities: cities, Models: w.o.Ensembles, Days: forecastDays}
	})
	add("archive", 24*time.Hour, archiveAt, func(now time.Time) openmeteo.Query {
		last := lastWholeDay(cities, now)
		from := last - archiveDays + 1
		if done := g.memory.Done["archive"]; done > 0 { // days that were provisional when they were last read
			from = min(from, max(data.DateOf(time.Unix(done, 0).UTC())-archiveDays, last-archiveMost+1))
		}
		return openmeteo.Query{Service: openmeteo.Archive, Cities: cities, From: from, To: last}
	})
	add("previous runs", 24*time.Hour, previousAt, func(time.Time) openmeteo.Query {
		return openmeteo.Query{Service: openmeteo.PreviousRuns, Cities: cities, Models: w.o.Previous, Previous: previousDays}
	})
	return g
}

// emptyTimes is how many responses without values in a row it takes to believe that there are none.
const emptyTimes = 3

// believe returns the error of a response, except if there were so many responses without values
// that there are none: the response is then accepted and counted.
func (w *Weather) believe(s *weatherSource, err error) error {
	var empty *openmeteo.EmptyError
	if !errors.As(err, &empty) {
		if err == nil {
			s.empty = 0
		}
		return err
	}
	if s.empty++; s.empty < emptyTimes {
		return err
	}
	s.empty = 0
	w.unknown(s, "no_values")
	return nil
}

// lastWholeDay returns the newest day that is over in all cities.
func lastWholeDay(cities []data.City, now time.Time) data.Date {
	last := cities[0].DateOf(now)
	for _, c := range cities {
		last = min(last, c.DateOf(now))
	}
	return last - 1
}

// watched makes a source be requested only after a new run of a model.
func (g *weatherGroup) watched(s *weatherSource) {
	weight, ask := s.weight, s.ask
	s.weight = nil // its weight is taken once there is a run
	s.ask = func(ctx context.Context, now time.Time) (weatherAnswer, error) {
		runs, fresh, err := g.newRuns(ctx, s, now)
		if err != nil || !fresh {
			return weatherAnswer{}, err
		}
		if err := g.take(ctx, weight(now), g.keepFor(s, now), now); err != nil {
			return weatherAnswer{}, err
		}
		a, err := ask(ctx, now)
		a.note = func(m *weatherMemory) { m.Runs, m.Asked = runs, now.Unix() }
		return a, err
	}
}

// newRuns requests the newest runs of the watched models, and reports whether there is one after
// which no forecast was requested, or whether the last request was too long ago.
func (g *weatherGroup) newRuns(ctx context.Context, s *weatherSource, now time.Time) (runs map[string]int64, fresh bool, err error) {
	runs = map[string]int64{}
	if err := g.take(ctx, watchWeight*float64(len(g.lane.o.Watched)), g.keepFor(s, now), now); err != nil {
		return nil, false, err
	}
	for _, model := range g.lane.o.Watched {
		known := g.memory.Runs[model]
		runs[model] = known
		run, err := g.lane.o.OpenMeteo.LastRun(ctx, model)
		if err != nil {
			var status *fetch.StatusError
			if !errors.As(err, &status) || status.Code != http.StatusNotFound {
				return nil, false, err
			}
			g.lane.unknown(s, "no_model "+model)
			continue
		}
		if begun := run.Begun.Unix(); begun > known && now.Sub(run.Available) >= settled {
			runs[model], fresh = begun, true
		}
	}
	if !fresh && now.Unix()-g.memory.Asked >= int64(longestUnwatched/time.Second) {
		if g.memory.Asked > 0 {
			g.lane.unknown(s, "no_new_run")
		}
		fresh = true
	}
	return runs, fresh, nil
}

// reports returns the source of the reports of all stations, in one request.
func (w *Weather) reports() *weatherGroup {
	g := &weatherGroup{lane: w, name: metarGroup}
	stations := w.stations("")
	s := &weatherSource{name: "metar", shown: "metar", every: reportsEvery}
	s.ask = func(ctx context.Context, now time.Time) (weatherAnswer, error) {
		hours := reportHours(g.memory.Done[s.name], now)
		got, err := w.o.METAR.Reports(ctx, stations, hours)
		if err != nil {
			return weatherAnswer{}, err
		}
		for range got.Cut {
			w.unknown(s, "cut_answer")
		}
		if got.Fresh {
			silent := slices.DeleteFunc(slices.Clone(stations), func(id string) bool { return got.Rows[id] > 0 })
			w.set(s, func(st *WeatherStatus) { st.Silent = silent })
		}
		rate := 0.0
		for _, n := range got.Rows {
			rate += float64(n) / float64(min(hours, metar.MostHours))
		}
		return weatherAnswer{feed: "metar", format: data.JSON, body: got.Body, rate: rate, kept: func() { w.o.METAR.Keep(got) }}, nil
	}
	g.sources = []*weatherSource{s}
	return g
}

// overlap is the period that is requested again, because reports come late and are corrected.
const overlap = 3 * time.Hour

// reportHours returns for how many hours to request reports that were last requested at done.
func reportHours(done int64, now time.Time) int {
	gap := now.Sub(time.Unix(done, 0))
	if gap < time.Hour { // the request stays the same
		gap = 0
	}
	return int((overlap + gap + time.Hour - 1) / time.Hour)
}

// observationsBack is how far back observations are requested: the service has a week.
const observationsBack = 6 * 24 * time.Hour

// observations returns the source of the observations of stations in the United States, one after
// the other.
func (w *Weather) observations() *weatherGroup {
	g := &weatherGroup{lane: w, name: nwsGroup}
	stations := w.stations("US")
	for i, id := range stations {
		s := &weatherSource{name: id, shown: "nws", every: observationsEvery, offset: time.Duration(i) * observationsEvery / time.Duration(len(stations))}
		s.ask = func(ctx context.Context, now time.Time) (weatherAnswer, error) {
			since := later(time.Unix(g.memory.Done[s.name], 0).Add(-overlap), now.Add(-observationsBack))
			got, err := w.o.NWS.Observations(ctx, id, since.Truncate(time.Hour)) // the request stays the same for an hour
			if err != nil {
				return weatherAnswer{}, fmt.Errorf("station %s: %w", id, err)
			}
			return weatherAnswer{feed: "nws-observations", format: data.JSON, body: got.Body, kept: func() { w.o.NWS.Keep(got) }}, nil
		}
		g.sources = append(g.sources, s)
	}
	return g
}
