package feeds_test

import (
	"database/sql"
	"testing"

	"pmx/data/feeds/shape"
)

// TestTimeInSQLAndGo: SQL and Go parse times alike, whatever the session's zone. 1767658669 is
// 2026-01-06 00:17:49 UTC.
func TestTimeInSQLAndGo(t *testing.T) {
	db := openDB(t)
	if _, err := db.Exec("SET TimeZone = 'America/New_York'"); err != nil {
		t.Logf("this DuckDB has no time zones: %v", err)
	}
	stmt := "SELECT " + shape.Time("x") + " FROM (SELECT ?::VARCHAR AS x)"
	for in, want := range map[string]int64{
		"1767658669":                       1767658669_000000,
		"1767658669.5":                     1767658669_500000,
		"1767658669123":                    1767658669_123000,
		"1767658669123456":                 1767658669_123456,
		"1767658669123456789":              1767658669_123456,
		"2026-01-06T00:17:49Z":             1767658669_000000,
		"2026-01-06T00:17:49.123456Z":      1767658669_123456,
		"2026-01-05 16:17:49-08:00":        1767658669_000000,
		"2026-01-06 00:17:49+00":           1767658669_000000,
		"2026-01-06T05:47:49.25+05:30":     1767658669_250000,
		"2026-01-06 00:17:49":              1767658669_000000,
		"2026-01-06T00:17:49.000000":       1767658669_000000,
		"2026-01-06 00:17:49 UTC":          1767658669_000000,
		"2026-01-06 00:17:49.5 UTC":        1767658669_500000,
		"2026-01-06":                       1767657600_000000,
		"":                                 0,
		"yesterday":                        0,
		"0xff":                             0,
		"1970-01-21 10:58:24.071000+00:00": 0, // read, and outside the years of the venue
	} {
		var got sql.NullInt64
		if err := db.QueryRow(stmt, in).Scan(&got); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got.Int64 < shape.FirstMicro {
			got.Int64 = 0
		}
		if got.Int64 != want {
			t.Errorf("%q in SQL: %d, want %d", in, got.Int64, want)
		}
		us, err := shape.FillTime(in)
		if us != want || (err == nil) != (want != 0) {
			t.Errorf("%q in Go: %d, %v, want %d", in, us, err, want)
		}
	}
}
