package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// TestStatementsAreRunByWaitingAsleep: the driver runs statements by the variable that the package replaces, and what it
// reports of a failed one is what DuckDB says.
func TestStatementsAreRunByWaitingAsleep(t *testing.T) {
	db := open(t, t.TempDir())
	ctx := context.Background()
	replaced := mapping.ExecutePending
	defer func() { mapping.ExecutePending = replaced }()
	runs := 0
	mapping.ExecutePending = func(pending mapping.PendingResult, result *mapping.Result) mapping.State {
		runs++
		return replaced(pending, result)
	}
	for _, c := range []struct {
		query string
		kind  duckdb.ErrorType
		text  string
	}{
		{"CREATE OR REPLACE TEMP TABLE k (a INTEGER PRIMARY KEY); INSERT INTO k SELECT 7 FROM range(2)", duckdb.ErrorTypeConstraint, "Constraint Error: "},
		{"CREATE TEMP TABLE n AS SELECT (i || 'x')::INTEGER AS n FROM range(500000) AS r (i)", duckdb.ErrorTypeConversion, "Conversion Error: "},
		{"SELECT error('of its own')", duckdb.ErrorTypeInvalidInput, "Invalid Input Error: of its own"},
		{"SELECT count(*) FROM range(3000000) AS r (i) WHERE hash(i) % 7 = 3 ORDER BY 1", 0, ""},
	} {
		before := runs
		err := db.Write(ctx, func(conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, c.query)
			return err
		})
		if runs == before {
			t.Fatalf("%s: the driver did not run it by mapping.ExecutePending", c.query)
		}
		var own *duckdb.Error
		switch {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", c.query, err)
		case c.text != "" && (!errors.As(err, &own) || own.Type != c.kind || !strings.HasPrefix(own.Msg, c.text)):
			t.Errorf("%s: got %v, want DuckDB's error of type %v that begins with %q", c.query, err, c.kind, c.text)
		}
	}
}

// TestACancelledStatementEndsWhileItWaits: also while all of its tasks are with others.
func TestACancelledStatementEndsWhileItWaits(t *testing.T) {
	db := open(t, t.TempDir())
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		err := db.Read(ctx, func(conn *sql.Conn) error {
			var n int
			return conn.QueryRowContext(ctx, "SELECT count(*) FROM range(1000000000) AS a (i) WHERE hash(i) % 7 = 3").Scan(&n)
		})
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v, want the deadline", err)
		}
	}
	if err := db.Read(context.Background(), func(conn *sql.Conn) error {
		var n int
		return conn.QueryRowContext(context.Background(), "SELECT 1").Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
}
