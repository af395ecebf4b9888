package follow

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"pmx/data/upstream/fetch"
	"pmx/data/upstream/openmeteo"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// WeatherStatus is the status of a source of the weather.
type WeatherStatus struct {
	Source     string    `json:"source"`
	Phase      Phase     `json:"state"`
	LastAnswer time.Time `json:"last_answer,omitzero"` // last committed response, perhaps before the start; zero: none
	LastNew    time.Time `json:"last_new,omitzero"`    // when a response last had something new
	LagSeconds float64   `json:"lag_seconds"`          // since the last response, or the start

	Since     time.Time        `json:"since,omitzero"` // start of the figures below
	Asked     int64            `json:"asked"`
	Answers   int64            `json:"answers"`   // committed responses
	Unchanged int64            `json:"unchanged"` // of these, without values
	Rows      int64            `json:"rows"`      // values that are new, corrections included
	Rejected  map[string]int64 `json:"rejected"`  // rejected rows, by reason
	Errors    int64            `json:"errors"`
	Error     string           `json:"error,omitempty"` // the last one, until a response is committed

	// Unknown counts unexpected conditions, by kind.
	Unknown map[string]int64 `json:"unknown,omitempty"`
	Silent  []string         `json:"silent_stations,omitempty"` // without a report in the requested period
	Failing []string         `json:"failing,omitempty"`         // the parts of the source whose last request failed
	Sparse  bool             `json:"sparse,omitempty"`          // the last response had less than a fifth of the usual number of rows

	WeightLeft *float64 `json:"weight_left,omitempty"` // of the source's budget for the day

	every time.Duration
	usual float64 // rows per hour
}

// Status returns the status of all sources, by name.
func (w *Weather) Status() []WeatherStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now()
	out := make([]WeatherStatus, 0, len(w.states))
	for _, name := range slices.Sorted(maps.Keys(w.states)) {
		s := *w.states[name]
		last := s.LastAnswer
		if last.IsZero() {
			last = s.Since
		}
		s.LagSeconds = now.Sub(last).Seconds()
		if since := min(now.Sub(last), now.Sub(s.Since)); since > 3*s.every { // while pmx was not running, the source was not down
			s.Phase = Stalled
		}
		s.Rejected, s.Unknown = maps.Clone(s.Rejected), maps.Clone(s.Unknown)
		s.Silent, s.Failing = slices.Clone(s.Silent), slices.Clone(s.Failing)
		out = append(out, s)
	}
	return out
}

