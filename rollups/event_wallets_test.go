package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/rollups"
)

// eventTraders counts, by event key, the distinct wallets of the facts that traded
// the markets which the snapshot says belong to the event, without address(0).
func (v *venue) eventTraders(t rapid.TB, keys []string) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, key := range keys {
		e := v.live.Snapshot().Catalog.Event(key)
		if e == nil {
			continue
		}
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(e.Markets), " ", ","), "[]")
		var n int
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			own := address(0)
			return conn.QueryRowContext(ctx, "SELECT count(DISTINCT f.wallet) FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN wallets AS w ON w.wallet = f.wallet "+
				"WHERE w.address <> ? AND t.market IN ("+list+")", own[:]).Scan(&n)
		})
		out[key] = n
	}
	return out
}

// compareEvents compares the snapshot's traders of events with the facts.
func (v *venue) compareEvents(t rapid.TB, keys []string) (some int) {
	t.Helper()
	for key, want := range v.eventTraders(t, keys) {
		if got := v.live.Snapshot().Catalog.Event(key).Traders; got != want {
			t.Fatalf("event %s has %d traders, want %d", key, got, want)
		}
		some += want
	}
	return some
}

var eventKeys = []string{"a", "b", "c", "1", "2", "3"}

// drawEventful generates files of fills in six markets that move between events, by slug or by id,
// and take tokens from each other.
func drawEventful(t *rapid.T) []step {
	steps := make([]step, rapid.IntRange(2, 4).Draw(t, "files"))
	fills := 0
	for i := range steps {
		for range rapid.IntRange(0, 16).Draw(t, "fills") {
			fills++
			f := data.Fill{Tx: tx(rapid.IntRange(0, fills).Draw(t, "tx")), LogIndex: data.NoIndex, TS: start.UnixMicro(),
				Wallet: address(rapid.IntRange(0, 4).Draw(t, "wallet")), Role: data.Taker, Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex,
				TokenID: token(rapid.IntRange(0, 5).Draw(t, "market"), rapid.IntRange(0, 1).Draw(t, "outcome"))}
			if rapid.Bool().Draw(t, "indexed") { // may replace an equal one
				f.LogIndex = int32(fills)
			}
			steps[i].fills = append(steps[i].fills, f)
		}
		for range rapid.IntRange(0, 3).Draw(t, "markets") {
			n := rapid.IntRange(0, 5).Draw(t, "described")
			m := data.Market{Condition: condition(n), Question: "?", UpdatedAt: start.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "version")) * time.Hour),
				EventSlug: rapid.SampledFrom([]string{"", "", "a", "b", "c"}).Draw(t, "slug"),
				EventID:   rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "id"),
				Outcomes:  []string{"x", "y"}, TokenIDs: []string{token(n, 0), token(n, 1)}}
			if rapid.IntRange(0, 3).Draw(t, "takes") == 0 {
				m.TokenIDs[1] = token(rapid.IntRange(0, 5).Draw(t, "from"), 1)
			}
			steps[i].markets = append(steps[i].markets, m)
		}
		if rapid.IntRange(0, 2).Draw(t, "pays") == 0 {
			paid := condition(rapid.IntRange(0, 5).Draw(t, "paid"))
			steps[i].markets = append(steps[i].markets, data.Market{Condition: paid, Stub: true, Resolution: &data.Resolution{Condition: paid,
				Payouts: []data.Micro{data.One, 0}, ResolvedAt: start, Source: data.ResolvedByAPI, Version: start}})
		}
	}
	return steps
}

func TestTradersOfEventsAreThoseOfTheFacts(t *testing.T) {
	counted := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawEventful(rt)
		v := newVenue(t, steps)
		defer v.close()
		v.drawAtOnce(rt)
		v.write(v.live.Load)
		warm := rapid.Bool().Draw(rt, "warm")
		for i := range steps {
			if warm {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
				warm = rapid.IntRange(0, 3).Draw(rt, "warm again") > 0
			}
			if rapid.IntRange(0, 3).Draw(rt, "dry") == 0 {
				v.importWith(rapid.IntRange(0, len(steps)-1).Draw(rt, "of"), ingest.Options{DryRun: true}) // merged and rolled back
			}
			v.importStep(i)
			counted += v.compareEvents(rt, eventKeys)
			if rapid.IntRange(0, 3).Draw(rt, "compact") == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
			}
		}
		v.followed(rt)
		if rapid.IntRange(0, 3).Draw(rt, "verify") == 0 { // the slowest of it
			v.verify(rt)
			v.rebuild()
			counted += v.compareEvents(rt, eventKeys)
		}
	})
	if testfiles.Long() && counted == 0 { // a few cases may all be small
		t.Error("no event had a trader")
	}
}

