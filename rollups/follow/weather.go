package follow

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/openmeteo"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// WeatherOptions configure the weather lane. A client that is nil is not used.
type WeatherOptions struct {
	Venue     Venue
	Cities    *data.Gazetteer
	OpenMeteo *openmeteo.Client
	METAR     *metar.Client
	NWS       *nws.Client

	Models    []string // models of forecasts
	Watched   []string // folders of models: forecasts are requested after a new run of one of them
	Ensembles []string
	Previous  []string // models of previous runs
	DayWeight float64  // maximum weight of requests to Open-Meteo per day; 0: 1,500

	Log   zerolog.Logger
	Watch *guard.Watch
	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: the clock's
}

// Defaults of the options. Five models are ten variables, which count as one; the folders are those
// of the models with these names.
var (
	usualModels    = []string{"best_match", "ecmwf_ifs025", "gfs_seamless", "icon_seamless", "gem_seamless"}
	usualWatched   = []string{"ecmwf_ifs025", "ncep_gfs013", "dwd_icon", "cmc_gem_gdps"}
	usualEnsembles = []string{"ecmwf_ifs025_ensemble", "icon_seamless_eps"}
	usualPrevious  = []string{"ecmwf_ifs025", "gfs_seamless"}
)

const usualDayWeight = 1_500

// Weather is the lane of the weather. It requests every source at its times, and commits what is
// new together with the time of the request.
type Weather struct {
	o      WeatherOptions
	groups []*weatherGroup

	mu     sync.Mutex // of all below
	states map[string]*WeatherStatus
}

// weatherGroup has the sources of one host. They are requested one after the other, and have a
// common memory.
type weatherGroup struct {
	lane    *Weather
	name    string // in the ledger
	sources []*weatherSource
	memory  weatherMemory
	budget  *openmeteo.Budget // nil: none
}

// weatherSource is a kind of request that is sent at certain times.
type weatherSource struct {
	name   string // name in the memory of its group
	shown  string // of its state
	every  time.Duration
	offset time.Duration // offset of its times from multiples of every
	weight func(now time.Time) float64
	ask    func(ctx context.Context, now time.Time) (weatherAnswer, error)

	tries int       // failures in a row
	empty int       // responses without values in a row
	later time.Time // when it is requested again after a failure
}

// weatherAnswer is a response of a source.
type weatherAnswer struct {
	feed   string
	format data.Format
	body   []byte                 // nil: there is nothing new
	rate   float64                // rows per hour; 0: not counted
	note   func(m *weatherMemory) // changes the memory stored with the response; may be nil
	kept   func()                 // called after the response is committed; may be nil
}

// weatherMemory is what a group stores in the ledger.
type weatherMemory struct {
	Done  map[string]int64 `json:"done"`           // time of the last committed request by source, unix seconds
	Runs  map[string]int64 `json:"runs,omitempty"` // start of the newest run after which forecasts were requested, unix seconds, by folder
	Asked int64            `json:"asked,omitempty"`
	Spent openmeteo.Spent  `json:"spent,omitzero"`
}

// NewWeather returns the lane; Run follows.
func NewWeather(o WeatherOptions) (*Weather, error) {
	if o.Venue == nil || o.Cities == nil || len(o.Cities.Cities()) == 0 {
		return nil, errors.New("the weather cannot be followed without cities and a venue")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	if o.Watch == nil {
		o.Watch = guard.New(o.Log)
	}
	o.DayWeight = cmp.Or(o.DayWeight, usualDayWeight)
	for _, list := range []struct {
		own   *[]string
		usual []string
	}{{&o.Models, usualModels}, {&o.Watched, usualWatched}, {&o.Ensembles, usualEnsembles}, {&o.Previous, usualPrevious}} {
		if *list.own == nil {
			*list.own = list.usual
		}
	}
	w := &Weather{o: o, states: map[string]*WeatherStatus{}}
	if o.OpenMeteo != nil {
		w.groups = append(w.groups, w.openMeteo())
	}
	if o.METAR != nil {
		w.groups = append(w.groups, w.reports())
	}
	if o.NWS != nil {
		w.groups = append(w.groups, w.observations())
	}
	if len(w.groups) == 0 {
		return nil, errors.New("the weather cannot be followed without a source")
	}
	since := o.Now().UTC()
	for _, g := range w.groups {
		for _, s := range g.sources {
			if w.states[s.shown] == nil {
				w.states[s.shown] = &WeatherStatus{Source: s.shown, Phase: Idle, Since: since, every: s.every, Rejected: map[string]int64{}, Unknown: map[string]int64{}}
			}
		}
	}
	return w, nil
}

// Run follows until ctx ends.
func (w *Weather) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	for _, g := range w.groups {
		name := "follow " + g.name
		w.o.Watch.Begin(&running, name, func() {
			_ = w.o.Watch.Supervise(ctx, name, g.run)
		})
	}
	<-ctx.Done()
	return ctx.Err()
}

