package feeds_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds/polygon"
	"pmx/data/testfiles"
)

func batchOf(logs ...chainLog) *polygon.Batch {
	b := polygon.NewBatch(chain.Contracts())
	for _, l := range logs {
		b.Add([]byte(l.json()))
	}
	return b
}

func rowsOf(t testing.TB, batches ...*polygon.Batch) *collect {
	c := &collect{}
	if err := polygon.Rows(batches)(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestABatchGivesTheRowsOfTheFile, however often Rows is used.
func TestABatchGivesTheRowsOfTheFile(t *testing.T) {
	path := testfiles.Path("feeds", "whole", "logs.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, path)
	b := polygon.NewBatch(chain.Contracts())
	var answers []struct{ Result json.RawMessage }
	if err := json.Unmarshal(text, &answers); err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if _, _, err := chain.Members([]byte(`{"result":`+string(a.Result)+`}`), "result", func(log []byte) error { b.Add(log); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		got := rowsOf(t, b)
		for i := range got.fills {
			got.fills[i].Row = want.fills[i].Row
		}
		if diff := cmp.Diff(want.fills, got.fills); diff != "" || len(got.fills) == 0 {
			t.Errorf("fills (-file +batch):\n%s", diff)
		}
		if diff := cmp.Diff([]any{want.tokens, want.resolutions, want.notes}, []any{got.tokens, got.resolutions, got.notes}); diff != "" {
			t.Errorf("rows (-file +batch):\n%s", diff)
		}
	}
	if b.Fills() != int64(len(want.fills)) || b.Logs() < b.Fills()+int64(len(want.resolutions)) || len(b.Faults()) != 0 {
		t.Errorf("%d fills of %d logs, faults %v", b.Fills(), b.Logs(), b.Faults())
	}
}

// TestTheOrderOfLogsDoesNotMatter for the rows, nor for the digest. The digest of two ranges
// together is the sum of their digests.
func TestTheOrderOfLogsDoesNotMatter(t *testing.T) {
	logs := []chainLog{soldV2(1, alice, bob, 6, 0), boughtV2(2, bob, exchangeV2, 6, 0), boughtV1(5, 1, alice, bob, 100, 10), boughtV1(6, 9, bob, exchangeV1, 100, 0),
		refundV1(9, 1, alice, 71, 8, 2)}
	later := boughtV2(15, alice, bob, 10, 0)
	later.Block = "0x576a001"
	logs = append(logs, later)
	whole := batchOf(logs...)
	want := rowsOf(t, whole)
	rapid.Check(t, func(rt *rapid.T) {
		mixed := rapid.Permutation(logs).Draw(rt, "order")
		mixed = append(mixed, mixed[:rapid.IntRange(0, 2).Draw(rt, "twice")]...)
		b := batchOf(mixed...)
		if b.Digest() != whole.Digest() {
			rt.Errorf("digest %x, want %x", b.Digest(), whole.Digest())
		}
		if b.Logs() != int64(len(logs)) || b.Fills() != int64(len(want.fills)) {
			rt.Errorf("%d logs and %d fills, each counted once", b.Logs(), b.Fills())
		}
		got := rowsOf(t, b)
		seen := map[int32]int{}
		for _, f := range got.fills {
			i := slices.IndexFunc(want.fills, func(w numbered) bool { return w.Fill.Block == f.Fill.Block && w.LogIndex == f.LogIndex })
			f.Row = want.fills[i].Row
			if diff := cmp.Diff(want.fills[i], f); diff != "" {
				rt.Error(diff)
			}
			seen[f.LogIndex]++
		}
		cut := rapid.IntRange(0, len(logs)).Draw(rt, "cut")
		if sum := batchOf(logs[:cut]...).Digest() + batchOf(logs[cut:]...).Digest(); sum != whole.Digest() {
			rt.Errorf("digests of parts add up to %x, want %x", sum, whole.Digest())
		}
		if cut < len(logs) && batchOf(logs[:cut]...).Digest() == whole.Digest() {
			rt.Error("fewer logs have the same digest")
		}
	})
	parts := rowsOf(t, batchOf(logs[:5]...), batchOf(logs[5:]...))
	if diff := cmp.Diff(want.fills, parts.fills); diff != "" {
		t.Errorf("two batches in a row:\n%s", diff)
	}
}

// TestDoubtsAboutLogs: everything that shows that logs are missing, or are not the requested ones,
// is a doubt.
func TestDoubtsAboutLogs(t *testing.T) {
	const block = 91660288
	maker, taker := soldV2(5, alice, bob, 100, 0), boughtV2(8, bob, exchangeV2, 100, 0)
	in := func(l chainLog, hash any) chainLog { l.BlockHash = "0x" + hexWord(hash); return l }
	gone := taker
	gone.Removed = true
	undated := maker
	undated.Time = ""
	bad := maker
	bad.Data = "0x12"
	var end data.Hash
	end[31] = 7
	for name, tc := range map[string]struct {
		logs     []chainLog
		from, to int64
		end      data.Hash
		want     string
	}{
		"nothing":                {from: block, to: block + 9},
		"whole":                  {logs: []chainLog{maker, taker}, from: block, to: block},
		"the taker is missing":   {logs: []chainLog{maker}, from: block, to: block, want: "maker_without_taker"},
		"the makers are missing": {logs: []chainLog{taker}, from: block, to: block, want: "taker_without_maker"},
		"too late":               {logs: []chainLog{maker, taker}, from: block - 5, to: block - 1, want: "log_outside log_outside"},
		"too early":              {logs: []chainLog{maker, taker}, from: block + 1, to: block + 5, want: "log_outside log_outside"},
		"of the last block":      {logs: []chainLog{in(maker, 7), in(taker, 7)}, from: block, to: block, end: end},
		"of another block":       {logs: []chainLog{in(maker, 8), in(taker, 8)}, from: block, to: block, end: end, want: "other_end other_end"},
		"not of the last block":  {logs: []chainLog{in(maker, 8), in(taker, 8)}, from: block, to: block + 1, end: end},
		"of two blocks":          {logs: []chainLog{in(maker, 8), in(taker, 9)}, from: block, to: block + 1, end: end, want: "other_block"},
		"taken back":             {logs: []chainLog{maker, gone}, from: block, to: block, want: "maker_without_taker removed_log"},
		"unreadable":             {logs: []chainLog{maker, taker, bad}, from: block, to: block, want: "unreadable_log"},
	} {
		var got []string
		for _, d := range batchOf(tc.logs...).Doubts(tc.from, tc.to, tc.end) {
			got = append(got, d.Why)
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%s: %q, want %q", name, s, tc.want)
		}
	}
	b := batchOf(undated, taker)
	if u := b.Undated(); len(u) != 1 || !u[block].IsZero() {
		t.Errorf("undated %v", u)
	}
	b.Date(map[int64]int64{block: 1786195459})
	if c := rowsOf(t, b); len(b.Undated()) != 0 || c.fills[0].TS != 1786195459_000000 {
		t.Errorf("%+v", c.fills)
	}
}

// TestUnreadableLogsAreRejected with their text, and logs with nothing to keep are counted.
func TestUnreadableLogsAreRejected(t *testing.T) {
	bad := soldV2(5, alice, bob, 100, 0)
	bad.Data = "0x12"
	c := rowsOf(t, batchOf(bad, newLog(7, exchangeV1, []any{topicMatched, 1, alice}, 0, 71, 5, 10)))
	if len(c.rejects) != 1 || c.rejects[0].Reason != "bad_words" || c.rejects[0].Detail == "" || c.passed["orders_matched"] != 1 {
		t.Errorf("%+v", c)
	}
}

// TestABatchIsEmptyBehindItsRelease, and the batch that uses its memory next has none of its logs.
func TestABatchIsEmptyBehindItsRelease(t *testing.T) {
	logs := []chainLog{soldV2(1, alice, bob, 6, 0), boughtV2(2, bob, exchangeV2, 6, 0), boughtV1(5, 1, alice, bob, 100, 10), boughtV1(6, 9, bob, exchangeV1, 100, 0),
		refundV1(9, 1, alice, 71, 8, 2)}
	b := batchOf(logs...)
	want := rowsOf(t, b)
	b.Release()
	if b.Events() != 0 || b.Fills() != 0 || b.Logs() != 0 || b.Digest() != 0 || len(rowsOf(t, b).fills) != 0 {
		t.Errorf("%d events, %d fills, %d logs are left", b.Events(), b.Fills(), b.Logs())
	}
	for n := range len(logs) {
		part := batchOf(logs[n:]...)
		if part.Logs() != int64(len(logs)-n) {
			t.Errorf("%d logs, want %d", part.Logs(), len(logs)-n)
		}
		part.Release()
		again := batchOf(logs...)
		if diff := cmp.Diff(want.fills, rowsOf(t, again).fills); diff != "" {
			t.Errorf("in memory that was used before (-before +again):\n%s", diff)
		}
		again.Release()
	}
}
