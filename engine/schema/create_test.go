package schema

import (
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
)

// migratedTo returns a database in memory with the migrations up to a version.
func migratedTo(t *testing.T, version int64) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider("", db, files, goose.WithStore(store{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db
}

// column returns the values of a query of one column.
func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
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

// described describes a database by lines: the definition of everything in it, the number of rows
// of each table, and the versions that were applied, in order.
func described(t *testing.T, db *sql.DB) (list []string) {
	t.Helper()
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
		list = append(append(list, query), column(t, db, query)...)
	}
	for _, table := range column(t, db, "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND table_name <> 'schema_version' ORDER BY table_name") {
		list = append(append(list, table), column(t, db, `SELECT r::VARCHAR FROM "`+table+`" r ORDER BY ALL`)...)
	}
	return list
}

var update = flag.Bool("update", false, "write schema.sql from the migrations")

// literals returns the rows of a table of numbers and booleans as SQL.
func literals(t *testing.T, db *sql.DB, table string) (list []string) {
	t.Helper()
	rows, err := db.Query("FROM " + table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, texts := make([]any, len(names)), make([]string, len(names))
		for i := range values {
			values[i] = &values[i]
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			switch v.(type) {
			case int8, int16, int32, int64, bool:
				texts[i] = fmt.Sprint(v)
			default:
				t.Fatalf("%s of %s is a %T, for which there is no literal", names[i], table, v)
			}
		}
		list = append(list, strings.Join(texts, ", "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// viewOf returns the definition of a view from the newest migration that has it: the text that
// DuckDB prints would define another view.
func viewOf(t *testing.T, name string) (text string) {
	t.Helper()
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		t.Fatal(err)
	}
	definition := regexp.MustCompile(`(?ms)^CREATE (?:OR REPLACE )?VIEW ` + name + `\b.*?;$`)
	for _, file := range files {
		migration, err := migrations.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := definition.FindAllString(string(migration), -1); len(found) > 0 {
			text = found[len(found)-1]
		}
	}
	if text == "" {
		t.Fatalf("no migration has a view %s", name)
	}
	return text
}

// schemaOf returns the SQL that creates the tables, views and rows of db in an empty database, in
// an order that works. New databases store descriptions of markets with zstd, which takes an eighth of what DuckDB's own choice
// takes; migrations do not ask for it, because DuckDB cannot do it in files of storage versions before 1.2, and would not compress them at all.
func schemaOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	lines := column(t, db, "SELECT sql FROM duckdb_tables() WHERE NOT internal AND table_name <> 'schema_version' ORDER BY table_oid")
	markets := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "CREATE TABLE markets(") })
	lines[markets] = strings.Replace(lines[markets], " description VARCHAR,", " description VARCHAR USING COMPRESSION zstd,", 1)
	if other := column(t, db, "SELECT sql FROM duckdb_indexes() UNION ALL SELECT sequence_name FROM duckdb_sequences() UNION ALL SELECT type_name FROM duckdb_types() WHERE NOT internal"); len(other) > 0 {
		t.Fatalf("besides tables and views there is %q", other)
	}
	names := column(t, db, "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_name")
	views := map[string]string{}
	for _, name := range names {
		views[name] = viewOf(t, name)
	}
	for len(views) > 0 { // a view after those that it reads
		free := slices.DeleteFunc(slices.Sorted(maps.Keys(views)), func(name string) bool {
			return slices.ContainsFunc(names, func(other string) bool {
				return other != name && views[other] != "" && regexp.MustCompile(`\b`+other+`\b`).MatchString(views[name])
			})
		})
		if len(free) == 0 {
			t.Fatalf("these views read each other: %q", slices.Sorted(maps.Keys(views)))
		}
		for _, name := range free {
			lines = append(lines, views[name])
			delete(views, name)
		}
	}
	for _, table := range column(t, db, "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND table_name <> 'schema_version' ORDER BY table_name") {
		for _, row := range literals(t, db, table) {
			lines = append(lines, "INSERT INTO "+table+" VALUES ("+row+");")
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestANewDatabaseIsAsMigrationsMakeIt: the schema from which a new database is created gives the
// same definitions, rows and versions as the migrations one by one.
func TestANewDatabaseIsAsMigrationsMakeIt(t *testing.T) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	stepped := opened(t)
	provider, err := goose.NewProvider("", stepped, files, goose.WithStore(store{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	if *update {
		newest = schemaOf(t, stepped)
		if err := os.WriteFile("schema.sql", []byte(newest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if newest != schemaOf(t, stepped) {
		t.Error("schema.sql is not that of the migrations: run go generate ./engine/schema")
	}
	created := opened(t)
	if changed, err := Migrate(t.Context(), created, nil); err != nil || !changed {
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

// TestDescriptionsAreStoredWithZstd in a new database, also once it was opened again, and stay as they are while others change.
func TestDescriptionsAreStoredWithZstd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.duckdb")
	const markets = 5000
	for round, change := range []string{
		"INSERT INTO markets (market, condition, slug, description) SELECT i, '\\x01'::BLOB, 's' || i, 'Resolves to yes if the number ' || i || ' is drawn.' FROM range(5000) AS r(i)",
		"UPDATE markets SET description = CASE WHEN market % 10 = 0 THEN NULL ELSE description || repeat(' Or later.', market % 700) END, slug = 'n' || market WHERE market % 2 = 0",
		"SELECT 1",
	} {
		db, err := sql.Open("duckdb", path+"?storage_compatibility_version=v1.3.0")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Migrate(t.Context(), db, nil); err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{change, "CHECKPOINT"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		const wrong = "SELECT count(*) FROM markets WHERE description IS DISTINCT FROM CASE WHEN slug[1] = 'n' AND market % 10 = 0 THEN NULL " +
			"ELSE 'Resolves to yes if the number ' || market || ' is drawn.' || CASE WHEN slug[1] = 'n' THEN repeat(' Or later.', market % 700) ELSE '' END END"
		if rows, off := number(t, db, "SELECT count(*) FROM markets"), number(t, db, wrong); rows != markets || off != 0 {
			t.Errorf("round %d: %d markets, %d with another description", round, rows, off)
		}
		const compressions = "SELECT string_agg(DISTINCT compression, ' ') FROM pragma_storage_info('markets') WHERE column_name = 'description' AND segment_type = 'VARCHAR'"
		if got := column(t, db, compressions); got[0] != "ZSTD" {
			t.Errorf("round %d: descriptions are stored with %s", round, got[0])
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestASchemaThatFailsLeavesANewDatabaseEmpty.
func TestASchemaThatFailsLeavesANewDatabaseEmpty(t *testing.T) {
	db := opened(t)
	all := []*goose.Source{{Path: "00001_good.sql", Version: 1}}
	good := "CREATE TABLE good (a INTEGER);\n"
	if err := create(t.Context(), db, good+"INSERT INTO missing VALUES (1);\n", all); err == nil || !strings.Contains(err.Error(), "schema: ") {
		t.Errorf("the error is %v", err)
	}
	if empty, err := isEmpty(t.Context(), db); err != nil || !empty {
		t.Errorf("empty is %v, %v", empty, err)
	}
	if err := create(t.Context(), db, good, all); err != nil {
		t.Error(err)
	}
	if empty, err := isEmpty(t.Context(), db); err != nil || empty {
		t.Errorf("with a table, empty is %v, %v", empty, err)
	}
	if versions := column(t, db, "SELECT version::VARCHAR FROM schema_version ORDER BY rowid"); !slices.Equal(versions, []string{"0", "1"}) {
		t.Errorf("versions are %q", versions)
	}
}
