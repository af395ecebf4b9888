// Package replay is a server that speaks the sources a venue is followed from, backed by
// a sample venue: a chain's nodes, the venue's services and the weather's. Its clock goes as
// fast as wanted, and it makes the mistakes such sources make.
package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"pmx/data/sample"
)

// Options say what is played, and how.
type Options struct {
	// Venue is the venue that is played. Without it one is made of Config, on a chain.
	Venue  *sample.Venue
	Config sample.Config

	Start    time.Time        // what the clock shows at first; zero: a day before the end of the venue
	Speed    float64          // seconds of the clock in a second; 0: it stands still but for Advance
	Now      func() time.Time // nil: time.Now
	Finality int64            // blocks between the newest and the newest final one; 0: 16
	MaxRange int64            // most blocks of eth_getLogs; 0: 10,000
	MaxLogs  int              // most logs of eth_getLogs; 0: 20,000

	Tick time.Duration // between two looks of a websocket at the clock, of real time; 0: a quarter of a second

	Seed uint64 // of the faults
	// Faults are those of a source: "rpc", "gamma", "clob", "data", "openmeteo", "metar",
	// "nws", "ws". A node of its own, such as "rpc/2" of the path /rpc/2, has its own or
	// those of "rpc". Those of "" are of all sources that have none.
	Faults map[string]Faults
}

// Server plays a venue.
type Server struct {
	venue   *sample.Venue
	history *history
	kept    *packedLogs // nil: nothing is
	tape    *tape
	weather *sample.Weather
	clock   *Clock
	faults  *plans
	options Options
	mux     *http.ServeMux
	done    chan struct{} // is closed when the websockets are to end
	end     sync.Once
}

// ErrOptions is returned for options that no server can be made of.
var ErrOptions = errors.New("replay")

// New returns a server. It makes the venue, which takes some seconds if it is large.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Venue == nil {
		o.Config.Chain = true
		v, err := sample.New(ctx, o.Config)
		if err != nil {
			return nil, err
		}
		o.Venue = v
	}
	if !o.Venue.Config().Chain {
		return nil, fmt.Errorf("%w: the venue must be one that a chain can hold: set Chain", ErrOptions)
	}
	if o.Start.IsZero() {
		o.Start = o.Venue.Manifest.End.AddDate(0, 0, -1)
	}
	if o.Speed < 0 || o.Finality < 0 || o.MaxRange < 0 || o.MaxLogs < 0 {
		return nil, fmt.Errorf("%w: numbers must not be below 0", ErrOptions)
	}
	o.Finality, o.MaxRange, o.MaxLogs = or(o.Finality, 16), or(o.MaxRange, 10_000), or(o.MaxLogs, 20_000)
	if o.Tick <= 0 {
		o.Tick = usualTick
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h, err := newHistory(o.Venue)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	p, err := newPlans(o.Seed, o.Faults)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	weather, err := o.Venue.Weather()
	if err != nil {
		return nil, err
	}
	s := &Server{venue: o.Venue, history: h, tape: newTape(o.Venue), weather: weather, faults: p, options: o, mux: http.NewServeMux()}
	s.clock = newClock(o.Start, o.Speed, o.Now)
	s.done = make(chan struct{})
	s.route()
	return s, nil
}

func or[T int | int64](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

// Handler answers for all sources: nodes at /rpc and /rpc/NAME, the others below the names of the
// sources. GET /replay reports what goes on, and POST /replay changes the clock and the faults:
// ?speed=60, ?advance=1h, ?at=TIME, ?source=rpc/2&faults=lost-logs&rate=1, where faults without a
// value are none.
func (s *Server) Handler() http.Handler { return s.mux }

// Clock returns the clock that the sources go by.
func (s *Server) Clock() *Clock { return s.clock }

// Venue returns the venue that is played.
func (s *Server) Venue() *sample.Venue { return s.venue }

// Latest returns the newest block at this time, and the newest final one.
func (s *Server) Latest() (latest, finalized int64) {
	latest = sample.BlockAt(s.clock.Now())
	return latest, latest - s.options.Finality
}

func (s *Server) route() {
	s.mux.HandleFunc("GET /replay", s.tell)
	s.mux.HandleFunc("POST /replay", s.steer)
	s.mux.HandleFunc("POST /rpc", s.rpc)
	s.mux.HandleFunc("POST /rpc/{name}", s.rpc)
	s.mux.HandleFunc("GET /ws/market", func(w http.ResponseWriter, r *http.Request) { s.follow(w, r, &books{tokens: map[string]token{}}) })
	s.mux.HandleFunc("GET /rtds", func(w http.ResponseWriter, r *http.Request) { s.follow(w, r, &activity{}) })
	for _, e := range []struct {
		route, source string
		answer        source
	}{
		{"GET /gamma/markets/keyset", "gamma", s.gammaMarkets},
		{"GET /gamma/events/keyset", "gamma", s.gammaEvents},
		{"GET /clob/markets", "clob", s.clobMarkets},
		{"POST /clob/books", "clob", s.clobBooks},
		{"GET /data/v2/trades", "data", s.trades},
		{"GET /data/v2/resolutions", "data", s.resolutions},
		{"GET /data/v2/status", "data", s.status},
		{"GET /data/v2/live-volume", "data", s.liveVolume},
		{"GET /openmeteo/v1/forecast", "openmeteo", s.forecast},
		{"GET /openmeteo/previous/v1/forecast", "openmeteo", s.forecast},
		{"GET /openmeteo/ensemble/v1/ensemble", "openmeteo", s.ensemble},
		{"GET /openmeteo/archive/v1/archive", "openmeteo", s.archive},
		{"GET /openmeteo/data/{model}/static/meta.json", "openmeteo", s.watch},
		{"GET /metar/api/data/metar", "metar", s.metar},
		{"GET /nws/stations/{station}/observations", "nws", s.observations},
	} {
		s.mux.HandleFunc(e.route, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, e.source, e.answer) })
	}
}

// source is what answers requests of one source. f is the fault of this one, nil: none.
type source func(w http.ResponseWriter, r *http.Request, f *Fault)

// serve answers with the source, or with what a fault makes of its answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, name string, answer source) {
	f := s.faults.draw(name)
	if f == nil || !f.wire() {
		answer(w, r, f)
		return
	}
	s.wire(w, r, f, answer)
}
