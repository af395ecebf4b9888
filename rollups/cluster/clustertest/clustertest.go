// Package clustertest publishes the rollups of a lake for tests, as rollups.py does on an engine:
// the shared statements, run by DuckDB. It continues from the results of an earlier lake if there are any.
package clustertest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the engine

	"pmx/engine/export"
	"pmx/engine/statement"
	"pmx/rollups"
	"pmx/rollups/cluster"
)

//go:embed sql/publish.sql
var sqlFiles embed.FS

var statements = statement.MustLoad(sqlFiles)

// Publish computes every rollup of a lake and publishes them in out. If out has the results of an earlier lake, it keeps the cohorts
// that did not change, and returns how many.
func Publish(t testing.TB, lake, out string) (kept int) {
	t.Helper()
	m, id, err := cluster.ReadLake(lake)
	if err != nil || m == nil {
		t.Fatalf("%s is no lake: %v", lake, err)
	}
	fingerprint, err := cluster.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	made := cluster.Rollups{Generator: "pmx", Kind: "rollups", Engine: "duckdb", Lake: id, Statements: fingerprint, Method: m.Method, AsOf: m.AsOf, WhaleMin: m.WhaleMin}
	for _, f := range m.Files {
		if f.Dataset == "fills" {
			made.Facts = append(made.Facts, f)
		}
	}
	made.Tables = rollups.Names()
	r := &run{t: t, lake: lake, out: out, id: id, m: m}
	if before, err := cluster.ReadRollups(out); err == nil && before.WhaleMin == m.WhaleMin && before.Lake != id {
		r.before = before
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), "has no CURRENT") {
		t.Fatal(err)
	}
	r.compute(made.Facts)
	made.Files = r.files
	Name(t, out, made)
	return len(r.kept)
}

