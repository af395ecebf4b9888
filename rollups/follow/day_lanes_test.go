package follow_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/sample"
	"pmx/data/upstream/channel"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/metar"
	"pmx/data/upstream/nws"
	"pmx/data/upstream/openmeteo"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/rpc"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// sleep waits until the clock has advanced.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	for end := c.time().Add(d); ctx.Err() == nil && c.time().Before(end); {
		c.mu.Lock()
		by := c.by
		c.mu.Unlock()
		_ = guard.Sleep(ctx, min(max(end.Sub(c.time())/time.Duration(by), 100*time.Microsecond), 10*time.Millisecond)) // the loop tells
	}
	return ctx.Err()
}

// playedDay is a simulated venue for lanes of every kind, with one clock.
type playedDay struct {
	*clock
	t      *testing.T
	venue  *sample.Venue
	cities *data.Gazetteer // whose weather is followed
	server *replay.Server
	url    string
}

// sourcesPlayed are all sources that a server simulates.
var sourcesPlayed = []string{"rpc", "gamma", "clob", "data", "openmeteo", "metar", "nws", "ws"}

// faults sets the rate of all faults of every source; waits in real time are short.
func (d *playedDay) faults(rate float64) {
	d.t.Helper()
	for _, s := range sourcesPlayed {
		f := replay.Faults{}
		if rate > 0 {
			f = replay.Faults{Names: []string{"all", "slow:16", "stalled:20"}, Rate: rate}
			if s == "ws" {
				f.Names = []string{"all", "ws-lapse:20", "ws-storm:20"}
			}
		}
		if err := d.server.SetFaults(s, f); err != nil {
			d.t.Fatal(err)
		}
	}
}

// heldTransport stops the clock from a request to the end of its response.
type heldTransport struct {
	*http.Transport
	clock *clock
}

// RoundTrip implements http.RoundTripper.
func (h heldTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	h.clock.hold()
	response, err := h.Transport.RoundTrip(r)
	if err != nil {
		h.clock.goOn()
		return nil, err
	}
	response.Body = &heldBody{ReadCloser: response.Body, goOn: sync.OnceFunc(h.clock.goOn)}
	return response, nil
}

type heldBody struct {
	io.ReadCloser
	goOn func()
}

// Close implements io.Closer.
func (b *heldBody) Close() error {
	defer b.goOn()
	return b.ReadCloser.Close()
}

// heldVenue stops the clock while forecasts are imported.
type heldVenue struct {
	*keeper.Keeper
	clock *clock
}

// Commit implements follow.Venue.
func (v heldVenue) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if strings.Contains(rows.Name, "openmeteo") {
		v.clock.hold()
		defer v.clock.goOn()
	}
	return v.Keeper.Commit(ctx, rows, coming)
}

// host returns a host for a path without a limit of requests. A model's run is available only for
// some hours, which must not pass during a request, so the clock waits for forecasts.
func (d *playedDay) host(name, path string) *fetch.Host {
	d.t.Helper()
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 4}
	var asks http.RoundTripper = transport
	if strings.HasPrefix(name, "openmeteo") {
		asks = heldTransport{transport, d.clock}
	}
	h, err := fetch.New(fetch.Options{Name: name, Base: d.url + path, Contact: "ops@example.org", Now: d.time, Sleep: d.sleep,
		Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 4}, Transport: asks})
	if err != nil {
		d.t.Fatal(err)
	}
	return h
}

// longTime is the time-out for everything; only something that has stopped takes so long.
const longTime = 10 * time.Minute

// kindsDrawn returns the number of kinds of faults that were drawn.
func (d *playedDay) kindsDrawn() (n int) {
	for name := range d.server.Drawn() {
		if !strings.Contains(name, " ") {
			n++
		}
	}
	return n
}

// trading returns the conditions of the markets that have an order book at the end of the venue.
func (d *playedDay) trading() (out []data.Hash) {
	for i := range d.venue.Markets {
		if m := &d.venue.Markets[i]; d.venue.Phase(m.Event, d.venue.Manifest.End.Unix()) == sample.Open {
			out = append(out, m.Condition)
		}
	}
	return out
}

// lanes are all lanes over one venue.
type lanes struct {
	d       *playedDay
	hosts   []*fetch.Host
	chain   *follow.Chain
	markets *follow.Markets
	quotes  *follow.Quotes
	weather *follow.Weather
}

