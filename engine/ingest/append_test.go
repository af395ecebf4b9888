package ingest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine/ingest"
)

// inMemory returns the contents of a file as rows in memory. Within writes to the table of blocks,
// because the import itself does not use it.
func (v *intake) inMemory(path string) ingest.Rows {
	v.t.Helper()
	head, err := feeds.ReadHead(path)
	if err != nil {
		v.t.Fatal(err)
	}
	feed, err := feeds.Detect(head)
	if err != nil {
		v.t.Fatal(err)
	}
	if feed.Read == nil {
		v.t.Fatalf("%s is read by the database", feed.Name)
	}
	return ingest.Rows{Feed: feed, Name: "a batch", Read: func(ctx context.Context, s data.Sink) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return feed.Read(ctx, data.Source{Path: path, Format: head.Format}, f, s)
	}, Within: func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO late_days SELECT count(*), 1 FROM late_days")
		return err
	}}
}

func (v *intake) append(rows ingest.Rows) ingest.Receipt {
	v.t.Helper()
	return v.appendWith(rows, ingest.Options{})
}

func (v *intake) appendWith(rows ingest.Rows, opts ingest.Options) ingest.Receipt {
	v.t.Helper()
	r, err := v.im.Append(context.Background(), rows, opts)
	if err != nil {
		v.t.Fatal(err)
	}
	return r
}

