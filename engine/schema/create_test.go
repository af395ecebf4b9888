package schema

import (
	"database/sql"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
)

// described lists what a database has: the definition of everything in it, how many rows
// each table has, and the versions that were applied, in order.
func described(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
	column := func(query string) (values []string) {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var value string
			if err := rows.Scan(&value); err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return values
	}
	for _, query := range []string{
		"SELECT sql FROM duckdb_tables() WHERE NOT internal ORDER BY table_name",
		"SELECT concat_ws(' ', table_name, column_index, column_name, data_type, is_nullable, column_default) FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index",
		"SELECT concat_ws(' ', table_name, constraint_type, constraint_text) FROM duckdb_constraints() ORDER BY ALL",
		"SELECT sql FROM duckdb_indexes() ORDER BY ALL",
		"SELECT sql FROM duckdb_views() WHERE NOT internal ORDER BY ALL",
		"SELECT concat_ws(' ', sequence_name, start_value, last_value) FROM duckdb_sequences() ORDER BY ALL",
		"SELECT type_name FROM duckdb_types() WHERE NOT internal ORDER BY ALL",
		"SELECT concat_ws(' ', function_name, parameters, macro_definition) FROM duckdb_functions() WHERE NOT internal ORDER BY ALL",
		"SELECT version FROM schema_version ORDER BY rowid",
	} {
		list = append(append(list, query), column(query)...)
	}
	for _, table := range column("SELECT table_name FROM duckdb_tables() WHERE NOT internal AND table_name <> 'schema_version' ORDER BY table_name") {
		list = append(append(list, table), column(`SELECT r::VARCHAR FROM "`+table+`" r ORDER BY ALL`)...)
	}
	return list
}

// TestANewDatabaseIsAsMigrationsOneByOneMakeIt: every migration in one transaction gives
// the same definitions, rows and versions as a transaction for each.
func TestANewDatabaseIsAsMigrationsOneByOneMakeIt(t *testing.T) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	created, stepped := opened(t), opened(t)
	provider, err := goose.NewProvider("", stepped, files, goose.WithStore(store{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changed, err := Migrate(t.Context(), created); err != nil || !changed {
		t.Fatalf("changed is %v, %v", changed, err)
	}
	got, want := described(t, created), described(t, stepped)
	if len(want) < 300 {
		t.Fatalf("only %d lines describe a database: %q", len(want), want)
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("line %d is %q, one by one %q", i, got[i], want[i])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d lines, one by one %d", len(got), len(want))
	}
}

// TestMigrationsUseNoOtherAnnotation: create reads what stands before the word Down, and
// knows no other annotation, such as one for a migration without a transaction.
func TestMigrationsUseNoOtherAnnotation(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); strings.Contains(line, "+goose") && line != "-- +goose Up" && line != "-- +goose Down" {
				t.Errorf("%s: %s", file, line)
			}
		}
	}
}

// TestAMigrationThatFailsLeavesANewDatabaseEmpty.
func TestAMigrationThatFailsLeavesANewDatabaseEmpty(t *testing.T) {
	db := opened(t)
	files := fstest.MapFS{
		"00001_good.sql": {Data: []byte("-- +goose Up\nCREATE TABLE good (a INTEGER);\n-- +goose Down\nDROP TABLE good;\n")},
		"00002_bad.sql":  {Data: []byte("-- +goose Up\nCREATE TABLE bad (a INTEGER);\nINSERT INTO missing VALUES (1);\n")},
	}
	all := []*goose.Source{{Path: "00001_good.sql", Version: 1}, {Path: "00002_bad.sql", Version: 2}}
	if err := create(t.Context(), db, files, all); err == nil || !strings.Contains(err.Error(), "migration 00002_bad.sql") {
		t.Errorf("the error is %v", err)
	}
	if empty, err := isEmpty(t.Context(), db); err != nil || !empty {
		t.Errorf("empty is %v, %v", empty, err)
	}
	if err := create(t.Context(), db, files, all[:1]); err != nil {
		t.Error(err)
	}
	if empty, err := isEmpty(t.Context(), db); err != nil || empty {
		t.Errorf("with a table, empty is %v, %v", empty, err)
	}
}