// lanes returns all lanes; close closes their connections.
func (d *playedDay) lanes(k *keeper.Keeper) *lanes {
	d.t.Helper()
	l := &lanes{d: d}
	host := func(name, path string) *fetch.Host {
		h := d.host(name, path)
		l.hosts = append(l.hosts, h)
		return h
	}
	books := clob.New(host("clob", "/clob"))
	l.markets = follow.NewMarkets(follow.MarketOptions{Venue: k, Gamma: gamma.New(host("gamma", "/gamma")), CLOB: books, Data: dataapi.New(host("data", "/data")),
		Log: zerolog.Nop(), Now: d.time, Tokens: 100 * time.Millisecond, Open: 2 * time.Second, Closed: 2 * time.Second, List: 4 * time.Second, Pace: 1})
	l.quotes = follow.NewQuotes(follow.QuoteOptions{Venue: k, Markets: l.markets, CLOB: books, Log: zerolog.Nop(), Now: d.time, Every: time.Second, Poll: 2 * time.Second,
		Channel: channel.Options{URL: "ws" + strings.TrimPrefix(d.url, "http") + "/ws/market", Agent: "pmx/dev (+ops@example.org)", Now: d.time, Sleep: d.sleep}})
	o := follow.ChainOptions{Venue: k, Contracts: chain.Contracts(), FromBlock: sample.BlockAt(d.venue.Manifest.Start) - 10, Log: zerolog.Nop(), Now: d.time, Sleep: d.sleep,
		Every: 20 * time.Millisecond, Patience: 1000 * time.Hour, AuditOf: 1, Resolved: l.markets.Heard, Progress: func(follow.ChainStatus) { l.markets.Wanted() }}
	for _, name := range []string{"a", "b"} {
		o.Nodes = append(o.Nodes, follow.NewNode(rpc.New(host("rpc "+name, "/rpc/"+name))))
	}
	l.chain = lane(d.t, o)
	services := map[openmeteo.Service]pages.Asker{}
	for service, path := range map[openmeteo.Service]string{openmeteo.Forecast: "", openmeteo.Ensemble: "/ensemble", openmeteo.Archive: "/archive", openmeteo.PreviousRuns: "/previous"} {
		services[service] = host("openmeteo "+string(service), "/openmeteo"+path)
	}
	var err error
	l.weather, err = follow.NewWeather(follow.WeatherOptions{Venue: heldVenue{k, d.clock}, Cities: d.cities, OpenMeteo: openmeteo.New(services, d.time),
		METAR: metar.New(host("metar", "/metar")), NWS: nws.New(host("nws", "/nws")), DayWeight: 1e6, Log: zerolog.Nop(), Now: d.time, Sleep: d.sleep})
	if err != nil {
		d.t.Fatal(err)
	}
	return l
}

func (l *lanes) close() {
	for _, h := range l.hosts {
		h.Close()
	}
}

// follow runs all lanes at once, with a clock that is so many times as fast, until it shows a time;
// then at normal pace until enough returns true.
func (l *lanes) follow(pace int, until time.Time, enough func() bool) {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	l.d.pace(l.d.t, pace)
	defer l.d.pace(l.d.t, 1)
	var running sync.WaitGroup
	for name, run := range map[string]func(context.Context) error{"chain": l.chain.Run, "markets": l.markets.Run, "quotes": l.quotes.Run, "weather": l.weather.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				l.d.t.Errorf("%s: %v", name, err)
			}
		})
	}
	_ = l.d.sleep(ctx, until.Sub(l.d.time())) // the end of ctx is handled below
	l.d.pace(l.d.t, 1)
	for ctx.Err() == nil && !enough() {
		_ = guard.Sleep(ctx, 10*time.Millisecond) // the loop tells
	}
	if ctx.Err() != nil {
		l.d.t.Errorf("all is not followed up to %s in %s: %+v", until, longTime, l.chain.Status())
	}
	cancel()
	running.Wait()
}

// catchUp runs each lane until it is up to date.
func (l *lanes) catchUp() {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	if err := l.weather.Once(ctx); err != nil {
		l.d.t.Errorf("weather: %v", err)
	}
	if err := l.chain.Once(ctx); err != nil {
		l.d.t.Errorf("chain: %v", err)
	}
	if err := errors.Join(l.markets.Once(ctx), l.markets.Reconcile(ctx)); err != nil { // behind the chain, which tells what is wanted
		l.d.t.Errorf("markets: %v", err)
	}
}

// catchUpWeek runs the chain lane until it has caught up with the week in which nothing ran. Ranges
// that are held back because of faults are requested again.
func (l *lanes) catchUpWeek() {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	l.d.pace(l.d.t, 600)
	defer l.d.pace(l.d.t, 1)
	until := sample.BlockAt(l.d.time()) - 200 // a node may be behind
	err := l.chain.Once(ctx)
	for err != nil && ctx.Err() == nil {
		l.d.t.Logf("the week: %v", err)
		err = l.chain.Once(ctx)
	}
	s := l.chain.Status()
	if err != nil || s.Fills == 0 || s.Committed < until {
		l.d.t.Errorf("the week is not caught up with to block %d: err = %v, s = %+v", until, err, s)
	}
}

// audit runs the chain lane until all ranges that are committed now are audited.
func (l *lanes) audit() {
	l.d.t.Helper()
	waiting := int64(l.chain.Status().AuditsDue)
	l.d.advance(25 * time.Hour)
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { _ = l.chain.Run(ctx) })
	before := l.chain.Status().Audited
	for ctx.Err() == nil && l.chain.Status().Audited < before+waiting {
		_ = guard.Sleep(ctx, 10*time.Millisecond) // the loop tells
	}
	if ctx.Err() != nil || waiting == 0 {
		l.d.t.Errorf("%d audits do not end: %+v", waiting, l.chain.Status())
	}
	cancel()
	running.Wait()
}

// tellQuotes runs the quotes lane until the quotes of all open markets are stored, each from a
// request or a connection.
func (l *lanes) tellQuotes() {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() {
		if err := l.quotes.Run(ctx); err != nil && ctx.Err() == nil {
			l.d.t.Errorf("quotes: %v", err)
		}
	})
	books := len(l.d.trading())
	for s := l.quotes.Status(); ctx.Err() == nil && (s.Current < books || s.Shown < int64(books)); s = l.quotes.Status() {
		_ = guard.Sleep(ctx, 10*time.Millisecond) // the loop tells
	}
	if ctx.Err() != nil {
		l.d.t.Errorf("of %d books not all have come: %+v", books, l.quotes.Status())
	}
	cancel()
	running.Wait()
}

// settle reads the markets until the last time after their closing at which they are read again.
func (l *lanes) settle() {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), longTime)
	defer cancel()
	if err := l.markets.Once(ctx); err != nil {
		l.d.t.Errorf("markets: %v", err)
	}
}
