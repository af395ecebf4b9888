// Package replay is a server that simulates the sources a venue is followed from, using a sample
// venue: nodes of the chain, the venue's services and the weather's. Its clock runs at any speed,
// and it makes the mistakes that such sources make.
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

// Options say what is simulated, and how.
type Options struct {
	// Venue is the simulated venue. If it is nil, one is made from Config, on a chain.
	Venue  *sample.Venue
	Config sample.Config

	Start    time.Time        // initial time of the clock; zero: a day before the end of the venue
	Speed    float64          // seconds of the clock per second; 0: it moves only by Advance
	Now      func() time.Time // nil: time.Now
	Finality int64            // blocks between the newest and the newest final one; 0: 16
	MaxRange int64            // maximum number of blocks in eth_getLogs; 0: 10,000
	MaxLogs  int              // maximum number of logs in eth_getLogs; 0: 20,000

	Tick time.Duration // real time between two checks of the clock by a websocket; 0: a quarter of a second

	Seed uint64 // for drawing faults
	// Faults are the faults by source: "rpc", "gamma", "clob", "data", "openmeteo", "metar", "nws",
	// "ws". A single node, such as "rpc/2" for the path /rpc/2, has its own or those of "rpc".
	// Those of "" apply to all sources without an entry.
	Faults map[string]Faults
}

// Server simulates the sources of a venue.
type Server struct {
	venue   *sample.Venue
	history *history
	kept    *packedLogs // nil: nothing is kept
	tape    *tape
	weather *sample.Weather
	clock   *Clock
	faults  *plans
	options Options
	mux     *http.ServeMux
	done    chan struct{} // closed when the websockets are to end
	end     sync.Once
}

// ErrOptions is returned for invalid options.
var ErrOptions = errors.New("replay")

// New returns a server. If it has to make the venue, that takes some seconds for a large one.
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
		return nil, fmt.Errorf("%w: the venue must be one on a chain: set Chain", ErrOptions)
	}
	if o.Start.IsZero() {
		o.Start = o.Venue.Manifest.End.AddDate(0, 0, -1)
	}
	if o.Speed < 0 || o.Finality < 0 || o.MaxRange < 0 || o.MaxLogs < 0 {
		return nil, fmt.Errorf("%w: numbers must not be negative", ErrOptions)
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

// Handler serves all sources: nodes at /rpc and /rpc/NAME, the others below the names of the
// sources. GET /replay reports the clock and the blocks, and POST /replay changes the clock and the faults:
// ?speed=60, ?advance=1h, ?at=TIME, ?source=rpc/2&faults=lost-logs&rate=1; an empty faults means
// none.
func (s *Server) Handler() http.Handler { return s.mux }

// Clock returns the clock of the sources.
func (s *Server) Clock() *Clock { return s.clock }

// Venue returns the simulated venue.
func (s *Server) Venue() *sample.Venue { return s.venue }

// Latest returns the current newest block and the newest final one.
func (s *Server) Latest() (latest, finalized int64) {
	latest = sample.BlockAt(s.clock.Now())
	return latest, latest - s.options.Finality
}

func (s *Server) route() {
	s.mux.HandleFunc("GET /replay", s.serveOverview)
	s.mux.HandleFunc("POST /replay", s.control)
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

// source answers requests to one source. f is the fault of this request, nil for none.
type source func(w http.ResponseWriter, r *http.Request, f *Fault)

// serve answers with the source, or with a transport fault.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, name string, answer source) {
	f := s.faults.draw(name)
	if f == nil || !f.transport() {
		answer(w, r, f)
		return
	}
	s.transportFault(w, r, f, answer)
}
