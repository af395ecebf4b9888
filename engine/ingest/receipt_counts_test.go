package ingest_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine/ingest"

	"pmx/data/testfiles"
)

// accounted returns the sum of the counts of a receipt.
func accounted(t testing.TB, r ingest.Receipt) int64 {
	t.Helper()
	f, err := feeds.ByName(r.Feed)
	if err != nil {
		t.Fatal(err)
	}
	sum := r.AlreadyThere + r.Identical + r.Superseded + r.Waiting + r.RejectedRows() + r.PassedRows()
	if below := negative(reflect.ValueOf(r)); below {
		t.Errorf("%s: a negative count in %+v", r.File, r)
	}
	switch f.Kind {
	case data.KindFills:
		return sum + r.Inserted + r.PayoutRows
	case data.KindWeather:
		return sum + r.Forecasts + r.Actuals + r.Observations + r.Normals
	case data.KindReference: // mappings also create markets, for which there is no row
		return sum + r.TokensMapped + r.Blocks
	default:
		return sum + r.MarketsNew + r.MarketsChanged
	}
}

// negative reports whether any number in v is below 0.
func negative(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Int64:
		return v.Int() < 0
	case reflect.Struct:
		for i := range v.NumField() {
			if negative(v.Field(i)) {
				return true
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if negative(v.MapIndex(key)) {
				return true
			}
		}
	}
	return false
}

// smallFiles returns the test files of the feeds; those below feeds/whole have every feed. A long
// run adds the slices and the captured files, if there are any.
func smallFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	folders := []string{testfiles.Path("feeds", "whole"), testfiles.Path("feeds", "canonical-1")}
	if testfiles.Long() {
		captured, _ := testfiles.Beside()
		folders = []string{testfiles.Path("feeds"), captured}
	}
	for _, dir := range folders {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > 4_500 {
				return err
			}
			if !testfiles.Long() && filepath.Base(dir) == "canonical-1" && filepath.Ext(path) != ".parquet" {
				return nil // feeds/whole has text of the same feeds
			}
			content, err := os.ReadFile(path)
			files[path] = string(content)
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return files
}

// TestTheReceiptCountsEachRowOnce: for every file, imported whole, again, doubled and truncated,
// the counts of the receipt add up to the rows read.
func TestTheReceiptCountsEachRowOnce(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt counts the rows of every feed")
	v := open(t)
	seen := map[string]bool{}
	load := func(at, content string) ingest.Receipt {
		path := v.write(filepath.Base(at), content)
		head, err := feeds.ReadHead(path)
		if err != nil {
			return ingest.Receipt{}
		}
		if _, err := feeds.Detect(head); err != nil {
			return ingest.Receipt{} // one that pmx refuses
		}
		r, err := v.bring(path, ingest.Options{})
		if err != nil {
			return ingest.Receipt{} // refused as a whole
		}
		if sum := accounted(t, r); sum != r.Read {
			t.Errorf("%s: the parts add up to %d of %d read: %+v", at, sum, r.Read, r)
		}
		seen[r.Feed] = seen[r.Feed] || r.Read > r.RejectedRows()
		return r
	}
	files := smallFiles(t)
	for i, path := range slices.Sorted(maps.Keys(files)) {
		content := files[path]
		if testfiles.Long() || i%2 == 0 { // a short run does one thing with a file, in turns
			first := load(path, content)
			again := load(path, content)
			if first.Read != again.Read {
				t.Errorf("%s has %d rows, then %d", path, first.Read, again.Read)
			}
			if n := again.Inserted + again.MarketsNew + again.MarketsChanged + again.TokensMapped + again.Blocks; n > 0 {
				t.Errorf("%s adds %d new things again: %+v", path, n, again)
			}
		}
		if strings.Contains(filepath.ToSlash(path), "/feeds/slices/") {
			continue // feeds/whole has a smaller file of each feed to double and cut
		}
		if testfiles.Long() || i%4 == 1 {
			load(path, content+content)
		}
		if testfiles.Long() || i%4 == 3 {
			load(path, content[:len(content)*2/3])
		}
	}
	if len(seen) < 30 {
		t.Errorf("only the feeds %v were read", seen)
	}
}