// TestRowsOfMemoryAreThoseOfTheFile: facts and receipts are equal, even if the rows were imported
// the other way before.
func TestRowsOfMemoryAreThoseOfTheFile(t *testing.T) {
	file, memory := open(t), open(t)
	paths := []string{chainFill(t, file, 12)["polygon-logs"], "../../testdata/feeds/slices/polygon-logs", "../../testdata/feeds/slices/gamma-events"}
	for i, path := range paths {
		if files, err := os.ReadDir(path); err == nil {
			paths[i] = path + "/" + files[0].Name()
		}
	}
	for _, again := range []bool{false, true} {
		for _, path := range paths {
			if again {
				file, memory = memory, file
			}
			want, err := file.bring(path, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := memory.append(memory.inMemory(path))
			got.File, got.Seconds, got.Lines, got.RejectedFile = want.File, want.Seconds, want.Lines, want.RejectedFile
			wantJSON, _ := json.Marshal(want)
			gotJSON, _ := json.Marshal(got)
			if diff := cmp.Diff(string(wantJSON), string(gotJSON)); diff != "" {
				t.Errorf("%s: receipt (-file +memory):\n%s", path, diff)
			}
			if again {
				file, memory = memory, file
			}
		}
		if diff := cmp.Diff(file.facts(), memory.facts()); diff != "" {
			t.Errorf("facts (-file +memory):\n%s", diff)
		}
	}
	if len(file.facts()["fills"]) == 0 {
		t.Error("there is no fill to compare")
	}
}

// TestWithinIsOfTheTransactionOfTheRows: with new rows, with known ones, with none, and if reading
// or Within fails.
func TestWithinIsOfTheTransactionOfTheRows(t *testing.T) {
	v := open(t)
	rows := v.inMemory(chainFill(t, v, 0)["polygon-logs"])
	count := func(table string) string {
		return strings.TrimSuffix(v.lines("SELECT count(*) FROM "+table), "|\n")
	}
	want := func(when, facts, logged, within string) {
		t.Helper()
		if f, l, w := count("fills"), count("batches"), count("late_days"); f != facts || l != logged || w != within {
			t.Errorf("%s: %s fills, %s lines in the import log, %s in the ledger; want %s, %s, %s", when, f, l, w, facts, logged, within)
		}
	}
	own := errors.New("no more")
	failing := rows
	failing.Within = func(ctx context.Context, conn *sql.Conn) error { return errors.Join(own, rows.Within(ctx, conn)) }
	if _, err := v.im.Append(t.Context(), failing, ingest.Options{}); !errors.Is(err, own) {
		t.Errorf("err = %v", err)
	}
	want("the ledger failed", "0", "0", "0")
	unread := rows
	unread.Read = func(ctx context.Context, s data.Sink) error { return errors.Join(rows.Read(ctx, s), own) }
	if _, err := v.im.Append(t.Context(), unread, ingest.Options{}); !errors.Is(err, own) || errors.Is(err, ingest.ErrFileRefused) {
		t.Errorf("err = %v", err)
	}
	want("the reading failed", "0", "0", "0")
	if _, err := v.im.Append(t.Context(), rows, ingest.Options{DryRun: true}); err != nil {
		t.Error(err)
	}
	want("a dry run", "0", "0", "0")
	if r := v.append(rows); r.Inserted != 1 {
		t.Errorf("%+v", r)
	}
	want("new", "1", "1", "1")
	if r := v.append(rows); r.Inserted != 0 || r.AlreadyThere != 1 {
		t.Errorf("%+v", r)
	}
	want("known", "1", "1", "2")
	rows.Read = nil
	v.append(rows)
	want("none", "1", "1", "3")
	rows.Within = nil
	v.append(rows)
	want("nothing at all", "1", "1", "3")
}

// TestTheImportLogOfBatchesIsShort: it has no zero values, and no values of its columns.
func TestTheImportLogOfBatchesIsShort(t *testing.T) {
	v := open(t)
	v.append(v.inMemory(chainFill(t, v, 0)["polygon-logs"]))
	want := `a batch|polygon-logs|{"buy_usd":10,"inserted":1,"notes":{"maker_without_taker":1},"read":1,"unmapped":1}|` + "\n"
	if got := v.lines("SELECT file, feed, receipt FROM batches"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRejectedRowsOfMemoryAreKept like those of files.
func TestRejectedRowsOfMemoryAreKept(t *testing.T) {
	v := open(t)
	r := v.append(ingest.Rows{Feed: data.Feed{Name: "polygon-logs", Kind: data.KindFills}, Name: "a batch", Read: func(_ context.Context, s data.Sink) error {
		return s.Reject(7, "bad_words", "", "the log")
	}})
	if kept := v.kept(r); r.Rejected["bad_words"] != 1 || len(kept) != 1 || !strings.Contains(kept[0], "the log") {
		t.Errorf("r = %+v, kept = %q", r, kept)
	}
	if got := v.lines("SELECT count(*) FROM batches WHERE receipt LIKE '%bad_words%'"); got != "1|\n" {
		t.Errorf("the import log names %s batches with rejected rows", got)
	}
}

// TestManyExpectedRowsAreLeftToARebuild: for a followed source a quarter as many as for
// files, and only with the expected number of remaining rows.
func TestManyExpectedRowsAreLeftToARebuild(t *testing.T) {
	for _, tc := range []struct {
		coming          int64
		memory, rebuilt bool
	}{
		{200_000, true, false}, {250_000, true, true}, {500_000, false, false}, {1_000_000, false, true},
	} {
		v := open(t)
		path := chainFill(t, v, 12)["polygon-logs"]
		opts := ingest.Options{Remaining: ingest.Remaining{Fills: tc.coming}}
		var r ingest.Receipt
		var err error
		if tc.memory {
			r, err = v.im.Append(t.Context(), v.inMemory(path), opts)
		} else {
			r, err = v.bring(path, opts)
		}
		if err != nil || r.Inserted == 0 || r.RebuildNeeded != tc.rebuilt {
			t.Errorf("%+v: %v, %d inserted, rebuild %v", tc, err, r.Inserted, r.RebuildNeeded)
		}
	}
}

// TestMarketsBeforeAVenueAreLeftToItsRebuild if there are no fills yet and many are expected.
func TestMarketsBeforeAVenueAreLeftToItsRebuild(t *testing.T) {
	v := open(t)
	for n, tc := range []struct {
		coming  int64
		rebuilt bool
	}{{0, false}, {999_999, false}, {1_000_000, true}} {
		path := v.write(fmt.Sprintf("m%d.ndjson", n), fmt.Sprintf(`{"condition_id":"0x%064d","question":"?","outcomes":["Yes","No"],"token_ids":["%d","%d"]}`+"\n", n+1, 2*n+1, 2*n+2))
		r, err := v.bring(path, ingest.Options{Remaining: ingest.Remaining{Fills: tc.coming}})
		if err != nil || r.MarketsNew != 1 || r.RebuildNeeded != tc.rebuilt {
			t.Errorf("%+v: %v, %d markets, rebuild %v", tc, err, r.MarketsNew, r.RebuildNeeded)
		}
	}
	if _, err := v.bring(chainFill(t, v, 12)["polygon-logs"], ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	path := v.write("later.ndjson", fmt.Sprintf(`{"condition_id":"0x%064d","question":"?","outcomes":["Yes","No"],"token_ids":["91","92"]}`+"\n", 9))
	r, err := v.bring(path, ingest.Options{Remaining: ingest.Remaining{Fills: 1_000_000}})
	if err != nil || r.MarketsNew != 1 || r.RebuildNeeded {
		t.Errorf("after a fill: %v, %d markets, rebuild %v", err, r.MarketsNew, r.RebuildNeeded)
	}
}