// Once requests every source that is due once. It returns the errors of all sources; a failure does
// not affect others.
func (w *Weather) Once(ctx context.Context) error {
	var failed []error
	for _, g := range w.groups {
		if err := g.load(ctx); err != nil {
			failed = append(failed, err)
			continue
		}
		g.notAhead(w.o.Now())
		for _, s := range g.sources {
			if now := w.o.Now(); !s.due(g.memory.Done[s.name], now).After(now) {
				failed = append(failed, g.step(ctx, s))
			}
		}
	}
	return errors.Join(failed...)
}

// run requests the sources of a group at their times.
func (g *weatherGroup) run(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := g.load(ctx)
		if err == nil {
			break
		}
		g.lane.o.Log.Warn().Err(err).Str("source", g.name).Msg("the stored state of a source cannot be read")
		if err := g.lane.o.Sleep(ctx, backOff(tries, time.Minute)); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		now := g.lane.o.Now()
		g.notAhead(now)
		next := slices.MinFunc(g.sources, func(a, b *weatherSource) int {
			return a.due(g.memory.Done[a.name], now).Compare(b.due(g.memory.Done[b.name], now))
		})
		if wait := next.due(g.memory.Done[next.name], now).Sub(now); wait > 0 {
			// The clock may be changed meanwhile.
			if err := g.lane.o.Sleep(ctx, min(wait, time.Minute)); err != nil {
				return err
			}
			continue
		}
		_ = g.step(ctx, next) // the error is in its status
	}
	return ctx.Err()
}

// due returns when a source is due that was last requested at a time, unix seconds: the first of
// its times after that. A time in the future is from before the clock went back.
func (s *weatherSource) due(done int64, now time.Time) time.Time {
	last := min(done, now.Unix())
	every, offset := int64(s.every/time.Second), int64(s.offset/time.Second)
	at := time.Time{}
	if done > 0 {
		at = time.Unix((floor(last-offset, every)+1)*every+offset, 0)
	}
	if s.later.After(at) {
		at = s.later
	}
	return at
}

// notAhead sets stored times in the future, from a clock that was ahead, back to now, so that no
// source waits for the clock to get there again. Nothing is postponed by more than a day.
func (g *weatherGroup) notAhead(now time.Time) {
	for name, at := range g.memory.Done {
		g.memory.Done[name] = min(at, now.Unix())
	}
	g.memory.Asked = min(g.memory.Asked, now.Unix())
	for _, s := range g.sources {
		if s.later.After(now.Add(24 * time.Hour)) {
			s.later = now
		}
	}
}

func floor(a, b int64) int64 {
	if a < 0 {
		return (a - b + 1) / b
	}
	return a / b
}

// backOff returns how long to wait after so many failures in a row.
func backOff(tries int, most time.Duration) time.Duration {
	return min(30*time.Second<<min(tries, 10), most)
}

// load reads the group's memory.
func (g *weatherGroup) load(ctx context.Context) error {
	var text string
	var changed map[string]time.Time
	err := g.lane.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		if changed, err = weatherChanged(ctx, conn); err == nil {
			text, err = ledger.Cursor(ctx, conn, g.name)
		}
		return err
	})
	if err != nil {
		return err
	}
	if g.memory, err = readWeatherMemory(text); err != nil {
		return fmt.Errorf("%s: %w", g.name, err)
	}
	if g.budget != nil {
		g.budget.Restore(g.memory.Spent)
	}
	for _, s := range g.sources { // requests before the start count, too
		if at := g.memory.Done[s.name]; at > 0 {
			g.lane.set(s, func(st *WeatherStatus) {
				if last := time.Unix(at, 0).UTC(); last.After(st.LastAnswer) {
					st.LastAnswer = last
				}
				st.LastNew = changed[s.shown]
			})
		}
	}
	return nil
}