// StoredWeather returns the stored status of the weather sources of a venue that is not being
// followed: the time of their last committed response.
func StoredWeather(ctx context.Context, v Venue, now time.Time) (out []WeatherStatus, err error) {
	last, changed := map[string]int64{}, map[string]time.Time{}
	err = v.Read(ctx, func(conn *sql.Conn) (err error) {
		if changed, err = weatherChanged(ctx, conn); err != nil {
			return err
		}
		for _, g := range []struct{ name, shown, prefix string }{{openMeteoGroup, "", "openmeteo "}, {metarGroup, "metar", ""}, {nwsGroup, "nws", ""}} {
			text, err := ledger.Cursor(ctx, conn, g.name)
			if err != nil {
				return err
			}
			m, err := readWeatherMemory(text)
			if err != nil {
				return fmt.Errorf("%s: %w", g.name, err)
			}
			for name, at := range m.Done {
				if g.shown != "" {
					name = g.shown
				}
				last[g.prefix+name] = max(last[g.prefix+name], at)
			}
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(last)) {
		at := time.Unix(last[name], 0).UTC()
		out = append(out, WeatherStatus{Source: name, Phase: Stopped, LastAnswer: at, LastNew: changed[name], LagSeconds: now.Sub(at).Seconds()})
	}
	return out, err
}

// weatherChanged returns when each source last gave something new, by the import log.
func weatherChanged(ctx context.Context, conn *sql.Conn) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	err := eachRow(ctx, conn, func(rows *sql.Rows) error {
		var name string
		var us int64
		err := rows.Scan(&name, &us)
		out[name] = time.UnixMicro(us).UTC()
		return err
	}, tellStatements.Get("WeatherChanged"))
	return out, err
}

// set changes the status of a source.
func (w *Weather) set(s *weatherSource, f func(*WeatherStatus)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f(w.states[s.shown])
}

// unknown counts an unexpected condition.
func (w *Weather) unknown(s *weatherSource, what string) {
	w.set(s, func(st *WeatherStatus) { st.Unknown[what]++ })
}

// failed records that a request to a source failed.
func (w *Weather) failed(s *weatherSource, err error) {
	w.set(s, func(st *WeatherStatus) {
		st.Phase, st.Error = BackOff, err.Error()
		st.Errors++
		if !slices.Contains(st.Failing, s.name) {
			st.Failing = append(st.Failing, s.name)
		}
	})
	w.o.Log.Warn().Err(err).Str("source", s.shown).Int("tries", s.tries).Time("next", s.later).Msg("a request to a weather source failed")
}

// Sparse responses are recognised by the usual rows per hour, if these are at least leastUsual.
// usualShare is the weight of a new response in the usual number.
const (
	leastUsual = 5
	usualShare = 0.05
)

// done records a committed response.
func (w *Weather) done(s *weatherSource, began time.Time, a weatherAnswer, r ingest.Receipt, again bool) {
	rows := r.Forecasts + r.Actuals + r.Observations
	sparse := false
	w.set(s, func(st *WeatherStatus) {
		st.Answers++
		st.LastAnswer = began.UTC()
		st.Failing = slices.DeleteFunc(st.Failing, func(name string) bool { return name == s.name })
		if st.Phase = Idle; len(st.Failing) > 0 {
			st.Phase = BackOff
		} else {
			st.Error = ""
		}
		if a.body == nil {
			st.Unchanged++
			return
		}
		st.Rows += rows
		if rows > 0 {
			st.LastNew = began.UTC()
		}
		for reason, n := range r.Rejected {
			st.Rejected[reason] += n
		}
		was := st.Sparse
		st.Sparse = st.usual >= leastUsual && a.rate < st.usual/5
		sparse = st.Sparse && !was
		if st.usual == 0 {
			st.usual = a.rate
		}
		share := usualShare
		if st.Sparse {
			share /= 25 // a number that stays low for days becomes usual
		}
		st.usual += (a.rate - st.usual) * share
	})
	switch {
	case sparse:
		w.o.Log.Warn().Str("source", s.shown).Float64("rows_per_hour", a.rate).Msg("a weather source returns less than a fifth of its usual rows")
	case again:
		w.o.Log.Info().Str("source", s.shown).Msg("requests to a weather source succeed again")
	}
}

// weigh sets what is left of the day's budget in the status.
func (w *Weather) weigh(g *weatherGroup) {
	if g.budget == nil {
		return
	}
	left := g.budget.Left(w.o.Now())
	for _, s := range g.sources {
		w.set(s, func(st *WeatherStatus) { st.WeightLeft = &left })
	}
}

// retryAt returns when a source is requested again after a failure.
func (w *Weather) retryAt(s *weatherSource, err error) time.Time {
	now := w.o.Now()
	var closed *fetch.ClosedError
	var spent *openmeteo.SpentError
	switch {
	case errors.As(err, &spent):
		return spent.Until
	case errors.As(err, &closed) && closed.Until.After(now):
		return closed.Until
	}
	return now.Add(backOff(s.tries, min(s.every, time.Hour)))
}

func readWeatherMemory(text string) (m weatherMemory, err error) {
	if text != "" {
		if err = json.Unmarshal([]byte(text), &m); err != nil {
			err = fmt.Errorf("the stored state cannot be read: %w", err)
		}
	}
	if m.Done == nil {
		m.Done = map[string]int64{}
	}
	return m, err
}

// save returns a function that stores the memory in the ledger within a transaction.
func (m weatherMemory) save(name string) func(ctx context.Context, conn *sql.Conn) error {
	return func(ctx context.Context, conn *sql.Conn) error {
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		return ledger.SetCursor(ctx, conn, name, string(text))
	}
}
