package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
)

// recordVenue imports data.Market values unchanged.
type recordVenue struct {
	t    *testing.T
	im   *Importer
	path string
	file []data.Market
}

func openRecords(t *testing.T) *recordVenue {
	t.Helper()
	db, err := engine.Open(context.Background(), enginetest.Options(t, filepath.Join(t.TempDir(), "db"), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &recordVenue{t: t, path: filepath.Join(t.TempDir(), "records.ndjson")}
	if err := os.WriteFile(r.path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	feed := data.Feed{Name: "records", Kind: data.KindMarkets, Formats: []data.Format{data.NDJSON}, Match: func(data.Head) bool { return true },
		Read: func(_ context.Context, _ data.Source, _ io.Reader, sink data.Sink) error {
			for i, m := range r.file {
				if err := sink.Market(int64(i), m); err != nil {
					return err
				}
			}
			return nil
		}}
	facts := func(_ context.Context, _ *sql.Conn, apply func() error) error { return apply() }
	r.im = &Importer{DB: db, Now: time.Now, Rollups: Rollups{Merge: facts, Postpone: facts}, Feeds: oneFeed{feed: feed}}
	return r
}

// oneFeed is a catalog with a single feed.
type oneFeed struct {
	feeds.Catalog
	feed data.Feed
}

func (oneFeed) Head(string) (data.Head, error) { return data.Head{Format: data.NDJSON}, nil }

func (c oneFeed) Detect(data.Head) (data.Feed, error) { return c.feed, nil }

func (r *recordVenue) load(file []data.Market) Receipt {
	r.t.Helper()
	r.file = file
	plan, _, err := r.im.Identify(r.path, "")
	if err != nil {
		r.t.Fatal(err)
	}
	receipt, err := r.im.Import(context.Background(), plan, Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return receipt
}

// markets returns the rows of all markets without their ids, one per line, and deletes them.
func (r *recordVenue) markets() []string {
	r.t.Helper()
	ctx := context.Background()
	var out []string
	err := r.im.DB.Write(ctx, func(conn *sql.Conn) error {
		err := engine.Each(ctx, conn, "SELECT hex(condition), * EXCLUDE (market, condition) FROM markets ORDER BY condition", func(row []driver.Value) error {
			out = append(out, strings.ReplaceAll(fmt.Sprint(row), "<nil>", "-"))
			return nil
		})
		if err == nil {
			_, err = conn.ExecContext(ctx, "DELETE FROM markets")
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

// Three records of each market, with and without versions, of trades, and of pages without parts of
// the quote, give the same row in every order of import and any split into files as in one file,
// and importing a file again changes nothing.
func TestAnyOrderAndSplitOfRecordsGivesOneMarket(t *testing.T) {
	r, rng := openRecords(t), rand.New(rand.NewPCG(21, 11))
	n := 60
	if testfiles.Long() {
		n = 3000
	}
	recs := make([][3]data.Market, n)
	for i := range recs {
		for k := range recs[i] {
			m := drawMarket(rng)
			m.Condition[0], m.Condition[1] = byte(i>>8), byte(i)
			recs[i][k] = m
		}
	}
	part := func(of ...int) (file []data.Market) {
		for _, k := range of {
			for i := range recs {
				file = append(file, recs[i][k])
			}
		}
		return file
	}
	var want []string
	for _, o := range [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}}[:testfiles.Cases(2, 6)] {
		for _, files := range [][][]data.Market{{part(o[:]...)}, {part(o[0]), part(o[1]), part(o[2])}, {part(o[0]), part(o[1], o[2])}} {
			for _, f := range files {
				r.load(f)
			}
			if again := r.load(files[0]); again.MarketsNew+again.MarketsChanged != 0 {
				t.Errorf("order %v, %d files: the first one changes %d markets when it is imported again", o, len(files), again.MarketsChanged)
			}
			got := r.markets()
			if want == nil {
				want = got
			}
			bad := 0
			for i := range got {
				if len(got) != len(want) || got[i] != want[i] {
					if bad++; bad == 1 {
						t.Errorf("order %v, %d files: of %+v\n%s\nwant\n%s", o, len(files), recs[i], got[i], want[i])
					}
				}
			}
			if bad > 0 {
				t.Errorf("order %v, %d files: %d of %d markets differ", o, len(files), bad, n)
			}
		}
	}
}