// TestABlockHasOneTime: of two times of a block in one file one is used, and the other is counted
// as identical.
func TestABlockHasOneTime(t *testing.T) {
	v := open(t)
	path := filepath.Join(v.at, "blocks.parquet")
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := writer.Exec(`COPY (SELECT * FROM (VALUES (7, '2026-01-02T03:04:05Z'), (7, '2026-01-02T03:04:09Z'),
		(8, '2026-01-02T03:04:07Z'), (-1, 'x')) AS b(block_number, timestamp)) TO '` + path + `' (FORMAT parquet)`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []ingest.Receipt{{Blocks: 2, Identical: 1}, {AlreadyThere: 2, Identical: 1}} {
		r, err := v.bring(path, ingest.Options{})
		if err != nil || r.Read != 4 || r.Blocks != want.Blocks || r.Identical != want.Identical || r.AlreadyThere != want.AlreadyThere ||
			r.RejectedRows() != 1 || accounted(t, r) != 4 {
			t.Errorf("err = %v, r = %+v, want %+v", err, r, want)
		}
	}
	v.each(func(ctx context.Context, conn *sql.Conn) error {
		var n, first int64
		err := conn.QueryRowContext(ctx, "SELECT count(*), min(ts) FROM blocks").Scan(&n, &first)
		if err == nil && (n != 2 || first != 1767323045000000) {
			t.Errorf("%d blocks from %d", n, first)
		}
		return err
	})
}

// TestAMissingListTakesNoSpace: of two records with one version, lists that only one has are
// kept, in either order and between imports.
func TestAMissingListTakesNoSpace(t *testing.T) {
	v := open(t)
	record := func(extra string) string {
		return `{"id":"12","question":"Q?","conditionId":"` + hashOne + `","updatedAt":"2026-01-25T00:21:37Z"` + extra + `}`
	}
	const tokens = `,"outcomes":"[\"Yes\", \"No\"]","clobTokenIds":"[\"7\", \"8\"]"`
	full := record(tokens + `,"tags":[{"slug":"weather"}],"outcomePrices":"[\"0.4\", \"0.6\"]"`)
	thin := record(tokens)
	var want []string
	for _, files := range [][]string{{full}, {full, thin}, {thin, full}, {full, thin, thin}, {thin, full, full}} {
		v.empty()
		for _, content := range files {
			if _, err := v.load("gamma.json", "["+content+"]"); err != nil {
				t.Fatal(err)
			}
		}
		got := v.facts()["markets"]
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(strings.Join(got, ""), "weather") {
			t.Errorf("%d files (-want +got):\n%s", len(files), diff)
		}
	}
}

// TestTwoTimesOfABlockAreAConflict: the earlier one is used, whichever file came first, and the
// receipt of the other file reports it.
func TestTwoTimesOfABlockAreAConflict(t *testing.T) {
	v := open(t)
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for _, times := range [][]string{{"05", "09"}, {"09", "05"}} {
		v.each(func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "DELETE FROM blocks")
			return err
		})
		var last ingest.Receipt
		for i, second := range times {
			path := filepath.Join(v.at, "b.parquet")
			if _, err := writer.Exec(`COPY (SELECT 7 AS block_number, '2026-01-02T03:04:` + second + `Z' AS timestamp) TO '` + path + `' (FORMAT parquet)`); err != nil {
				t.Fatal(err)
			}
			if last, err = v.bring(path, ingest.Options{}); err != nil || accounted(t, last) != 1 || last.Conflicts != int64(i) {
				t.Errorf("%v, file %d: err = %v, last = %+v", times, i, err, last)
			}
		}
		if got := v.lines("SELECT ts FROM blocks"); got != "1767323045000000|\n" || !cmp.Equal(last.ConflictBlocks, []int64{7}) || len(v.kept(last)) != 1 {
			t.Errorf("%v: got %q, last = %+v", times, got, last)
		}
	}
}

// TestTokensOfAMarketAreNoRows: the tokens that a record names besides its list, and those of lists
// that are not used, are not counted as rows of mappings. Records that repeat another are counted
// as identical.
func TestTokensOfAMarketAreNoRows(t *testing.T) {
	row := hashOne + `,Q?,[],[],"[""1:72"",""0:71""]"` + "\n"
	listed := func(tokens, day string) string {
		return `{"id":"1","conditionId":"` + hashOne + `","question":"Q?","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[` + tokens + `]","updatedAt":"2026-01-` + day + `T00:00:00Z"}` + "\n"
	}
	mapping := func(token string) string {
		return `{"id":"` + token + `","condition":"` + hashOne + `","outcomeIndex":"0"}` + "\n"
	}
	for name, c := range map[string]struct {
		file, content string
		want, again   map[string]int64
	}{
		"one row":  {"m.csv", mappedHeader + row, map[string]int64{"read": 1, "markets": 1, "tokens": 2}, map[string]int64{"read": 1, "already there": 1}},
		"repeated": {"m.csv", mappedHeader + row + row + row, map[string]int64{"read": 3, "markets": 1, "identical": 2, "tokens": 2}, map[string]int64{"read": 3, "already there": 1, "identical": 2}},
		"two lists": {"g.ndjson", listed(`\"71\",\"72\"`, "03") + listed(`\"73\",\"74\"`, "04"),
			map[string]int64{"read": 2, "markets": 1, "identical": 1, "tokens": 4}, map[string]int64{"read": 2, "already there": 1, "identical": 1}},
		"mappings": {"p.ndjson", mapping("71") + mapping("72") + mapping("71"),
			map[string]int64{"read": 3, "markets": 1, "identical": 1, "tokens": 2}, map[string]int64{"read": 3, "already there": 2, "identical": 1}},
	} {
		v := open(t)
		for i, want := range []map[string]int64{c.want, c.again} {
			r, err := v.load(c.file, c.content)
			if err != nil || accounted(t, r) != r.Read {
				t.Errorf("%s: r = %+v, err = %v", name, r, err)
			}
			got := counts(r)
			got["read"] = r.Read
			for _, of := range []string{"header", "blank", "remarks", "continued"} {
				delete(got, of)
			}
			maps.DeleteFunc(got, func(_ string, n int64) bool { return n == 0 })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, import %d (-want +got):\n%s", name, i+1, diff)
			}
		}
	}
}

// TestARefusedFileHasNoCounts: the receipt of a refused file has no counts, however much of it was
// read.
func TestARefusedFileHasNoCounts(t *testing.T) {
	v := open(t)
	rows := wholeLine("events.ndjson", 0) + "\n"
	for name, content := range map[string]string{"cut.json": "[" + strings.TrimSpace(rows) + ",{", "bad.ndjson": rows + "{\n"} {
		for _, memory := range []int{0, tiny} {
			v.im.Memory = memory
			r, err := v.bring(v.write(name, content), ingest.Options{OnError: ingest.RejectFile})
			want := ingest.Receipt{File: name, Feed: "subgraph-order-filled", Rule: r.Rule}
			if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(r)); diff != "" || !errors.Is(err, ingest.ErrFileRefused) || r.Rule == "" {
				t.Errorf("%s, memory %d: %v (-want +got):\n%s", name, memory, err, diff)
			}
		}
	}
}
