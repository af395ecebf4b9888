package keeper_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/rollups"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// manyMarkets is the number of markets, with two tokens each, that the fills of eventRows belong
// to.
const manyMarkets = 5

// eventRows returns n random fills of the tokens of manyMarkets; with log, those of a better
// source, which replace the same fills.
func eventRows(rng *rand.Rand, n int, log bool) string {
	var b strings.Builder
	b.WriteString(plainFills)
	if log {
		b.Reset()
		b.WriteString(strings.Replace(plainFills, "tx,", "tx,log_index,", 1))
	}
	for range n {
		tx := rng.IntN(600)
		fmt.Fprintf(&b, "0x%064x,", 100+tx)
		if log {
			fmt.Fprintf(&b, "%d,", rng.Int32())
		}
		fmt.Fprintf(&b, "2026-03-01T10:00:%02dZ,0x%040x,taker,%d,%s,%d,%d,0\n", tx%60, 1+tx%13, 70+tx%(2*manyMarkets), []string{"BUY", "SELL"}[tx/7%2], 5+rng.IntN(2), 2+rng.IntN(2))
	}
	return b.String()
}

// compareTraders compares the traders of some of the markets, in any order, as those of an event.
func compareTraders(t *testing.T, k *keeper.Keeper, rng *rand.Rand, snap *serving.Snapshot) {
	t.Helper()
	r := k.Reader()
	for range testfiles.Cases(4, 20) {
		markets := make([]int32, 0, manyMarkets)
		for _, id := range rng.Perm(manyMarkets)[rng.IntN(manyMarkets):] {
			markets = append(markets, int32(id))
		}
		n := []int{1 << 20, 1 + rng.IntN(9)}[rng.IntN(2)]
		want, err := r.Reader.EventTraders(context.Background(), snap, markets, n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.EventTraders(context.Background(), snap, markets, n)
		if diff := godiff.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("the first %d traders of markets %d (-database +reader): %v\n%s", n, markets, err, diff)
		}
		got, ok, err := r.RankTogether(snap, markets, n)
		if diff := godiff.Diff(want, got); ok && diff != "" || err != nil {
			t.Fatalf("the first %d traders of markets %d (-database +two goroutines): %v\n%s", n, markets, err, diff)
		}
		all := !slices.ContainsFunc(markets, func(id int32) bool { return !r.MarketInMemory(id, snap.Catalog.Tokens(id), snap.Batch) })
		if ok != all {
			t.Fatalf("two goroutines rank the traders of markets %d: %t", markets, ok)
		}
	}
}

// Traders of several markets are those of the database, also if fills of some tokens were replaced
// (only the markets of these are then read from the database), and as of a snapshot before the
// newest.
func TestTradersOfMarketsAreTheDatabases(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	k := open(t, t.TempDir())
	var markets strings.Builder
	for i := range manyMarkets {
		markets.WriteString(described(fmt.Sprint(i+1), fmt.Sprintf(`"%d","%d"`, 70+2*i, 71+2*i), "Rules.", 2025))
	}
	mustImport(t, k, write(t, "markets.ndjson", markets.String()))
	mustImport(t, k, write(t, "first.csv", eventRows(rng, 900, false)))
	k = reopen(t, k)
	compareTraders(t, k, rng, k.Snapshot())
	inFile := func() (n int) {
		snap := k.Snapshot()
		for id := range int32(manyMarkets) {
			if k.Reader().MarketInMemory(id, snap.Catalog.Tokens(id), snap.Batch) {
				n++
			}
		}
		return n
	}
	for id := range int32(manyMarkets) {
		if trades := k.Snapshot().Catalog.Figures(id).Trades; trades < 3*rollups.NewestFills {
			t.Fatalf("market %d has %d fills, which should all be in the file", id, trades)
		}
	}
	if n := inFile(); n != manyMarkets {
		t.Fatalf("%d of %d markets are in the file", n, manyMarkets)
	}
	var some bool
	for round := range testfiles.Cases(4, 8) {
		before := k.Snapshot()
		mustImport(t, k, write(t, "next.csv", eventRows(rng, 1+2*round, round%2 == 1)))
		compareTraders(t, k, rng, k.Snapshot())
		compareTraders(t, k, rng, before)
		n := inFile()
		some = some || 0 < n && n < manyMarkets
		if round == 5 {
			k = reopen(t, k)
		}
	}
	if !some {
		t.Error("there was no case with some markets in the file and some not")
	}
	k.AllowSegmentBuild()
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	compareTraders(t, k, rng, k.Snapshot())
	if n := inFile(); n != manyMarkets {
		t.Errorf("%d of %d markets are in the next file", n, manyMarkets)
	}
}
