package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data/chain"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/testfiles"
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

// sleep waits until the clock has gone on.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	for end := c.time().Add(d); ctx.Err() == nil && c.time().Before(end); {
		c.mu.Lock()
		by := c.by
		c.mu.Unlock()
		_ = guard.Sleep(ctx, min(max(end.Sub(c.time())/time.Duration(by), 100*time.Microsecond), 10*time.Millisecond)) // the loop tells
	}
	return ctx.Err()
}

// playedDay is a venue that is played to lanes of every kind, by one clock.
type playedDay struct {
	*clock
	t      *testing.T
	venue  *sample.Venue
	server *replay.Server
	url    string
}

// sourcesPlayed are all that a server plays.
var sourcesPlayed = []string{"rpc", "gamma", "clob", "data", "openmeteo", "metar", "nws", "ws"}

// faults has every source make so many mistakes of every kind; waits of real time are short.
// A forecast of nulls is taken for one: its run is not asked for again.
func (d *playedDay) faults(rate float64) {
	d.t.Helper()
	for _, s := range sourcesPlayed {
		f := replay.Faults{}
		if rate > 0 {
			f = replay.Faults{Names: []string{"all", "slow:16", "stalled:20", "ws-lapse:20", "ws-storm:20", "-values-null"}, Rate: rate}
		}
		if err := d.server.SetFaults(s, f); err != nil {
			d.t.Fatal(err)
		}
	}
}

// host asks what is below a path, as often as it likes.
func (d *playedDay) host(name, path string) *fetch.Host {
	d.t.Helper()
	h, err := fetch.New(fetch.Options{Name: name, Base: d.url + path, Contact: "ops@example.org", Now: d.time, Sleep: d.sleep,
		Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 4}})
	if err != nil {
		d.t.Fatal(err)
	}
	return h
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

// lanes makes all lanes; close ends their connections.
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
		Every: 20 * time.Millisecond, AuditOf: 1, Resolved: l.markets.Heard, Progress: func(follow.ChainState) { l.markets.Wanted() }}
	for _, name := range []string{"a", "b"} {
		o.Nodes = append(o.Nodes, follow.NewNode(rpc.New(host("rpc "+name, "/rpc/"+name))))
	}
	l.chain = lane(d.t, o)
	services := map[openmeteo.Service]pages.Asker{}
	for service, path := range map[openmeteo.Service]string{openmeteo.Forecast: "", openmeteo.Ensemble: "/ensemble", openmeteo.Archive: "/archive", openmeteo.PreviousRuns: "/previous"} {
		services[service] = host("openmeteo "+string(service), "/openmeteo"+path)
	}
	var err error
	l.weather, err = follow.NewWeather(follow.WeatherOptions{Venue: k, Cities: feeds.Catalog{}.Gazetteer(), OpenMeteo: openmeteo.New(services, d.time),
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

// follow has all lanes follow at once until the clock shows a time.
func (l *lanes) follow(until time.Time) {
	l.d.t.Helper()
	ctx, cancel := context.WithCancel(l.d.t.Context())
	defer cancel()
	var running sync.WaitGroup
	for name, run := range map[string]func(context.Context) error{"chain": l.chain.Run, "markets": l.markets.Run, "quotes": l.quotes.Run, "weather": l.weather.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
				l.d.t.Errorf("%s: %v", name, err)
			}
		})
	}
	_ = l.d.sleep(ctx, until.Sub(l.d.time())) // the test's end ends all
	cancel()
	running.Wait()
}

