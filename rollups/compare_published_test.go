package rollups_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups"
	"pmx/rollups/cluster"
	"pmx/rollups/cluster/clustertest"
)

// lakeOf exports the lake of a venue to files that its database may read, as the next lake of a
// folder.
func lakeOf(t *testing.T, v *venue, dir string) (head export.LakeHead, files []export.LakeFile) {
	t.Helper()
	e := export.Exporter{DB: v.db, Venue: map[data.Address]bool{address(0): true}}
	err := e.WriteLake(t.Context(), v.db.Dir().Tmp(), export.LakeKnown{}, func(h export.LakeHead, _ bool) error { head = h; return nil }, func(p export.LakeStep) error {
		path := filepath.Join(dir, filepath.FromSlash(p.File.Name))
		files = append(files, p.File)
		return firstError(os.MkdirAll(filepath.Dir(path), 0o700), func() error { return os.Rename(p.Path, path) })
	})
	if err != nil {
		t.Fatal(err)
	}
	m := cluster.NewLake(head, files)
	name, text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	publish(t, dir, name, text)
	return head, m.Files
}

func firstError(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

// folder creates a folder that the database of a venue may read.
func (v *venue) folder(t testing.TB) string {
	dir, err := os.MkdirTemp(v.db.Dir().Tmp(), "folder-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// publishedIn returns the published rollups of a folder.
func publishedIn(t testing.TB, out string) (m *cluster.Rollups, p rollups.Published) {
	t.Helper()
	m, err := cluster.ReadRollups(out)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string][]string{}
	for _, f := range m.Files {
		paths[f.Dataset] = append(paths[f.Dataset], "'"+filepath.Join(out, filepath.FromSlash(f.Name))+"'")
	}
	rows := func(table string) string {
		if len(paths[table]) == 0 {
			return ""
		}
		return fmt.Sprintf("FROM read_parquet([%s])", strings.Join(paths[table], ", "))
	}
	return m, rollups.Published{AsOf: m.AsOf, WhaleMin: m.WhaleMin, Days: cluster.Days(m.Facts), Rows: rows, Tables: m.Tables}
}

// The statements for other engines give the rollups of a rebuild, in all columns, for any venue:
// computed from scratch, and from the results of an earlier lake to which days, fills of earlier
// days, tokens and payouts were added.
func TestOtherEnginesComputeTheSameRollups(t *testing.T) {
	any := map[string]int64{} // rows by rollup, over all venues
	for seed := range testfiles.Cases(1, 4) {
		steps := venues.Example(seed)
		v := newVenue(t, []step{joined(steps[:len(steps)/2]), joined(steps[len(steps)/2:])})
		v.setWhaleRule(whaleMark)
		lake, out := v.folder(t), v.folder(t)
		v.importStep(0)
		lakeOf(t, v, lake)
		clustertest.Publish(t, lake, out)
		v.importStep(1)
		v.rebuild()
		lakeOf(t, v, lake)
		if kept := clustertest.Publish(t, lake, out); kept == 0 {
			t.Errorf("venue %d: no cohort is taken from the run before", seed)
		}
		m, p := publishedIn(t, out)
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
		fresh := out
		if testfiles.Long() { // in short both equal the database's tables
			fresh = v.folder(t)
			clustertest.Publish(t, lake, fresh)
			sameTables(t, m, out, fresh)
		}
		if seed == 0 { // repeated and missing rows are found
			was := p.Rows
			repeated := func(table string) string { return was(table) + " UNION ALL (" + was(table) + " LIMIT 1)" }
			missing := func(table string) string { return was(table) + " OFFSET 1" }
			var bad []string
			if testfiles.Long() {
				for _, p.Rows = range []func(string) string{repeated, missing} {
					bad = append(bad, compare()...)
				}
			} else { // one of them for each table
				p.Rows = func(table string) string {
					if len(table)%2 == 0 {
						return repeated(table)
					}
					return missing(table)
				}
				bad = compare()
			}
			for name, rows := range any {
				if rows > 0 && !strings.HasPrefix(name, "same_") && !slices.Contains(bad, name) {
					t.Errorf("%s: what differs is not seen", name)
				}
			}
		}
		proveLake(t, lake, fresh, seed == 0)
		v.close()
	}
	t.Logf("rows compared: %v", any)
	for _, name := range rollups.Names() {
		if any["against_"+name] == 0 {
			t.Errorf("no venue has rows of %s", name)
		}
	}
}

// joined returns several steps as one file.
func joined(steps []step) (one step) {
	for _, s := range steps {
		one.markets, one.refs, one.fills = append(one.markets, s.markets...), append(one.refs, s.refs...), append(one.fills, s.fills...)
	}
	return one
}

// sameTables compares the published tables of two folders, row by row.
func sameTables(t *testing.T, m *cluster.Rollups, one, other string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, a := publishedIn(t, one)
	_, b := publishedIn(t, other)
	for _, table := range m.Tables {
		x, y := a.Rows(table), b.Rows(table)
		if x == "" && y == "" {
			continue
		}
		var n int
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%[2]s EXCEPT ALL %[1]s))", x, y)).Scan(&n); err != nil || n > 0 {
			t.Errorf("%s: %d rows differ from what is computed from nothing, %v", table, n, err)
		}
	}
}

