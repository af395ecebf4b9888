package export_test

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/engine/export"
	"pmx/engine/export/job"
	"pmx/rollups/keeper"
)

// sampleFills is the number of fills of the sample venue.
const sampleFills = 4_000

// several is the default number of threads of a database.
var several = testfiles.Cases(1, 2)

// open opens a new venue in a new folder.
func open(t testing.TB, threads int) *keeper.Keeper {
	t.Helper()
	k := openIn(t, t.TempDir(), threads, testfiles.Long())
	t.Cleanup(func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
	return k
}

// openFacts opens a new venue for a test that only reads facts. A short run keeps no rollups of it.
func openFacts(t testing.TB, threads int) *keeper.Keeper {
	t.Helper()
	k := open(t, threads)
	if !testfiles.Long() {
		k.FactsOnly()
	}
	return k
}

// openIn opens a venue in a folder; the caller has to close it. Exports read the database, so a
// venue is served only if a test compares them with what is served, and in a long run.
func openIn(t testing.TB, dir string, threads int, serve bool) *keeper.Keeper {
	t.Helper()
	opts := enginetest.Options(t, dir, "2GB")
	opts.Threads = threads
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: opts,
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Serve:  serve,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sampleVenue is a venue with the sample's data, imported once.
var sampleVenue struct {
	keeper *keeper.Keeper
	dir    string
}

// readSample returns the venue with the sample's data, which is shared by all tests that only read.
func readSample(t testing.TB) *keeper.Keeper {
	t.Helper()
	if sampleVenue.keeper != nil {
		return sampleVenue.keeper
	}
	dir, err := os.MkdirTemp("", "pmx-test-")
	if err != nil {
		t.Fatal(err)
	}
	sampleVenue.dir = dir
	k := openIn(t, dir, several, true)
	mustImport(t, k, sampleFiles(t, sampleFills))
	sampleVenue.keeper = k
	return k
}

// closeSample closes and removes the venue of readSample.
func closeSample() error {
	if sampleVenue.dir == "" {
		return nil
	}
	var err error
	if sampleVenue.keeper != nil {
		err = sampleVenue.keeper.Close()
	}
	return errors.Join(err, os.RemoveAll(sampleVenue.dir))
}

func mustImport(t testing.TB, k *keeper.Keeper, paths ...string) {
	t.Helper()
	res, err := k.Import(context.Background(), keeper.Request{Paths: paths}, nil)
	if err != nil || len(res.Failed) > 0 {
		t.Fatalf("import %v: err = %v, res.Failed = %+v", paths, err, res.Failed)
	}
}

// sampleFiles writes a sample venue.
func sampleFiles(t testing.TB, fills int64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: fills, Days: testfiles.Cases(14, 0)}, dir, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// exported writes a dataset of k and returns the file.
func exported(t testing.TB, k *keeper.Keeper, e export.Exporter, dataset string, format data.Format) (string, job.Result) {
	t.Helper()
	path := filepath.Join(k.DB().Dir().Exports(), dataset+"."+string(format))
	e.DB = k.DB()
	file, err := e.Write(context.Background(), dataset, format, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return path, file
}

// table is a file as rows of text by column name.
type table []map[string]string

func readCSV(t testing.TB, path string) table {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	out := make(table, 0, len(all))
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = record[i]
		}
		out = append(out, row)
	}
	return out
}

// query returns the rows of a statement as text, NULL as "".
func query(t testing.TB, k *keeper.Keeper, text string) (out table) {
	t.Helper()
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), text)
		if err != nil {
			return err
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			cells := make([]sql.NullString, len(names))
			into := make([]any, len(names))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			row := map[string]string{}
			for i, name := range names {
				row[name] = cells[i].String
			}
			out = append(out, row)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%s: %v", strings.TrimSpace(text), err)
	}
	return out
}