// Wallets 1 and 2 trade market 1 of event a. Then wallet 1 trades market 0, which is first in the
// event: both count once, wallet 1 now at market 0. Wallet 3 trades market 2 of event b. Then
// market 1 moves to b: a has wallet 1, b has wallets 1, 2 and 3. Finally market 0, whose tokens
// nobody else has traded so far, loses them to market 2: a has no wallet, and b all three.
func TestTradersOfEventsFollowTheirMarkets(t *testing.T) {
	testfiles.InLong(t, "TestTradersOfEventsAreThoseOfTheFacts imports random markets that move between events")
	fill := func(n, wallet, market int) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: int32(n), TS: start.UnixMicro(), Wallet: address(wallet), TokenID: token(market, 0), Role: data.Taker,
			Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex}
	}
	market := func(n, version int, slug string, tokens ...string) data.Market {
		return data.Market{Condition: condition(n), Question: "?", UpdatedAt: start.Add(time.Duration(version) * time.Hour), EventSlug: slug,
			Outcomes: []string{"x", "y"}, TokenIDs: tokens}
	}
	steps := []step{
		{markets: []data.Market{market(0, 0, "a", token(0, 0)), market(1, 0, "a", token(1, 0)), market(2, 0, "b", token(2, 0))}},
		{fills: []data.Fill{fill(1, 1, 1), fill(2, 2, 1), fill(3, 0, 1)}},
		{fills: []data.Fill{fill(4, 1, 0), fill(5, 3, 2), fill(6, 0, 2)}},
		{markets: []data.Market{market(1, 1, "b", token(1, 0))}},
		{markets: []data.Market{market(2, 1, "b", token(2, 0), token(0, 0))}},
	}
	for _, warm := range []bool{true, false}[:testfiles.Cases(1, 2)] {
		v := newVenue(t, steps)
		if warm {
			v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
		}
		for i, want := range [][2]int{{0, 0}, {2, 0}, {2, 1}, {1, 3}, {0, 3}} {
			if i == 1 { // what is rolled back is forgotten
				v.importWith(3, ingest.Options{DryRun: true})
			}
			v.importStep(i)
			c := v.live.Snapshot().Catalog
			if got := [2]int{c.Event("a").Traders, c.Event("b").Traders}; got != want {
				t.Errorf("warm %t, step %d: %v traders of a and b, want %v", warm, i, got, want)
			}
		}
		v.proved()
		v.close()
	}
}

// A database from before the counts were stored gets them from its migration, without a rebuild,
// whichever of its positions are in deltas.
func TestTheMigrationCountsTradersOfEvents(t *testing.T) {
	testfiles.InLong(t, "TestTradersOfEventsAreThoseOfTheFacts counts them")
	file, err := os.ReadFile(filepath.FromSlash("../engine/schema/migrations/00014_event_wallets.sql"))
	if err != nil {
		t.Fatal(err)
	}
	up, _, _ := strings.Cut(string(file), "-- +goose Down")
	up = strings.ReplaceAll(up, "_tail", "_delta") // the current names of the tables
	var steps []step
	for i := range 2 {
		s := step{markets: []data.Market{{Condition: condition(i), Question: "?", UpdatedAt: start, EventSlug: "a", Outcomes: []string{"x", "y"},
			TokenIDs: []string{token(i, 0), token(i, 1)}}}}
		for w := range 4 {
			s.fills = append(s.fills, data.Fill{Tx: tx(10*i + w), LogIndex: int32(w), TS: start.UnixMicro(), Wallet: address(w + i), TokenID: token(i, w%2),
				Role: data.Taker, Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex})
		}
		steps = append(steps, s)
	}
	v := newVenue(t, steps)
	defer v.close()
	v.importStep(0)
	v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
	v.importStep(1)
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "DROP TABLE event_wallets; DROP TABLE event_wallets_delta;"+up)
		return err
	})
	v.live = &rollups.Live{Venue: v.live.Venue}
	v.write(v.live.Load)
	if n := v.compareEvents(t, []string{"a"}); n != 4 { // of wallets 0 to 4, of which 0 is the venue's own
		t.Errorf("got %d traders, want 4", n)
	}
	v.proved()
}
