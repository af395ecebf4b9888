package follow_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/guard"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// smallPlayed is a venue with few fills, because opening it takes most of the time of a kill.
var smallPlayed = sync.OnceValues(func() (*history, error) {
	return historyFrom(sample.Config{Fills: 300, Days: 7, End: time.Date(2026, 11, 4, 0, 0, 0, 0, time.UTC), Seed: 7, Chain: true})
})

func smallChain(t *testing.T) *history {
	t.Helper()
	h, err := smallPlayed()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// killings are the rounds of a test of kills. A round begins with an empty venue and ends with a
// process that is not killed.
type killings struct {
	t              *testing.T
	want, a, round int            // kills wanted, and those of a round
	until          time.Time      // no other round begins behind it
	at             map[moment]int // kills by where they fell
	kills, rounds  int
}

// newKillings returns as many kills as PMX_TEST_KILLS says; otherwise a few, or in a long run as
// many rounds as begin within a quarter of a minute.
func newKillings(t *testing.T, round int) *killings {
	t.Helper()
	k := &killings{t: t, want: testfiles.Cases(1, 1_000), round: round, until: time.Now().Add(15 * time.Second), at: map[moment]int{}}
	if text := os.Getenv("PMX_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		k.want, k.until = n, time.Now().Add(24*time.Hour)
	}
	return k
}

func (k *killings) more() bool {
	if k.kills >= k.want || k.kills > 0 && time.Now().After(k.until) {
		k.t.Logf("%d kills in %d rounds, by where they fell: %v", k.kills, k.rounds, k.at)
		return false
	}
	k.rounds++
	k.a = 0
	return true
}

// run runs a process; it returns true if the process ended because everything was committed. The
// last one of a round is not killed.
func (k *killings) run(e *errand) (ended bool) {
	if k.a >= k.round {
		e.Where = never
	}
	if !e.run(k.t) {
		return e.Where != cleanly && e.Where != ending
	}
	k.at[e.Where]++
	k.kills++
	k.a++
	return false
}

// check ends the test if a round failed.
func (k *killings) check() {
	k.t.Helper()
	if k.t.Failed() {
		k.t.Fatalf("after %d kills of this round, %d of all", k.a, k.kills)
	}
}

// TestAKilledFollowerLosesAndDoublesNothing: whenever the process is killed, the next one
// continues, and the result is that of the file. It is tested far behind and while the head moves.
func TestAKilledFollowerLosesAndDoublesNothing(t *testing.T) {
	h := smallChain(t)
	logs := h.write(t)
	want := h.want(t)
	names := []string{"catch-up", "tail"}
	if !testfiles.Long() {
		names = []string{"either"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for kills := newKillings(t, testfiles.Cases(3, 24)); kills.more(); {
				dir := t.TempDir()
				if err := openVenue(t, dir, unserved).Close(); err != nil {
					t.Fatal(err)
				}
				e := errand{Dir: dir, Logs: logs}
				for ended := false; !ended; {
					e.Tail = name == "tail" || name == "either" && rand.IntN(2) == 0
					e.drawMoment("chain", 3)
					e.Serve = rand.IntN(4) == 0
					ended = kills.run(&e)
				}
				k := openVenue(t, dir)
				if err := k.Refresh(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				mustEqual(t, k, want)
				mustVerify(t, k)
				s, err := follow.StoredChain(t.Context(), k, h.options(k).Contracts, time.Now())
				if err != nil || s.GapBlocks != 0 || s.Committed != h.last+40 || s.Fills != int64(len(want["fills"])) {
					t.Errorf("err = %v, s = %+v", err, s)
				}
				if err := k.Close(); err != nil {
					t.Error(err)
				}
				kills.check()
			}
		})
	}
}

// write writes the logs to a file.
func (h *history) write(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "logs.ndjson")
	if err := os.WriteFile(path, []byte(h.file), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAKilledFollowerOfMarketsLosesAndDoublesNothing is the same for markets, quotes and the chain
// together, during a week of the venue.
func TestAKilledFollowerOfMarketsLosesAndDoublesNothing(t *testing.T) {
	testfiles.InLong(t, "TestAKilledFollowerLosesAndDoublesNothing kills one of the chain")
	h := smallChain(t)
	logs := h.write(t)
	files := t.TempDir()
	if _, err := sample.Write(t.Context(), h.venue.Config(), files, nil); err != nil {
		t.Fatal(err)
	}
	imported := venue(t, t.TempDir(), unserved)
	if res, err := imported.Import(t.Context(), keeper.Request{Paths: []string{logs, filepath.Join(files, "events.ndjson")}}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("err = %v, res = %+v", err, res)
	}
	want := h.factsAndMarkets(t, imported)
	end := h.venue.Manifest.End.Add(50 * time.Minute)
	var quotes []string
	for kills := newKillings(t, testfiles.Cases(2, 24)); kills.more(); {
		start := h.venue.Manifest.Start.Add(12 * time.Hour)
		clock := pastime{From: end, Until: end}
		var mu sync.Mutex
		now := func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return clock.now()
		}
		s, err := replay.New(t.Context(), replay.Options{Venue: h.venue, Start: end, Speed: 1, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		web := httptest.NewServer(s.Handler())
		if quotes == nil {
			quotes = h.finish(t, imported, web.URL, end)
		}
		mu.Lock()
		clock = pastime{From: start, Until: end, Speed: 1800, began: time.Now()}
		mu.Unlock()
		dir := t.TempDir()
		if err := openVenue(t, dir, unserved).Close(); err != nil {
			t.Fatal(err)
		}
		e := errand{Dir: dir, Logs: logs, URL: web.URL}
		for now().Before(end) && kills.a < kills.round {
			e.drawMoment([]string{"markets", "markets", "markets", "quotes", "chain"}[rand.IntN(5)], 4)
			e.Serve = rand.IntN(4) == 0
			e.Clock = pastime{From: now(), Until: end, Speed: clock.Speed}
			kills.run(&e)
			mu.Lock()
			clock.advance(end.Sub(start) / time.Duration(kills.round+5))
			mu.Unlock()
		}
		mu.Lock()
		clock.advance(end.Sub(start))
		mu.Unlock()
		k := openVenue(t, dir, func(c *keeper.Config) { c.Serve = testfiles.Long() })
		if got := h.finish(t, k, web.URL, end); !cmp.Equal(quotes, got) || len(got) < 10 {
			t.Errorf("quotes (-want +got):\n%s", cmp.Diff(quotes, got))
		}
		if err := k.Refresh(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		got := h.factsAndMarkets(t, k)
		for name := range tables {
			if diff := cmp.Diff(want[name], got[name]); diff != "" {
				t.Errorf("%s differ: %d rows, want %d: diff = %s", name, len(got[name]), len(want[name]), diff[:min(len(diff), 3000)])
			}
		}
		alsoVerify(t, k)
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
		s.Close()
		kills.check()
	}
}

// ofThisMoment matches columns of markets for which alone no record is written.
var ofThisMoment = regexp.MustCompile(`'updated_at': [^,]*, |'quote': \{[^}]*\}, `)

// factsAndMarkets returns the facts without columns that change on their own.
func (h *history) factsAndMarkets(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := facts(t, k)
	for i, row := range out["markets"] {
		out["markets"][i] = ofThisMoment.ReplaceAllString(row, "")
	}
	slices.Sort(out["markets"])
	if len(out["fills"]) < h.count/2 || len(out["markets"]) < 20 || len(out["tokens"]) < 40 {
		t.Errorf("%d fills, %d markets, %d tokens", len(out["fills"]), len(out["markets"]), len(out["tokens"]))
	}
	return out
}

// finish brings a venue up to date with a stopped clock for markets and quotes, and returns the
// quotes of open markets.
func (h *history) finish(t *testing.T, k *keeper.Keeper, url string, at time.Time) (quotes []string) {
	t.Helper()
	l, err := h.threeLanes(url, func() time.Time { return at }, func(string) follower { return k })
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := errors.Join(l.chain.Once(ctx), l.markets.Once(ctx), l.markets.Reconcile(ctx)); err != nil {
		t.Fatalf("err = %v, l.chain.Status() = %+v", err, l.chain.Status())
	}
	ended := guard.Start(func() error { return l.quotes.Run(ctx) })
	for ctx.Err() == nil && l.quotes.Status().Shown == 0 { // all are shown at once
		_ = guard.Sleep(ctx, time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil || l.quotes.Status().Shown == 0 {
		t.Errorf("err = %v, l.quotes.Status() = %+v", err, l.quotes.Status())
	}
	if twice := rowsOf(t, k, "SELECT market FROM live_quote GROUP BY ALL HAVING count(*) > 1"); len(twice) > 0 {
		t.Errorf("%d markets have two quotes", len(twice))
	}
	return rowsOf(t, k, "SELECT hex(m.condition) AS condition, q.bid, q.ask, q.last_price, q.ts FROM live_quote AS q JOIN markets AS m USING (market) WHERE m.closed IS NOT TRUE AND m.payouts IS NULL")
}