// step requests a source and commits the response.
func (g *weatherGroup) step(ctx context.Context, s *weatherSource) error {
	w, began := g.lane, g.lane.o.Now()
	defer w.weigh(g)
	w.set(s, func(st *WeatherStatus) { st.Phase = Fetch; st.Asked++ })
	err := g.spend(ctx, s, began)
	var a weatherAnswer
	if err == nil {
		a, err = s.ask(ctx, began)
	}
	var r ingest.Receipt
	if err == nil {
		w.set(s, func(st *WeatherStatus) { st.Phase = Committing })
		r, err = g.commit(ctx, s, began, a)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.later = w.retryAt(s, err)
		s.tries++
		w.failed(s, err)
		return fmt.Errorf("%s: %w", s.shown, err)
	}
	if a.kept != nil {
		a.kept()
	}
	again := s.tries > 0
	s.tries, s.later = 0, time.Time{}
	w.done(s, began, a, r, again)
	return nil
}

// commit imports a response, and stores the time of the request.
func (g *weatherGroup) commit(ctx context.Context, s *weatherSource, began time.Time, a weatherAnswer) (ingest.Receipt, error) {
	next := g.memory
	next.Done = maps.Clone(g.memory.Done)
	next.Done[s.name] = began.Unix()
	if a.note != nil {
		a.note(&next)
	}
	rows := ingest.Rows{Name: s.shown, Within: next.save(g.name)}
	if a.body != nil {
		feed, err := feeds.ByName(a.feed)
		if err != nil {
			return ingest.Receipt{}, err
		}
		src := data.Source{Name: s.shown, Format: a.format, Size: int64(len(a.body)), Cities: g.lane.o.Cities}
		rows.Feed = feed
		rows.Read = func(ctx context.Context, sink data.Sink) error {
			return feed.Read(ctx, src, bytes.NewReader(a.body), sink)
		}
	}
	r, err := g.lane.o.Venue.Commit(ctx, rows, ingest.Remaining{})
	if err == nil {
		g.memory = next
	}
	return r, err
}

// spend takes the weight of a request from the budget, and stores it before the request is sent: it
// counts whatever the response.
func (g *weatherGroup) spend(ctx context.Context, s *weatherSource, now time.Time) error {
	if g.budget == nil || s.weight == nil {
		return nil
	}
	return g.take(ctx, s.weight(now), g.keepFor(s, now), now)
}

// take takes weight from the day's budget and stores that, unless less than keep would be left.
func (g *weatherGroup) take(ctx context.Context, weight, keep float64, now time.Time) error {
	before := g.budget.Spent()
	if err := g.budget.Take(now, weight, keep); err != nil {
		return err
	}
	g.memory.Spent = g.budget.Spent()
	if _, err := g.lane.o.Venue.Commit(ctx, ingest.Rows{Name: g.name, Within: g.memory.save(g.name)}, ingest.Remaining{}); err != nil {
		g.budget.Restore(before)
		g.memory.Spent = before
		return err
	}
	return nil
}

// keepFor returns the weight that a source leaves for sources that are requested less often and are
// still due on the day of now.
func (g *weatherGroup) keepFor(s *weatherSource, now time.Time) (keep float64) {
	end := time.Unix((now.Unix()/86_400+1)*86_400, 0)
	for _, o := range g.sources {
		if o == s || o.weight == nil || o.every <= s.every {
			continue
		}
		if at := o.due(g.memory.Done[o.name], now); at.Before(end) {
			times := 1 + int64(end.Add(-time.Second).Sub(later(at, now))/o.every)
			keep += float64(times) * o.weight(now)
		}
	}
	return keep
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// icao matches stations that report like airports.
var icao = regexp.MustCompile(`^[A-Z]{4}$`)

// stations returns the stations of the cities that report like airports, of one country, or of all
// if it is "".
func (w *Weather) stations(country string) (out []string) {
	for _, c := range w.o.Cities.Cities() {
		if icao.MatchString(c.Station) && (country == "" || c.Country == country) && !slices.Contains(out, c.Station) {
			out = append(out, c.Station)
		}
	}
	return out
}
