package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// tiny is a memory budget in which no record fits, so that all are spilled.
const tiny = 1

var stamp = regexp.MustCompile(`[0-9T.]{19}-`)

// outcome returns the result of an import without values that differ between runs: the receipt, or
// why the file was refused, and the stored rows.
func (v *intake) outcome(path, as string, opts ingest.Options) (r ingest.Receipt, said string, kept string) {
	v.t.Helper()
	r, err := bringAs(context.Background(), v.im, path, as, opts)
	if err != nil {
		said = strings.ReplaceAll(err.Error(), v.at, "")
		said = regexp.MustCompile(`import-\d+`).ReplaceAllString(said, "import")
	}
	if r.RejectedFile != "" && err == nil {
		text, err := os.ReadFile(r.RejectedFile)
		if err != nil {
			v.t.Fatal(err)
		}
		kept = string(text)
	}
	r.RejectedFile, r.Seconds = stamp.ReplaceAllString(filepath.Base(r.RejectedFile), ""), 0
	return r, said, kept
}

// twins are two databases that differ only in the memory that an import may use.
type twins struct {
	wide, tight *intake
	as          string // the feed of the files; "" for the detected one
}

func newTwins(t *testing.T) twins {
	w := twins{wide: open(t), tight: open(t)} // with equal clocks
	w.tight.im.Memory = tiny
	start := time.Now()
	for _, v := range []*intake{w.wide, w.tight} {
		now := start
		v.im.Now = func() time.Time { now = now.Add(time.Second); return now }
	}
	return w
}

func (w twins) load(t *testing.T, name, content string, opts ingest.Options) ingest.Receipt {
	t.Helper()
	r1, said1, kept1 := w.wide.outcome(w.wide.write(name, content), w.as, opts)
	r2, said2, kept2 := w.tight.outcome(w.tight.write(name, content), w.as, opts)
	if diff := cmp.Diff(r1, r2, cmpopts.IgnoreUnexported(ingest.Receipt{})); diff != "" || said1 != said2 {
		t.Fatalf("%s %+v: %q, with little memory %q:\n%s\n%s", name, opts, said1, said2, diff, content)
	}
	if diff := cmp.Diff(kept1, kept2); diff != "" {
		t.Fatalf("%s %+v: the rows kept differ:\n%s\n%s", name, opts, diff, content)
	}
	for _, v := range []*intake{w.wide, w.tight} {
		if left, err := filepath.Glob(filepath.Join(v.im.DB.Dir().Tmp(), "import-*")); err != nil || len(left) > 0 {
			t.Fatalf("%s left %v, %v", name, left, err)
		}
	}
	return r1
}

func (w twins) same(t *testing.T, after string) {
	t.Helper()
	if diff := cmp.Diff(w.wide.facts(), w.tight.facts()); diff != "" {
		t.Fatalf("after %s the databases differ (-wide +tight):\n%s", after, diff)
	}
}

// TestMemoryDoesNotShow: the result of an import does not depend on its memory budget. Receipts,
// rejected rows, refusals and facts are the same for every test file, whole, again, doubled and
// truncated.
func TestMemoryDoesNotShow(t *testing.T) {
	w := newTwins(t)
	files := smallFiles(t)
	for i, path := range slices.Sorted(maps.Keys(files)) {
		name, content := filepath.Base(path), files[path]
		head, err := feeds.ReadHead(w.wide.write(name, content))
		if err != nil {
			continue
		}
		f, err := feeds.Detect(head)
		if err != nil || f.Query != nil {
			continue // DuckDB reads it
		}
		if testfiles.Long() || i%6 == 2 { // a short run does one thing with every other file, in turns
			w.load(t, name, content, ingest.Options{})
		}
		if testfiles.Long() || i%6 == 0 {
			w.load(t, name, content+content, ingest.Options{Correct: true})
		}
		if testfiles.Long() || i%6 == 4 {
			w.load(t, name, content[:len(content)*3/4], ingest.Options{OnError: ingest.RejectFile})
		}
	}
	w.same(t, "all files")
}