// Name writes a manifest into out and makes CURRENT name it.
func Name(t testing.TB, out string, m cluster.Rollups) {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprintf("%x", sha256.Sum256(text))
	path := filepath.Join(out, cluster.ManifestName(id))
	for _, step := range []func() error{
		func() error { return os.MkdirAll(filepath.Dir(path), 0o700) },
		func() error { return os.WriteFile(path, text, 0o600) },
		func() error { return os.WriteFile(filepath.Join(out, cluster.CurrentName), []byte(id), 0o600) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

// run is one computation; before is nil if there is nothing to continue from.
type run struct {
	t         testing.TB
	db        *sql.DB
	lake, out string
	id        string
	m         *cluster.Lake
	before    *cluster.Rollups
	files     []export.LakeFile
	order     []int64          // the cohorts
	kept      map[int64]string // folders of the unchanged ones
}

// exec runs a named statement.
func (r *run) exec(name string, replace ...string) {
	r.t.Helper()
	r.execText(statements.Get(name, replace...))
}

func (r *run) execText(query string) {
	r.t.Helper()
	if _, err := r.db.ExecContext(context.Background(), query); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
}

func (r *run) compute(facts []export.LakeFile) {
	r.t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	r.db = db
	r.execText("SET threads = 1")
	by := map[string][]export.LakeFile{}
	for _, f := range r.m.Files {
		by[f.Dataset] = append(by[f.Dataset], f)
	}
	for dataset, files := range by {
		r.see(dataset, files)
	}
	if len(by["conditions"]) == 0 {
		r.exec("NoConditions")
	}
	tables, err := cluster.Statements()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, s := range tables {
		if s.Kind == cluster.View {
			r.exec("View", "@name", s.Name, "@query", s.SQL)
		}
	}
	r.months(tables, facts)
	r.see("fills", begins(r.m.AsOf, facts))
	for _, s := range tables {
		if s.Kind == cluster.Whole {
			r.whole(s)
		}
	}
}

// see makes files of the lake a view.
func (r *run) see(dataset string, files []export.LakeFile) {
	r.show("lake_"+dataset, r.lake, files)
}

func (r *run) show(name, dir string, files []export.LakeFile) {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = "'" + filepath.Join(dir, filepath.FromSlash(f.Name)) + "'"
	}
	r.exec("ViewOfFiles", "@name", name, "@files", strings.Join(paths, ", "))
}

func dayOf(f export.LakeFile) int64 {
	date, _ := time.Parse(time.DateOnly, f.Day)
	return date.Unix() / 86_400
}

// begins returns the files of the days on which windows begin.
func begins(asOf int64, facts []export.LakeFile) (files []export.LakeFile) {
	for _, f := range facts {
		for _, hours := range []int64{24, 168, 720} {
			if dayOf(f) == (asOf-hours*3_600_000_000)/86_400_000_000 {
				files = append(files, f)
			}
		}
	}
	if len(files) == 0 {
		return facts[len(facts)-1:]
	}
	return files
}

// folder names the folder of the results of some input.
func (r *run) folder(of string, input ...string) string {
	return fmt.Sprintf("%s-%.8x", of, sha256.Sum256(fmt.Append(nil, r.m.WhaleMin, input)))
}

func names(files []export.LakeFile) (names []string) {
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// months computes the tables that are kept by month.
func (r *run) months(tables []cluster.Statement, facts []export.LakeFile) {
	months := func(facts []export.LakeFile) (months []string, of map[string][]export.LakeFile) {
		of = map[string][]export.LakeFile{}
		for _, f := range facts {
			if of[f.Day[:7]] == nil {
				months = append(months, f.Day[:7])
			}
			of[f.Day[:7]] = append(of[f.Day[:7]], f)
		}
		return months, of
	}
	var was []export.LakeFile
	if r.before != nil {
		was = r.before.Facts
	}
	order, of := months(facts)
	wasOrder, wasOf := months(was)
	changed := changedDays(facts, was)
	for _, s := range tables {
		if s.Kind != cluster.Partial {
			continue
		}
		var now, then []export.LakeFile
		for _, month := range order {
			now = append(now, r.month(s, month, of[month], wasOf[month]))
		}
		for _, month := range wasOrder {
			then = append(then, export.LakeFile{Name: path(r.folder("parts/"+month, names(wasOf[month])...), s)})
		}
		r.show(s.Name, r.out, now)
		r.show("all_"+s.Name, r.out, now)
		if r.before != nil {
			r.show("was_"+s.Name, r.out, then)
			r.exec("Changed", "@table", s.Name, "@days", r.ofDays(s, changed))
		}
	}
}

func (r *run) ofDays(s cluster.Statement, days []int64) string {
	condition, err := s.OfDays(days)
	if err != nil {
		r.t.Fatal(err)
	}
	return condition
}

// changedDays returns the days whose file differs, or is missing on one side.
func changedDays(now, was []export.LakeFile) (days []int64) {
	for _, side := range [][2][]export.LakeFile{{now, was}, {was, now}} {
		other := names(side[1])
		for _, f := range side[0] {
			if !slices.Contains(other, f.Name) && !slices.Contains(days, dayOf(f)) {
				days = append(days, dayOf(f))
			}
		}
	}
	return days
}

// month computes a part of a month: the rows of days whose files are the same come from the previous
// run.
func (r *run) month(s cluster.Statement, month string, files, was []export.LakeFile) export.LakeFile {
	in := r.folder("parts/"+month, names(files)...)
	fresh := slices.DeleteFunc(slices.Clone(files), func(f export.LakeFile) bool { return slices.Contains(names(was), f.Name) })
	if len(fresh) == len(files) {
		r.see("fills", files)
		return r.table(s, in, s.SQL)
	}
	r.show("before_"+s.Name, r.out, []export.LakeFile{{Name: path(r.folder("parts/"+month, names(was)...), s)}})
	query := statements.Get("Unchanged", "@table", s.Name, "@days", r.ofDays(s, changedDays(files, was)))
	if len(fresh) > 0 {
		r.see("fills", fresh)
		query = statements.Get("UnchangedAndFresh", "@unchanged", query, "@fresh", s.SQL)
	}
	return r.table(s, in, query)
}

// whole computes a table. For cohorts that did not change it takes the results of the previous run.
func (r *run) whole(s cluster.Statement) {
	in := r.folder("whole/all", r.id)
	if s.Source == "" {
		r.shown(s, r.table(s, in, s.SQL))
		if s.Touched != "" {
			r.cohorts(s)
		}
		return
	}
	var made []export.LakeFile
	for _, cohort := range r.order {
		f := r.kept[cohort]
		if f == "" {
			if s.Source == "position_part" {
				r.exec("PositionsOfCohort", "@table", s.Source, "@cohort", fmt.Sprint(cohort))
			} else {
				r.show(s.Source, r.out, []export.LakeFile{{Name: r.cohort(cohort) + "/" + s.Source + ".parquet"}})
			}
			f = r.cohort(cohort)
		}
		made = append(made, r.table(s, f, s.SQL))
	}
	r.exec("AllCohorts", "@table", s.Source)
	r.shown(s, made...)
}

func (r *run) shown(s cluster.Statement, files ...export.LakeFile) {
	r.show(s.Name, r.out, files)
	r.show("all_"+s.Name, r.out, files)
}

// cohort names the folder of a cohort's tables.
func (r *run) cohort(cohort int64) string { return r.folder(fmt.Sprintf("cohorts/%d", cohort), r.id) }

// cohorts finds all cohorts, and keeps the tables of those that did not change. In a test, the names of the files tell which cohort a file is of.
func (r *run) cohorts(mapping cluster.Statement) {
	r.order, r.kept = r.numbers(statements.Get("Cohorts")), map[int64]string{}
	if r.before == nil {
		return
	}
	r.show("before_"+mapping.Name, r.out, []export.LakeFile{{Name: path(r.folder("whole/all", r.before.Lake), mapping)}})
	touched := r.numbers(mapping.Touched)
	for _, f := range r.before.Files {
		var cohort int64
		if n, _ := fmt.Sscanf(f.Name, "cohorts/%d-", &cohort); n == 1 && !slices.Contains(touched, cohort) {
			r.kept[cohort] = filepath.ToSlash(filepath.Dir(f.Name))
		}
	}
}

func (r *run) numbers(query string) (all []int64) {
	r.t.Helper()
	rows, err := r.db.QueryContext(context.Background(), query)
	if err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		all = append(all, n)
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return all
}

func path(folder string, s cluster.Statement) string { return folder + "/" + s.Name + ".parquet" }

// table writes a table into a file, unless it exists: then the input was the same.
func (r *run) table(s cluster.Statement, folder, query string) export.LakeFile {
	r.t.Helper()
	f := export.LakeFile{Name: path(folder, s), Dataset: s.Name}
	path := filepath.Join(r.out, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		r.exec("WriteTable", "@query", query, "@file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	f.Bytes, f.SHA256 = int64(len(text)), fmt.Sprintf("%x", sha256.Sum256(text))
	if err := r.db.QueryRowContext(context.Background(), statements.Get("CountRows", "@file", path)).Scan(&f.Rows); err != nil {
		r.t.Fatal(err)
	}
	if !s.Internal() && f.Rows > 0 { // without a file of no rows, as some engines do
		r.files = append(r.files, f)
	}
	return f
}
