package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The rival loads fees with the same values as pmx: dollars on top of a buy are negative.
func TestTheRivalsFeesAreThoseOfPmx(t *testing.T) {
	dir := t.TempDir()
	db, err := duck(filepath.Join(dir, "rival.duckdb"), "200MB")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(dir, "fills.parquet")
	copied := "COPY (SELECT TIMESTAMP '2026-11-01' AS ts, '0x00' AS address, '7' AS token_id, side, 'maker' AS role, 2.0 AS shares, 1.0 AS usd, fee, fee_asset, '0x01' AS transaction_hash, " +
		"1 AS log_index FROM (VALUES ('BUY', 0.1, 'shares'), ('BUY', 0.2, 'usd'), ('SELL', 0.3, 'usd'), ('SELL', 0, 'usd')) AS v(side, fee, fee_asset)) TO '@file' (FORMAT parquet)"
	if err := execAll(t.Context(), db, append([]string{strings.ReplaceAll(copied, "@file", file)}, texts(duckStatements, rivalLoad, "@file", file, "@order", inTimeOrder)...)...); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT side || ' ' || fee FROM fills ORDER BY ALL")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if err := rows.Err(); err != nil || strings.Join(got, ", ") != "0 -200000, 0 100000, 1 0, 1 300000" {
		t.Errorf("got %v, err = %v", got, err)
	}
}