// TestMemoryDoesNotShowInConflicts is the same for lists that contradict themselves and each other,
// with and without --correct.
func TestMemoryDoesNotShowInConflicts(t *testing.T) {
	testfiles.InLong(t, "TestMemoryDoesNotShow imports the files of each feed")
	w := newTwins(t)
	rng := rand.New(rand.NewPCG(8, 9))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	conflicts, lists := int64(0), testfiles.Cases(8, 16)
	for range lists {
		var rows strings.Builder
		rows.WriteString(won)
		for range 1 + rng.IntN(30) {
			row := saysAt(pick(yes, no, no, `["0.5","0.5"]`, `["0.5","0.6"]`), pick("map", "winner", "chain"), pick("", "2026-01-01T00:00:00Z"),
				pick("", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"))
			row = strings.TrimSuffix(row, "\n") + pick("", "", "2026-01-01T00:00:00Z", "2026-05-01T00:00:00Z") + "\n"
			rows.WriteString(strings.Replace(row, hashTwo, fmt.Sprintf("0x%064x", 1+rng.IntN(15)), 1))
		}
		r := w.load(t, "winners.csv", rows.String(), ingest.Options{Correct: rng.IntN(3) == 0, DryRun: rng.IntN(5) == 0})
		conflicts += r.Conflicts
		w.same(t, "a list")
	}
	if 2*conflicts < int64(lists) {
		t.Errorf("only %d conflicts were tried", conflicts)
	}
}

// gammaRecord is a record of one of a few markets, with one of a few versions and some of its
// fields.
func gammaRecord(rng *rand.Rand) string {
	maybe := func(key string, values ...string) string {
		if rng.IntN(3) == 0 {
			return ""
		}
		return fmt.Sprintf(`,%q:%s`, key, values[rng.IntN(len(values))])
	}
	n := rng.IntN(12)
	return fmt.Sprintf(`{"conditionId":"0x%064x","question":"Q%d?"%s}`, n+1, rng.IntN(3),
		maybe("updatedAt", `"2026-01-01T00:00:00Z"`, `"2026-01-02T00:00:00Z"`, `"2026-01-02T00:00:00.123456789+02:00"`)+
			maybe("slug", `"a"`, `"b"`, `""`)+maybe("description", `"x"`, `"\u0000y"`, `"é"`)+
			maybe("outcomes", `"[\"Yes\",\"No\"]"`, `[]`, `["A","B","C"]`)+
			maybe("outcomePrices", `"[\"0\",\"1\"]"`, `["0.5","0.5"]`, `["1","0"]`, `["0","0","1"]`)+
			maybe("clobTokenIds", fmt.Sprintf(`["%d1","%d2"]`, n+1, n+1), fmt.Sprintf(`["%d1","%d2","%d3"]`, n+1, n+1, n+1))+
			maybe("closed", "true", "false")+maybe("active", "false", "true")+maybe("negRisk", "false", "true")+
			maybe("bestBid", "0", "0.1", "0.7")+maybe("bestAsk", "0", "0.2", "0.6")+maybe("lastTradePrice", "0", "0.3")+
			maybe("liquidity", "0", `"12.5"`, "-1")+maybe("volume", "0", `"3"`)+
			maybe("closedTime", `"2026-01-03 10:00:00+00"`, `"0001-01-01T00:00:00Z"`)+maybe("endDate", `"2026-01-05T00:00:00Z"`)+
			maybe("umaResolutionStatus", `"resolved"`, `"proposed"`)+maybe("umaEndDate", `"2026-01-04T01:00:00Z"`, `"2026-01-04T02:00:00Z"`)+
			maybe("tags", `[]`, `[{"slug":"politics"}]`, `[{"slug":"weather"},{"slug":"a"}]`))
}

// TestMemoryDoesNotShowInRandomMarkets is the same for records of a few markets in any number,
// order and version.
func TestMemoryDoesNotShowInRandomMarkets(t *testing.T) {
	testfiles.InLong(t, "TestMemoryDoesNotShow imports records of markets from files of each feed")
	w := newTwins(t)
	w.as = "gamma-markets"
	for seed := range uint64(testfiles.Cases(2, 12)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var b strings.Builder
		for range 1 + rng.IntN(60) {
			b.WriteString(gammaRecord(rng) + "\n")
			if rng.IntN(20) == 0 {
				b.WriteString("{\"conditionId\":\"0x12\",\"question\":\"bad\",\"outcomes\":[]}\n")
			}
		}
		w.load(t, "g.ndjson", b.String(), ingest.Options{Correct: rng.IntN(4) == 0})
		if seed%uint64(testfiles.Cases(4, 8)) == 0 {
			w.wide.empty()
			w.tight.empty()
		}
		w.same(t, fmt.Sprint("file ", seed))
	}
}

// TestNothingOfASpillIsLeft: an import that is cancelled or cannot write its spill leaves nothing,
// and the next one is complete.
func TestNothingOfASpillIsLeft(t *testing.T) {
	testfiles.InLong(t, "TestMemoryDoesNotShow imports with so little memory that it spills")
	v, rng := open(t), rand.New(rand.NewPCG(2, 2))
	v.im.Memory = tiny
	var b strings.Builder
	for range 3000 {
		b.WriteString(gammaRecord(rng) + "\n")
	}
	path := v.write("g.ndjson", b.String())
	for _, at := range []int64{0, 1500, 700, 2998}[:testfiles.Cases(2, 4)] {
		ctx, cancel := context.WithCancel(context.Background())
		im := *v.im
		im.Feeds = cancellingFeeds{cancel: cancel, at: at}
		if _, err := bringAs(ctx, &im, path, "gamma-markets", ingest.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at %d: %v", at, err)
		}
		cancel()
		if left, err := os.ReadDir(v.im.DB.Dir().Tmp()); err != nil || len(left) != 1 { // DuckDB's folder
			t.Errorf("left: %v, %v", left, err)
		}
	}
	if r, err := bringAs(context.Background(), v.im, path, "gamma-markets", ingest.Options{}); err != nil || r.Read != 3000 || r.MarketsNew != 12 {
		t.Errorf("r = %+v, err = %v", r, err)
	}
}

// cancellingFeeds is a catalog whose named feeds cancel their import at the given line.
type cancellingFeeds struct {
	feeds.Catalog
	cancel context.CancelFunc
	at     int64
}

func (c cancellingFeeds) ByName(name string) (data.Feed, error) {
	f, err := c.Catalog.ByName(name)
	f.Read = cancelled(f.Read, c.cancel, c.at)
	return f, err
}

// TestWhatRowsSayOfTheirMarkets: of several values for a market in trades the larger is used, in
// any order, read by DuckDB or in Go.
func TestWhatRowsSayOfTheirMarkets(t *testing.T) {
	testfiles.InLong(t, "TestMemoryDoesNotShow imports markets named by trades with little memory and with much")
	v := open(t)
	var want map[string][]string
	for n, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		titles := []string{"", "A title", "B, the larger"}
		csv := "proxyWallet,side,asset,conditionId,size,price,timestamp,title,slug,outcomeIndex,transactionHash\n"
		ndjson := ""
		for _, i := range order {
			csv += fmt.Sprintf("%s,BUY,7%d,%s,12.5,0.41,1700000000,%q,s%d,%d,%s\n", addressA, i%2, hashTwo, titles[i], 9-i, i%2, hashOne)
			ndjson += fmt.Sprintf(`{"proxyWallet":%q,"side":"BUY","asset":"7%d","conditionId":%q,"size":"12.5","price":"0.41","timestamp":1700000000,"title":%q,"slug":"s%d","outcomeIndex":%d,"transactionHash":%q}`+"\n",
				addressA, i%2, hashTwo, titles[i], 9-i, i%2, hashOne)
		}
		for name, content := range map[string]string{"api.csv": csv, "api.ndjson": ndjson} {
			v.empty()
			if r, err := v.load(name, content); err != nil || r.MarketsNew != 1 || r.TokensMapped != 2 {
				t.Fatalf("%s: r = %+v, err = %v", name, r, err)
			}
			got := map[string][]string{"markets": v.facts()["markets"], "tokens": v.facts()["tokens"]}
			if want == nil {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got["markets"][0], "B, the larger") || !strings.Contains(got["markets"][0], "s9") {
				t.Errorf("%s in order %d: %v\n%s", name, n, got, diff)
			}
		}
	}
}

// TestManyBadRowsAreAllKept: more bad rows than are read at a time are each stored once, in the
// order of the file.
func TestManyBadRowsAreAllKept(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt rejects rows of many feeds")
	v := open(t)
	var b strings.Builder
	b.WriteString("proxyWallet,side,asset,conditionId,size,price,timestamp,title,outcome,outcomeIndex,name,transactionHash\n")
	const rows = 120_000
	for n := range rows {
		price := "0.41"
		if n != 70_000 {
			price = "x"
		}
		fmt.Fprintf(&b, "%s,BUY,71,,12.5,%s,1700000000,T,No,1,Ann,%s\n", addressA, price, hashOne)
	}
	r, err := v.bring(v.write("api.csv", b.String()), ingest.Options{})
	if err != nil || r.Inserted != 1 || r.RejectedRows() != rows-1 {
		t.Fatalf("r = %+v, err = %v", r, err)
	}
	text, err := os.ReadFile(r.RejectedFile)
	if err != nil {
		t.Fatal(err)
	}
	line := 1
	for row := range strings.Lines(string(text)) {
		if line++; line == 70_002 {
			line++
		}
		if !strings.Contains(row, fmt.Sprintf(`"line":%d,`, line)) {
			t.Fatalf("%s, want line %d", row, line)
		}
	}
	if line != rows+1 {
		t.Errorf("the last line is %d", line)
	}
}

// cancelled calls cancel at the given line of a file.
func cancelled(read func(context.Context, data.Source, io.Reader, data.Sink) error, cancel func(), at int64,
) func(context.Context, data.Source, io.Reader, data.Sink) error {
	return func(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
		return read(ctx, src, r, &cancelling{sink, cancel, at})
	}
}

type cancelling struct {
	data.Sink
	cancel func()
	at     int64
}

func (c *cancelling) Market(line int64, m data.Market) error {
	if line > c.at {
		c.cancel()
	}
	return c.Sink.Market(line, m)
}
