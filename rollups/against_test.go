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
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups"
	"pmx/rollups/cluster"
)

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
	for seed := range testfiles.Cases(1, 20) {
		steps := venues.Example(seed)
		if seed%4 > 0 || !testfiles.Long() { // one file: each import takes as long as all that follows
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
		proveLake(t, lake, dir, head, files, seed == 0)
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
		if any["against_"+name] == 0 {
			t.Errorf("no venue has rows of %s", name)
		}
	}
}

// proveLake proves what was computed from a lake without its database, and with refuted sees what is not so.
func proveLake(t *testing.T, lake, dir string, head export.LakeHead, files []export.LakeFile, refuted bool) {
	t.Helper()
	name, text, err := cluster.NewLake(head, files).Encode()
	if err != nil {
		t.Fatal(err)
	}
	publish(t, lake, name, text)
	fingerprint, err := cluster.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	out := cluster.Rollups{Generator: "pmx", Kind: "rollups", Lake: strings.TrimSuffix(filepath.Base(name), ".json"), Statements: fingerprint,
		Method: export.Method, AsOf: head.AsOf, WhaleMin: head.WhaleMin, Facts: files}
	for _, table := range rollups.Names() {
		out.Files = append(out.Files, described(t, dir, table))
	}
	prefix := address(1).String()
	prove := func() (bad []string, err error) {
		text, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		publish(t, dir, cluster.ManifestName(fmt.Sprintf("%x", sha256.Sum256(text))), text)
		checks, err := (&cluster.Proof{Lake: lake, Out: dir, Prefix: prefix, Memory: "512MB"}).Run(t.Context())
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
			t.Errorf("of what is there twice: %v, %v do not hold, want %s", err, bad, want)
		}
	}
	out.Files = slices.Clone(was)
	out.Files[0].Bytes++
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "is not the file of the manifest") {
		t.Errorf("a torn file: %v", err)
	}
	out.Files, out.Statements = was, "other"
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "other definitions") {
		t.Errorf("other definitions: %v", err)
	}
	out.Statements, out.Lake = fingerprint, "other"
	if _, err := prove(); err == nil || !strings.Contains(err.Error(), "compute them again") {
		t.Errorf("another lake: %v", err)
	}
}

// described is a table's file as a manifest has it.
func described(t *testing.T, dir, table string) export.LakeFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, table+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return export.LakeFile{Name: table + ".parquet", Dataset: table, Bytes: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256(text))}
}

// publish writes a manifest, and lets CURRENT name it.
func publish(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	err := firstError(os.MkdirAll(filepath.Dir(path), 0o700), func() error { return os.WriteFile(path, text, 0o600) })
	id := strings.TrimSuffix(filepath.Base(name), ".json")
	if err := firstError(err, func() error { return os.WriteFile(filepath.Join(dir, cluster.CurrentName), []byte(id), 0o600) }); err != nil {
		t.Fatal(err)
	}
}
