package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pmx/rollups"
)

// The rival of a rebuild derives the same tables as pmx, with the same rows.
func TestBareSQLDerivesEveryTableOfARebuild(t *testing.T) {
	b := &bench{ctx: t.Context(), dir: t.TempDir()}
	if err := b.venue("large", 4000); err != nil {
		t.Fatal(err)
	}
	k, err := open(b.ctx, b.path("large"), false)
	if err != nil {
		t.Fatal(err)
	}
	var built []string
	err = k.Rebuild(b.ctx, func(name string, _, _ int) { built = append(built, name) })
	if err := errors.Join(err, k.Close()); err != nil {
		t.Fatal(err)
	}
	if len(built) == 0 || slices.ContainsFunc(built, func(name string) bool { return !slices.Contains(rivalTables, name) }) {
		t.Errorf("pmx rebuilds %v, bare SQL %v", built, rivalTables)
	}
	db, asOf, err := b.rivalDatabase()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := rivalRebuild(b.ctx, db, asOf, true); err != nil {
		t.Fatal(err)
	}
	for _, table := range rivalTables {
		var any bool
		if err := db.QueryRowContext(b.ctx, "SELECT count(*) > 0 FROM "+table).Scan(&any); err != nil || !any && table != "undated" {
			t.Errorf("%s is empty, so nothing of it is compared: %v", table, err)
		}
	}
	if err := compareTables(b.ctx, db); err != nil {
		t.Error(err)
	}
	for _, table := range rivalTables {
		keys := strings.Join(rollups.Keys(table), ", ")
		if keys == "" {
			continue
		}
		var descents int
		query := "SELECT count(*) FROM (SELECT (" + keys + ") < lag((" + keys + ")) OVER (ORDER BY rowid) AS descends FROM " + table + ") AS row WHERE descends"
		if err := db.QueryRowContext(b.ctx, query).Scan(&descents); err != nil || descents > 0 {
			t.Errorf("rows of %s that come before a smaller key: %d %v", table, descents, err)
		}
	}
	for _, wrong := range []struct{ change, message string }{ // each is found before those above it
		{"UPDATE index_snapshot SET composite = composite + 2 WHERE composite IS NOT NULL", "composite differs"},
		{"UPDATE candle SET closed = closed + 1 WHERE rowid = 0", "candle: pmx has "},
		{"DELETE FROM position WHERE rowid = 0", "position: pmx has "},
	} {
		if err := execAll(b.ctx, db, wrong.change); err != nil {
			t.Fatal(err)
		}
		if err := compareTables(b.ctx, db); err == nil || !strings.Contains(err.Error(), wrong.message) {
			t.Errorf("%s: %v", wrong.change, err)
		}
	}
}
