package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// placeholders are what the code puts into the statements of DuckDB.
var placeholders = []string{
	"@file", "/nowhere", "@rows", "1", "@span", "1", "@round", "1", "@crowd", "1", "@options", "FORMAT csv, HEADER true",
	"@days", "('x', 1, 2, 3)", "@kind", "TEMP TABLE", "@query", "SELECT token, wallet FROM position", "@keys", "token, wallet",
	"@columns", `"token"::INTEGER, "wallet"::INTEGER`, "@column", `"token"::INTEGER`, "@sums", "count(*), count(DISTINCT token)", "@key", "token", "@near", "fills", "@of", "p.position",
}

var placeholder = regexp.MustCompile(`@[a-z_]+`)

// A misspelled name in a statement that no other test runs fails here: each is prepared with an empty database with every migration
// applied. Those that read a file are run by TestTheRivalsFeesAreThoseOfPmx.
func TestEveryStatementOfDuckDBIsPrepared(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	pmx, err := engine.Open(ctx, enginetest.Options(t, dir, "200MB"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pmx.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := duck(filepath.Join(t.TempDir(), "rival.duckdb"), "200MB")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := execAll(ctx, db, "ATTACH '"+filepath.Join(dir, "pmx.duckdb")+"' AS p", "USE p", duckStatements.Get("Calendar")); err != nil {
		t.Fatal(err)
	}
	compile := func(text string) error {
		stmt, err := db.PrepareContext(ctx, text)
		if err != nil {
			return err
		}
		return stmt.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(duckStatements)) {
		if slices.Contains(rivalLoad, name) || name == "Calendar" {
			continue
		}
		table := "position"
		if name == "Derive" {
			table = "derived"
		}
		text := duckStatements.Get(name, append([]string{"@table", table}, placeholders...)...)
		if err := compile(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for _, text := range []string{"SELECT wallet FROM no_such_table", "COPY (SELECT no_such_column FROM fills) TO '/nowhere'", "SELECT max(no_such_column) FROM p.fills"} {
		if compile(text) == nil {
			t.Errorf("%q is prepared", text)
		}
	}
}

// Every statement of PostgreSQL is run, and only the folder is put into it.
func TestEveryStatementOfPostgreSQLIsRun(t *testing.T) {
	names := slices.Clone(rivalSchema)
	for _, r := range walletReads {
		names = append(names, r.rival)
	}
	slices.Sort(names)
	if all := slices.Sorted(maps.Keys(postgresStatements)); !slices.Equal(names, all) {
		t.Errorf("%q are run, and there are %q", names, all)
	}
	for name, text := range postgresStatements {
		if left := placeholder.FindString(strings.ReplaceAll(text, "@dir", "/nowhere")); left != "" {
			t.Errorf("%s: nothing is put in for %s", name, left)
		}
	}
	for _, name := range exported {
		if duckStatements[name] == "" {
			t.Errorf("there is no statement %s that copies facts for PostgreSQL", name)
		}
	}
}

// Nothing is left to put into a statement of ClickHouse, and the facts that it reads have statements.
func TestEveryPlaceholderOfClickHouseIsKnown(t *testing.T) {
	for _, table := range clickhouseTables() {
		if left := placeholder.FindString(clickhouseStatement(table, 1, 1)); left != "" {
			t.Errorf("%s: nothing is put in for %s", table, left)
		}
	}
	for name, values := range map[string][]string{"create_facts": {"@table", "@columns", "@order"}, "copy_facts": {"@table", "@columns", "@file"},
		"derive": {"@table", "@keys", "@query"}, "table_sums": {"@table", "@sums"}} {
		found := placeholder.FindAllString(clickhouseStatements[name], -1)
		slices.Sort(found)
		slices.Sort(values)
		if found = slices.Compact(found); !slices.Equal(found, values) {
			t.Errorf("%s has %q, %q are put in", name, found, values)
		}
	}
	for _, f := range clickhouseFacts {
		if duckStatements[f.query] == "" {
			t.Errorf("there is no statement %s that copies %s for ClickHouse", f.query, f.table)
		}
	}
}
