// Package clustertest publishes the rollups of a lake for tests, as rollups.py does on an engine:
// the shared statements, run by DuckDB.
package clustertest

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // the engine

	"pmx/engine/export"
	"pmx/rollups"
	"pmx/rollups/cluster"
)

// Publish computes every rollup of a lake and publishes them in out.
func Publish(t testing.TB, lake, out string) {
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
	made.Files = compute(t, m, lake, out)
	Name(t, out, made)
}

// Name writes a manifest into out and has CURRENT name it.
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

// compute runs the statements, and gives the files of those that are published.
func compute(t testing.TB, m *cluster.Lake, lake, out string) (files []export.LakeFile) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	run := func(format string, args ...any) {
		query := fmt.Sprintf(format, args...)
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	run("SET threads = 1")
	see(m, lake, run)
	statements, err := cluster.Statements()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range statements {
		if s.Kind == cluster.Whole && statements[i-1].Kind == cluster.Part {
			run("CREATE OR REPLACE VIEW lake_fills AS FROM lake_recent")
		}
		if s.Kind == cluster.View {
			run("CREATE VIEW %s AS %s", s.Name, s.SQL)
			continue
		}
		run("CREATE TABLE %s AS %s", s.Name, s.SQL)
		if !strings.HasPrefix(s.SQL, "-- Internal") {
			if f := write(t, db, s.Name, out); f.Rows > 0 { // as some engines do
				files = append(files, f)
			}
		}
	}
	return files
}

// see makes a view of each dataset of the lake, and lake_recent of the fills of the last 31 days.
func see(m *cluster.Lake, lake string, run func(format string, args ...any)) {
	paths := map[string][]string{}
	oldest := time.UnixMicro(m.AsOf).UTC().AddDate(0, 0, -31).Format(time.DateOnly)
	for _, f := range m.Files {
		path := "'" + filepath.Join(lake, filepath.FromSlash(f.Name)) + "'"
		paths[f.Dataset] = append(paths[f.Dataset], path)
		if f.Day >= oldest {
			paths["recent"] = append(paths["recent"], path)
		}
	}
	for dataset, of := range paths {
		run("CREATE VIEW lake_%s AS FROM read_parquet([%s])", dataset, strings.Join(of, ", "))
	}
	if len(paths["conditions"]) == 0 {
		run("CREATE VIEW lake_conditions AS SELECT '' AS condition_id, '' AS event_slug, '' AS event_id, '' AS category LIMIT 0")
	}
}

// write writes a table into a file.
func write(t testing.TB, db *sql.DB, table, out string) export.LakeFile {
	t.Helper()
	f := export.LakeFile{Name: "whole/" + table + ".parquet", Dataset: table}
	path := filepath.Join(out, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), fmt.Sprintf("COPY %s TO '%s'", table, path)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Bytes, f.SHA256 = int64(len(text)), fmt.Sprintf("%x", sha256.Sum256(text))
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&f.Rows); err != nil {
		t.Fatal(err)
	}
	return f
}
