package rollups

import (
	"database/sql"
	"testing"
)

// TestComparisonCountsRowsOfOneSide: the comparison of a rollup counts the same as two EXCEPT ALL,
// including rows that are more frequent on one side and rows with NULL.
func TestComparisonCountsRowsOfOneSide(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"CREATE TABLE merged (a INTEGER, b HUGEINT)", "CREATE TABLE rebuilt (a INTEGER, b HUGEINT)"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(values string) string { return "SELECT a, b FROM (VALUES " + values + ") AS v(a, b)" }
	for name, c := range map[string]struct {
		merged, rebuilt string
		want            int64
	}{
		"same":           {"(1, 2), (3, NULL), (1, 2)", "(3, NULL), (1, 2), (1, 2)", 0},
		"once too often": {"(1, 2), (3, 4)", "(1, 2), (1, 2), (3, 4)", 1},
		"twice too few":  {"(1, 2), (1, 2), (1, 2)", "(1, 2)", 2},
		"another value":  {"(1, 2), (3, 4)", "(1, 2), (3, 5)", 2},
		"null and zero":  {"(1, NULL)", "(1, 0)", 2},
		"other keys":     {"(1, 2), (2, 3), (5, 5)", "(2, 2), (1, 3), (5, 5)", 4},
	} {
		for _, fill := range []string{"INSERT INTO merged " + rows(c.merged), "INSERT INTO rebuilt " + rows(c.rebuilt)} {
			if _, err := db.ExecContext(t.Context(), fill); err != nil {
				t.Fatal(err)
			}
		}
		var held, bad, defined int64
		query := statements.Get("CompareRows", "@columns", "a, b", "@merged", "SELECT a, b FROM merged", "@rebuilt", "SELECT a, b FROM rebuilt")
		if err := db.QueryRowContext(t.Context(), query).Scan(&held, &bad); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM (FROM merged EXCEPT ALL FROM rebuilt)) + (SELECT count(*) FROM (FROM rebuilt EXCEPT ALL FROM merged))`).Scan(&defined); err != nil {
			t.Fatal(err)
		}
		if bad != c.want || bad != defined || held == 0 {
			t.Errorf("%s: %d of %d rows differ, want %d, by definition %d", name, bad, held, c.want, defined)
		}
		if _, err := db.ExecContext(t.Context(), "DELETE FROM merged; DELETE FROM rebuilt"); err != nil {
			t.Fatal(err)
		}
	}
}
