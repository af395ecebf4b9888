package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups"
	"pmx/rollups/cluster"
)

// venues draws venues with fees of both kinds, times within a second, tokens of unknown markets
// or of several, payouts that are fractions, three outcomes, events, and the desk's markets.
var venues = rapid.Custom(func(t *rapid.T) []step {
	w := drawWorld(t)
	for i := range w.markets {
		if m := &w.markets[i]; !m.Stub {
			m.EventSlug = rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "slug")
			m.EventID = rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "event id")
		}
	}
	return append(w.split(t), drawDesk(t)...)
})

// lakeOf exports the lake of a venue into files that its database may read.
func lakeOf(t testing.TB, v *venue) (head export.LakeHead, files []export.LakeFile, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(v.db.Dir().Tmp(), "lake-")
	if err != nil {
		t.Fatal(err)
	}
	e := export.Exporter{DB: v.db, Venue: map[data.Address]bool{address(0): true}}
	err = e.WriteLake(t.Context(), dir, export.LakeKnown{}, func(h export.LakeHead) error { head = h; return nil }, func(p export.LakePart) error {
		path := filepath.Join(dir, filepath.FromSlash(p.File.Name))
		files = append(files, p.File)
		return firstError(os.MkdirAll(filepath.Dir(path), 0o700), func() error { return os.Rename(p.Path, path) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return head, files, dir
}

func firstError(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// computed runs the shared statements over a lake in a database of its own, the fills in two
// parts, and gives the folder with a file of each table.
func computed(t testing.TB, v *venue, lake string, files []export.LakeFile, head export.LakeHead) string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	run := func(format string, args ...any) {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, args...)); err != nil {
			t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
		}
	}
	run("SET threads = 1")
	statements, err := cluster.Statements()
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string][]string{}
	var recent []string
	oldest := time.UnixMicro(head.AsOf).UTC().AddDate(0, 0, -31).Format(time.DateOnly)
	for _, f := range files {
		path := "'" + filepath.Join(lake, filepath.FromSlash(f.Name)) + "'"
		paths[f.Dataset] = append(paths[f.Dataset], path)
		if f.Day >= oldest {
			recent = append(recent, path)
		}
	}
	see := func(dataset string, paths []string) {
		run("CREATE OR REPLACE VIEW lake_%s AS FROM read_parquet([%s])", dataset, strings.Join(paths, ", "))
	}
	for dataset, of := range paths {
		see(dataset, of)
	}
	each := func(kind cluster.Kind, format string) {
		for _, s := range statements {
			if s.Kind == kind {
				run(format, s.Name, s.SQL)
			}
		}
	}
	half := len(paths["fills"]) / 2
	each(cluster.View, "CREATE VIEW %s AS %s")
	see("fills", paths["fills"][half:])
	each(cluster.Part, "CREATE TABLE %s AS %s")
	if half > 0 {
		see("fills", paths["fills"][:half])
		each(cluster.Part, "INSERT INTO %s %s")
	}
	see("fills", recent)
	each(cluster.Whole, "CREATE TABLE %s AS %s")
	out, err := os.MkdirTemp(v.db.Dir().Tmp(), "published-")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if s.Kind != cluster.View {
			run("COPY %s TO '%s/%s.parquet'", s.Name, out, s.Name)
		}
	}
	return out
}

// The statements that other engines run give the rollups of a rebuild, all columns, whatever a
// venue has.
func TestOtherEnginesComputeTheSameRollups(t *testing.T) {
	any := map[string]int64{} // rows by rollup, over all venues
	for seed := range testfiles.Cases(2, 60) {
		steps := venues.Example(seed)
		if !testfiles.Long() { // one file
			one := step{}
			for _, s := range steps {
				one.markets, one.refs, one.fills = append(one.markets, s.markets...), append(one.refs, s.refs...), append(one.fills, s.fills...)
			}
			steps = []step{one}
		}
		v := newVenue(t, steps)
		v.setWhaleRule(whaleMark)
		for i := range steps {
			v.importStep(i)
		}
		v.rebuild()
		head, files, lake := lakeOf(t, v)
		dir := computed(t, v, lake, files, head)
		p := rollups.Published{AsOf: head.AsOf, WhaleMin: head.WhaleMin, Days: cluster.Days(files),
			Rows: func(table string) string { return fmt.Sprintf("FROM read_parquet('%s/%s.parquet')", dir, table) }}
		compare := func() (bad []string) {
			v.write(func(ctx context.Context, conn *sql.Conn) error {
				checks, err := rollups.Against(ctx, conn, p, nil)
				for _, c := range checks {
					if !c.OK {
						bad = append(bad, c.Name)
					}
					any[c.Name] += c.Rows
				}
				return err
			})
			return bad
		}
		if bad := compare(); len(bad) > 0 {
			t.Errorf("venue %d: %v differ", seed, bad)
		}
		if seed == 0 { // what is there twice, or not at all, is seen
			was := p.Rows
			p.Rows = func(table string) string { return was(table) + " UNION ALL (" + was(table) + " LIMIT 1)" }
			bad := compare()
			p.Rows = func(table string) string { return was(table) + " OFFSET 1" }
			bad = append(bad, compare()...)
			for name, rows := range any {
				if rows > 0 && !strings.HasPrefix(name, "same_") && !slices.Contains(bad, name) {
					t.Errorf("%s: what differs is not seen", name)
				}
			}
		}
		v.close()
	}
	t.Logf("rows compared: %v", any)
	for _, name := range rollups.Names() {
		if any["against_"+name] == 0 && testfiles.Long() {
			t.Errorf("no venue has rows of %s", name)
		}
	}
}