// catchUp has each lane follow until it is up to date.
func (l *lanes) catchUp() {
	l.d.t.Helper()
	ctx, cancel := context.WithTimeout(l.d.t.Context(), 5*time.Minute)
	defer cancel()
	for name, once := range map[string]func(context.Context) error{"chain": l.chain.Once, "weather": l.weather.Once} {
		if err := once(ctx); err != nil {
			l.d.t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(l.markets.Once(ctx), l.markets.Reconcile(ctx)); err != nil { // behind the chain, which tells what is wanted
		l.d.t.Errorf("markets: %v", err)
	}
}

// audit has the chain's lane follow until what is committed by now was asked for once more.
func (l *lanes) audit() {
	l.d.t.Helper()
	waiting := int64(l.chain.State().AuditsDue)
	l.d.advance(25 * time.Hour)
	ctx, cancel := context.WithTimeout(l.d.t.Context(), 2*time.Minute)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { _ = l.chain.Run(ctx) })
	before := l.chain.State().Audited
	for ctx.Err() == nil && l.chain.State().Audited < before+waiting {
		_ = guard.Sleep(ctx, 10*time.Millisecond) // the loop tells
	}
	if ctx.Err() != nil || waiting == 0 {
		l.d.t.Errorf("%d audits do not end: %+v", waiting, l.chain.State())
	}
	cancel()
	running.Wait()
}

// weatherOf are the words of the weather that files of a venue have in common with following
// it, by name: what stations reported in the last two days, and what the last day was that was
// over everywhere.
func (d *playedDay) weatherOf() map[string]string {
	end := d.venue.Manifest.End
	return map[string]string{
		"reports": fmt.Sprintf("SELECT city, station, source, ts, report, day, value, whole, seen_at FROM weather_obs WHERE source = 'metar' AND ts >= %d AND ts < %d",
			end.AddDate(0, 0, -2).UnixMicro(), end.UnixMicro()),
		"past days": fmt.Sprintf("SELECT city, day, metric, kind, source, station, value FROM weather_actual WHERE kind = 2 AND day BETWEEN %d AND %d",
			end.Unix()/86_400-2, end.Unix()/86_400-2),
	}
}

// TestADayThroughAllFaultsIsTheImport: all lanes follow a venue at once, over the wire, while
// every source makes every mistake it can, with a restart and a week without anybody; what is
// there in the end is what the files have. Following all of it again adds nothing.
func TestADayThroughAllFaultsIsTheImport(t *testing.T) {
	end := time.Date(2026, 11, 7, 8, 0, 0, 0, time.UTC)
	venue, err := sample.New(t.Context(), sample.Config{Fills: int64(testfiles.Cases(2_000, 20_000)), Days: 9, End: end, Seed: 5, Chain: true})
	if err != nil {
		t.Fatal(err)
	}
	start := end.AddDate(0, 0, -8)
	d := &playedDay{t: t, venue: venue, clock: &clock{now: start, was: time.Now(), by: 1}}
	d.server, err = replay.New(t.Context(), replay.Options{Venue: venue, Start: start, Speed: 1, Now: d.time, Tick: 5 * time.Millisecond, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(d.server.Handler())
	defer web.Close()
	defer d.server.Close()
	d.url = web.URL
	d.faults(0.2)
	dir := t.TempDir()
	part := func(until time.Time) {
		k := openVenue(t, dir)
		l := d.lanes(k)
		d.pace(t, testfiles.Cases(5_400, 1_800))
		l.follow(until)
		d.pace(t, 1)
		l.close()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	part(start.Add(6 * time.Hour))
	part(start.Add(12 * time.Hour))
	back := end.Add(-12 * time.Hour)
	d.advance(back.Sub(d.time())) // nobody follows for a week
	part(end.Add(50 * time.Minute))
	d.insist(dir)
	kinds := map[string]bool{}
	for name := range d.server.Drawn() {
		if !strings.Contains(name, " ") {
			kinds[name] = true
		}
	}
	if len(kinds) < 40 {
		t.Errorf("%d kinds of mistakes were made", len(kinds))
	}

	d.faults(0)
	k := openVenue(t, dir)
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := d.lanes(k)
	d.advance(20 * time.Minute) // hosts that were shut, and nodes that rest, are asked again
	d.pace(t, 60)
	l.catchUp()
	l.audit()
	l.close()

	files := t.TempDir()
	if _, err := sample.Write(t.Context(), venue.Config(), files, nil); err != nil {
		t.Fatal(err)
	}
	logs, err := os.Create(filepath.Join(files, "logs.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(replay.WriteLogs(logs, venue), logs.Close()); err != nil {
		t.Fatal(err)
	}
	imported := openVenue(t, t.TempDir())
	defer func() {
		if err := imported.Close(); err != nil {
			t.Error(err)
		}
	}()
	var paths []string
	for _, name := range []string{"logs.ndjson", "events.ndjson", "openmeteo-forecasts.ndjson", "openmeteo-archive.ndjson", "metar.ndjson"} {
		paths = append(paths, filepath.Join(files, name))
	}
	if res, err := imported.Import(t.Context(), keeper.Request{Paths: paths}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("%v %+v", err, res)
	}
	for _, v := range []*keeper.Keeper{k, imported} {
		if err := v.Refresh(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	dayEqual(t, k, factsOfDay(t, imported))
	for name, query := range d.weatherOf() {
		want, got := rowsOf(t, imported, query), rowsOf(t, k, query)
		if len(want) < 100 {
			t.Errorf("%s: the files have %d", name, len(want))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %d are followed, %d imported (-imported +followed):\n%s", name, len(got), len(want), diff[:min(len(diff), 2000)])
		}
	}
	mustVerify(t, k)

	// The same once more, as if nothing were known of what was asked for.
	before := factsOfDay(t, k)
	if _, err := k.Commit(t.Context(), ingest.Rows{Name: "forget", Within: func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "DELETE FROM sync_range; DELETE FROM sync_cursor WHERE source NOT LIKE 'weather/openmeteo'")
		return err
	}}, ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	d.clock.advance(end.Add(2 * time.Hour).Sub(d.time())) // the day of the venue
	l = d.lanes(k)
	l.catchUp()
	l.close()
	if s := l.chain.State(); s.Fills != 0 || s.Logs < int64(len(before["fills"])) {
		t.Errorf("once more: %+v", s)
	}
	dayEqual(t, k, before)
	if twice := rowsOf(t, k, "SELECT station, source, ts, report FROM weather_obs GROUP BY ALL HAVING count(*) > 1"); len(twice) > 0 {
		t.Errorf("once more: %d reports are there twice", len(twice))
	}
	mustVerify(t, k)
}

// insist has the week caught up with among all faults.
func (d *playedDay) insist(dir string) {
	d.t.Helper()
	k := openVenue(d.t, dir)
	l := d.lanes(k)
	d.pace(d.t, 600)
	ctx, cancel := context.WithTimeout(d.t.Context(), 2*time.Minute)
	defer cancel()
	err := l.chain.Once(ctx)
	d.pace(d.t, 1)
	if s := l.chain.State(); s.Suspect == 0 || s.Fills == 0 {
		d.t.Errorf("no range was suspect: %+v", s)
	}
	l.close()
	if err = errors.Join(err, k.Close()); err != nil {
		d.t.Error(err)
	}
}

// movesOn are columns of markets that move while nothing else does: a record is not written
// for them alone.
var movesOn = regexp.MustCompile(`'updated_at': [^,]*, |'quote': \{[^}]*\}, `)

// factsOfDay are the facts without them.
func factsOfDay(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := facts(t, k)
	for i, row := range out["markets"] {
		out["markets"][i] = movesOn.ReplaceAllString(row, "")
	}
	slices.Sort(out["markets"])
	if len(out["fills"]) < 2_000 || len(out["markets"]) < 300 || len(out["tokens"]) < 600 {
		t.Errorf("%d fills, %d markets, %d tokens", len(out["fills"]), len(out["markets"]), len(out["tokens"]))
	}
	return out
}

func dayEqual(t *testing.T, k *keeper.Keeper, want map[string][]string) {
	t.Helper()
	got := factsOfDay(t, k)
	for name := range tables {
		if diff := cmp.Diff(want[name], got[name]); diff != "" {
			t.Errorf("%s differ: %d rows, want %d:\n%s", name, len(got[name]), len(want[name]), diff[:min(len(diff), 3000)])
		}
	}
}