// proveLake verifies rollups of a lake without its database; with refuted it checks that errors are
// found.
func proveLake(t *testing.T, lake, dir string, refuted bool) {
	t.Helper()
	m, err := cluster.ReadRollups(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := *m
	prefix := address(1).String()
	prove := func() (bad []string, err error) {
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		publish(t, dir, cluster.ManifestName(fmt.Sprintf("%x", sha256.Sum256(text))), text)
		left := 0
		step := func(_ string, done, of int) { left = of - done }
		checks, err := (&cluster.Proof{Lake: lake, Out: dir, Prefix: prefix, Memory: "512MB", Step: step}).Run(t.Context())
		if err == nil && left != 1 {
			t.Errorf("at the last of %d checks %d are left", len(checks), left)
		}
		for _, c := range checks {
			if !c.OK {
				bad = append(bad, c.Name)
			}
		}
		return bad, err
	}
	if bad, err := prove(); err != nil || len(bad) > 0 {
		t.Errorf("%v, %v do not hold", err, bad)
	}
	if !refuted {
		return
	}
	was := slices.Clone(out.Files)
	for _, f := range was {
		if slices.Contains([]string{"wallet_day", "token_day", "position"}, f.Dataset) { // twice
			out.Files = append(out.Files, f)
		}
	}
	bad, err := prove()
	for _, want := range []string{"sums_of_days", "sums_of_token_days", "grain_sums", "prefix_position"} {
		if err != nil || !slices.Contains(bad, want) {
			t.Errorf("with duplicates: err = %v, failed checks %v, want %s", err, bad, want)
		}
	}
	out.Files = slices.Clone(was)
	out.Files[0].Bytes++
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "does not match the manifest") {
		t.Errorf("a torn file: %v", err)
	}
	out.Files, out.Statements = was, "other"
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "other definitions") {
		t.Errorf("other definitions: %v", err)
	}
	out.Statements, out.Lake = m.Statements, "other"
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "compute them again") {
		t.Errorf("another lake: %v", err)
	}
}

// publish writes a manifest and sets CURRENT to it.
func publish(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	err := firstError(os.MkdirAll(filepath.Dir(path), 0o700), func() error { return os.WriteFile(path, text, 0o600) })
	id := strings.TrimSuffix(filepath.Base(name), ".json")
	if err := firstError(err, func() error { return os.WriteFile(filepath.Join(dir, cluster.CurrentName), []byte(id), 0o600) }); err != nil {
		t.Fatal(err)
	}
}
