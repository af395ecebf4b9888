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
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/rpc"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
	"pmx/http/replay"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// shortPrices truncates the prices of rows to three digits, so that the dollars of many of them
// differ from the chain's.
type shortPrices struct{ pages.Asker }

var longPrice = regexp.MustCompile(`"price":(\d\.\d{3})\d*`)

func (s shortPrices) Do(ctx context.Context, r fetch.Request) (fetch.Answer, error) {
	a, err := s.Asker.Do(ctx, r)
	a.Body = longPrice.ReplaceAll(a.Body, []byte(`"price":$1`))
	return a, err
}

// TestTradesAreReplacedByTheChain: a venue that is followed by its list of trades, later by the chain,
// and by the list again, has the same fills as with the chain alone.
func TestTradesAreReplacedByTheChain(t *testing.T) {
	testfiles.InLong(t, "TestALogIndexedSourceReplacesOneWithout replaces fills by those with log indexes")
	played := chainOf(t).venue
	start := time.Date(2026, 11, 5, 0, 20, 0, 0, time.UTC)
	d := &playedDay{t: t, venue: played, clock: &clock{now: start, was: time.Now(), by: 1}}
	var err error
	d.server, err = replay.New(t.Context(), replay.Options{Venue: played, Start: start, Speed: 1, Now: d.time, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(d.server.Handler())
	defer web.Close()
	defer d.server.Close()
	d.url = web.URL
	files := t.TempDir()
	if _, err := sample.Write(t.Context(), played.Config(), files, nil); err != nil {
		t.Fatal(err)
	}
	events := someLines(t, filepath.Join(files, "events.ndjson"), testfiles.Cases(4, 1)) // markets are requested and committed in groups of twenty
	described := func(k *keeper.Keeper) *keeper.Keeper {
		if res, err := k.Import(t.Context(), keeper.Request{Paths: []string{events}}, nil); err != nil || len(res.Failed) > 0 {
			t.Fatalf("err = %v, res = %+v", err, res)
		}
		return k
	}
	hosts := map[string]*fetch.Host{}
	for name, path := range map[string]string{"data": "/data", "rpc": "/rpc/1"} {
		hosts[name] = d.host(name, path)
		defer hosts[name].Close()
	}
	from := start.Add(-12 * time.Hour)
	trades := func(k *keeper.Keeper) *follow.Trades {
		return follow.NewTrades(follow.TradesOptions{Venue: k, Data: dataapi.New(shortPrices{hosts["data"]}), Log: zerolog.Nop(), Now: d.time, From: from})
	}
	sweep := func(lane *follow.Trades) follow.TradesStatus {
		t.Helper()
		if err := lane.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		return lane.Status()
	}
	k := described(venue(t, t.TempDir()))
	lane1 := trades(k)
	first := sweep(lane1)
	d.advance(6 * time.Hour)
	second := sweep(lane1)
	if first.Fills == 0 || second.Fills <= first.Fills || second.Known != 0 || !strings.Contains(second.Holes, "--rpc") {
		t.Fatalf("first = %+v, second = %+v", first, second)
	}
	if again := sweep(trades(k)); again.Fills > second.Fills/10 { // fills of the meantime
		t.Errorf("once more: %+v", again)
	}
	if s := second.Tell(); !s.Incomplete || s.Problem == "" {
		t.Errorf("%+v", s)
	}
	stored, err := follow.StoredTrades(t.Context(), k)
	if err != nil || stored == nil || stored.Phase != follow.Stopped || stored.AsOf.Before(second.AsOf) {
		t.Errorf("%v %+v, want that of %+v or later", err, stored, second)
	}
	makers := column(t, k, "SELECT role::VARCHAR || ' ' || count(*) FROM fills GROUP BY role ORDER BY role")
	if len(makers) != 2 {
		t.Errorf("roles: %v", makers)
	}

	chain := func(k *keeper.Keeper, block int64) follow.ChainStatus {
		t.Helper()
		o := chainOf(t).options(k)
		o.Nodes, o.FromBlock, o.Now, o.Sleep = []follow.Node{follow.NewNode(rpc.New(hosts["rpc"]))}, block, d.time, d.sleep
		return once(t, o)
	}
	d.advance(time.Hour)
	state := chain(k, 0)
	if got := sample.BlockTime(state.Start); got > from.Unix() || got < from.Unix()-10 {
		t.Errorf("the chain is followed from %d", got)
	}
	if left := column(t, k, "SELECT count(*)::VARCHAR FROM fills WHERE log_index IS NULL"); left[0] != "0" {
		t.Errorf("%s fills of the list are there still", left[0])
	}
	if err := k.Refresh(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	alsoVerify(t, k)
	last := sweep(trades(k))
	if last.Known == 0 {
		t.Errorf("no row was of a transaction that the chain gave: %+v", last)
	}
	chain(k, 0)
	alone := described(factsOnly(t))
	chain(alone, state.Start)
	until := state.AsOf.UnixMicro()
	fills := func(v *keeper.Keeper) []string {
		return column(t, v, fmt.Sprintf("SELECT concat_ws(' ', hex(f.tx), f.log_index, f.ts, hex(w.address), t.token_id, f.side, f.role, f.shares, f.usd, f.fee, f.repeat, f.block) "+
			"FROM fills AS f JOIN wallets AS w USING (wallet) JOIN tokens AS t ON t.token = f.token WHERE f.ts <= %d ORDER BY 1", until))
	}
	want, got := fills(alone), fills(k)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 200 {
		t.Errorf("%d fills, and %d by the chain alone (-alone +both):\n%s", len(got), len(want), diff[:min(len(diff), 2000)])
	}
}

// someLines returns a file with every one-th line of a file.
func someLines(t *testing.T, path string, one int) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	some, nth := "", 0
	for line := range strings.Lines(string(text)) {
		if nth%one == 0 {
			some += line
		}
		nth++
	}
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(out, []byte(some), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// deaf is a host that does not answer.
type deaf struct{}

func (deaf) Do(context.Context, fetch.Request) (fetch.Answer, error) {
	return fetch.Answer{}, errors.New("no answer")
}

// TestAListThatDoesNotAnswerIsReported at once, and as stalled after a quarter of an hour. The time up
// to which trades are committed survives a restart.
func TestAListThatDoesNotAnswerIsReported(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 5, 0, 20, 0, 0, time.UTC), was: time.Now(), by: 0}
	k := venue(t, t.TempDir())
	if s, err := follow.StoredTrades(t.Context(), k); s != nil || err != nil {
		t.Fatalf("%+v %v: it never followed", s, err)
	}
	until := c.time().Add(-time.Hour)
	_, err := k.Commit(t.Context(), ingest.Rows{Name: "remembered", Within: func(ctx context.Context, conn *sql.Conn) error {
		if err := ledger.SetCursor(ctx, conn, "trades", fmt.Sprintf(`{"start":%d,"until":%d}`, until.Add(-time.Hour).Unix(), until.Unix())); err != nil {
			return err
		}
		_, err := conn.ExecContext(ctx, "INSERT INTO markets (market, condition) VALUES (1, repeat('a', 32)::BLOB)")
		return err
	}}, ingest.Remaining{})
	if err != nil {
		t.Fatal(err)
	}
	lane := follow.NewTrades(follow.TradesOptions{Venue: k, Data: dataapi.New(deaf{}), Log: zerolog.Nop(), Now: c.time})
	for _, want := range []serving.SourceState{serving.SourceWaiting, serving.SourceStalled} {
		if err := lane.Once(t.Context()); err == nil {
			t.Fatal("nobody answered")
		}
		s := lane.Status()
		if told := s.Tell(); told.State != want || !told.AsOf.Equal(until) || !strings.Contains(told.Problem, "cannot be read") || !strings.Contains(told.Problem, "not noticed") {
			t.Errorf("told = %+v, want %v", told, want)
		}
		c.advance(time.Hour)
	}
}
