package ingest_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine"
)

// drawLogged draws fills of few transactions, in most cases each with its log: some repeat or contradict earlier
// ones, or are on another day.
func drawLogged(rng *rand.Rand, now time.Time) (fills []numbered, logged bool) {
	logs := []int{0, 0, 0, 1, 2}[rng.IntN(5)] // all, none or half have it
	for range 1 + rng.IntN(6) {
		tx := rng.IntN(90)
		day := tx % 3
		if rng.IntN(8) == 0 {
			day = rng.IntN(6)
		}
		f := data.Fill{TS: now.Add(-time.Duration(day) * 24 * time.Hour).UnixMicro(), Tx: data.Hash{0: byte(tx), 31: 1}, LogIndex: int32(rng.IntN(3)),
			Outcome: data.NoIndex, Wallet: data.Address{byte(rng.IntN(2))}, TokenID: "9", Side: data.Side(rng.IntN(2)), Shares: 5, USD: data.Micro(1 + rng.IntN(2)), Fee: data.Micro(rng.IntN(2))}
		if logs == 1 || logs == 2 && rng.IntN(2) == 0 {
			f.LogIndex = data.NoIndex
		}
		fills = append(fills, numbered{int64(len(fills)), f})
	}
	return fills, logs == 0
}

// TestHeldTransactionsLeaveTheFactsAsTheyAre: an importer that holds the transactions of its last
// days gives the same facts and receipts as one that queries the database each time.
func TestHeldTransactionsLeaveTheFactsAsTheyAre(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	skipped, skippedLogless, asked := 0, 0, 0
	for seed := range uint64(testfiles.Cases(1, 4)) {
		rng := rand.New(rand.NewPCG(seed, 17))
		held := openWith(t, func(o *engine.Options) {
			o.OnStatement = func(text string) {
				if strings.Contains(text, "SEMI JOIN s_fill AS s ON s.tx = f.tx LIMIT 1") || strings.HasPrefix(text, "CREATE OR REPLACE TEMP TABLE e_fill") {
					asked++
				}
			}
		})
		fresh := open(t)
		for _, v := range []*intake{held, fresh} {
			v.im.Now = func() time.Time { return now }
		}
		for n := range testfiles.Cases(18, 30) {
			fills, logged := drawLogged(rng, now)
			before := asked
			got := held.append(rowsOf(fills, n%9 == 8)) // with a bad row the statements are run
			want := fresh.append(rowsOf(fills, true))
			if n%9 != 8 {
				want.Read--
				want.Rejected = got.Rejected
			}
			if asked == before && n%9 != 8 {
				if skipped++; !logged {
					skippedLogless++
				}
			}
			got.Seconds, got.RejectedFile, want.RejectedFile = want.Seconds, "", ""
			gotJSON, _ := json.Marshal(got)
			wantJSON, _ := json.Marshal(want)
			if diff := cmp.Diff(string(wantJSON), string(gotJSON)); diff != "" {
				t.Fatalf("seed %d, batch %d: receipt of %+v (-asked +held):\n%s", seed, n, fills, diff)
			}
		}
		if diff := cmp.Diff(fresh.facts(), held.facts()); diff != "" {
			t.Fatalf("seed %d: facts (-asked +held):\n%s", seed, diff)
		}
	}
	if skipped == 0 || skippedLogless == 0 || asked == 0 {
		t.Errorf("the database was queried %d times about transactions, and %d times not, %d of these for fills without logs", asked, skipped, skippedLogless)
	}
}

// TestLaterBatchesSeeWhatWasAdded: fills of a batch, and of a file that statements read,
// are known to later batches, although the transactions of their day are held.
func TestLaterBatchesSeeWhatWasAdded(t *testing.T) {
	v := open(t)
	now := time.Unix(1_700_000_000, 0)
	v.im.Now = func() time.Time { return now }
	fill := func(tx byte) []numbered {
		return []numbered{{1, data.Fill{TS: now.UnixMicro(), Tx: data.Hash{0: tx, 31: 1}, LogIndex: 1, Outcome: data.NoIndex, Wallet: data.Address{1}, TokenID: "9", Shares: 5, USD: 1}}}
	}
	for tx := range byte(4) {
		if r := v.append(rowsOf(fill(tx), false)); r.Inserted != 1 {
			t.Fatalf("fill %d: %+v", tx, r)
		}
	}
	for tx := range byte(4) { // the last ones were added to what was held
		if r := v.append(rowsOf(fill(tx), false)); r.AlreadyThere != 1 {
			t.Errorf("fill %d once more: %+v", tx, r)
		}
	}
	if r := v.append(rowsOf(fill(9), true)); r.Inserted != 1 {
		t.Fatalf("the fill that statements read: %+v", r)
	}
	for range 3 {
		if r := v.append(rowsOf(fill(9), false)); r.Inserted != 0 || r.AlreadyThere != 1 {
			t.Errorf("a fill that came before is %+v", r)
		}
	}
}
