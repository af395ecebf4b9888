package rollups_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/rollups"
)

// stretchFacts are facts of some thousand tokens, most of few fills and one of a quarter of them, with fees of both kinds, times
// within a second, and prices of all kinds; half have whole hundredths of shares at a price of a 10,000th.
const stretchFacts = `INSERT INTO fills BY NAME
SELECT 1600000000 + (h >> 7) % 90000 AS seconds, CASE WHEN h % 3 = 0 THEN (h >> 9) % 1000000 ELSE 0 END::INTEGER AS micros,
  CASE WHEN h % 5 = 0 THEN 2147483000 - ((h >> 11) % 9)::BIGINT ELSE ((h >> 11) % 300)::BIGINT END::INTEGER AS wallet,
  CASE WHEN r % 4 = 0 THEN 700 ELSE (h >> 23) % 3000 END::INTEGER AS token,
  ((h >> 3) % 2)::TINYINT AS side, ((h >> 4) % 3)::TINYINT AS role,
  CASE WHEN r % 50 = 0 THEN 0 WHEN r % 97 = 0 THEN 4500000000000000000 // 2000 WHEN h % 2 = 0 THEN (h >> 30) % 10000 * 10000 ELSE (h >> 30) % 100000000 END::BIGINT AS shares,
  CASE WHEN r % 50 = 1 THEN 0 WHEN h % 2 = 0 THEN ((h >> 30) % 10000) * ((h >> 17) % 10000) ELSE (h >> 40) % 50000000 END::BIGINT AS usd,
  CASE WHEN r % 7 = 0 THEN ((h >> 50) % 100)::BIGINT - 50 ELSE 0 END::BIGINT AS fee, NULL::BLOB AS tx,
  CASE WHEN r % 3 > 0 THEN ((h >> 13) % 4)::INTEGER END AS log_index, 0::SMALLINT AS repeat, 0 AS batch, NULL::BIGINT AS block
FROM (SELECT r, hash(r) >> 1 AS h FROM range(30000) AS t(r)) AS random`

// rowsOf are the rows of a table in the order in which they are stored.
func rowsOf(ctx context.Context, conn *sql.Conn, table string) (rows []string, err error) {
	found, err := conn.QueryContext(ctx, "SELECT t::VARCHAR FROM "+table+" AS t ORDER BY rowid")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var row string
		if err := found.Scan(&row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, found.Err()
}

// TestStretchesGiveTheRowsOfTheDefinitions: however many facts are summed up at once, and however many stretches are left to the
// definitions, positions and candles have the same rows in the same order, and DuckDB's memory limit is as before.
func TestStretchesGiveTheRowsOfTheDefinitions(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, stretchFacts); err != nil {
			return err
		}
		made := func(atOnce int64) map[string][]string {
			limit := v.db.MemoryLimit()
			if err := rollups.RebuildAtOnce(ctx, v.db, conn, atOnce); err != nil {
				t.Fatal(err)
			}
			if is := v.db.MemoryLimit(); is != limit {
				t.Errorf("DuckDB's limit was %d, and is %d after the rebuild", limit, is)
			}
			out := map[string][]string{}
			for _, table := range []string{"position", "candle"} {
				rows, err := rowsOf(ctx, conn, table)
				if err != nil {
					t.Fatal(err)
				}
				out[table] = rows
			}
			return out
		}
		if err := v.db.BoundMemory(ctx, conn, 600<<20); err != nil { // leaves all to the definitions
			return err
		}
		if !v.db.Bounded() {
			t.Fatal("there is no bound")
		}
		want := made(0)
		if err := v.db.BoundMemory(ctx, conn, 0); err != nil {
			return err
		}
		if p, c := len(want["position"]), len(want["candle"]); p < 10_000 || c < 10_000 {
			t.Fatalf("%d positions, %d candles", p, c)
		}
		for _, atOnce := range []int64{0, 40_000, 2600} {
			got := made(atOnce)
			for table, rows := range want {
				if atOnce == 2600 { // two stretches at once, and the busiest one is left to the definitions, which cut it in their own ways
					slices.Sort(rows)
					slices.Sort(got[table])
				}
				if i, ok := firstOther(rows, got[table]); !ok {
					t.Errorf("%d facts at once: row %d of %s: got %s, want %s", atOnce, i, table, at(got[table], i), at(rows, i))
				}
			}
		}
		return nil
	})
}

// firstOther is the first place at which lists differ; ok: they do not.
func firstOther(a, b []string) (place int, ok bool) {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i, false
		}
	}
	return 0, true
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}

// A sum that does not fit into 64 bits fails, as that of a definition does, and nothing is changed.
func TestAStretchWhoseSumOverflowsFails(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	const fact = "INSERT INTO fills BY NAME SELECT 1600000000 AS seconds, 0 AS micros, 1 AS wallet, 2 AS token, %d AS side, 2 AS role, %s AS shares, %s AS usd, %s AS fee, " +
		"NULL::BLOB AS tx, NULL::INTEGER AS log_index, 0 AS repeat, 0 AS batch, NULL::BIGINT AS block FROM range(3)"
	const most = "4611686018427387904"
	for _, tc := range [][3]string{{most, "1", "0"}, {"1", most, "0"}, {"1", "1", most}} {
		for side := range 2 {
			v.write(func(ctx context.Context, conn *sql.Conn) error {
				if _, err := conn.ExecContext(ctx, "DELETE FROM fills"); err != nil {
					return err
				}
				if err := rollups.RebuildAtOnce(ctx, v.db, conn, 0); err != nil {
					return err
				}
				if _, err := conn.ExecContext(ctx, fmt.Sprintf(fact, side, tc[0], tc[1], tc[2])); err != nil {
					return err
				}
				limit := v.db.MemoryLimit()
				err := rollups.RebuildAtOnce(ctx, v.db, conn, 0)
				if err == nil || !strings.Contains(err.Error(), "out of range of 64 bits") {
					t.Errorf("side %d, shares, dollars, fee %v: %v", side, tc, err)
				}
				if is := v.db.MemoryLimit(); is != limit {
					t.Errorf("DuckDB's limit was %d, and is %d after the failure", limit, is)
				}
				rows, err := rowsOf(ctx, conn, "position")
				if len(rows) > 0 {
					t.Errorf("%d positions after the failure: %s", len(rows), slices.Max(rows))
				}
				return err
			})
		}
	}
}

// A rebuild whose facts cannot be gathered for lack of memory is made by the definitions.
func TestARebuildGoesOnWithoutBorrowedMemory(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	const limit = 400_000_000 // of which DuckDB needs more than half for its notes on rows that are deleted
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		for _, query := range []string{stretchFacts, "CREATE TABLE held_rows AS SELECT 1::TINYINT AS one FROM range(27000000) AS t(r)"} {
			if _, err := conn.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		_, err := v.db.LimitMemory(ctx, conn, limit)
		return err
	})
	rebuild := func() {
		steps := 0
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			if err := rollups.Rebuild(ctx, v.db, conn, nil, func(name string, _, _ int) {
				if name == "position" {
					steps++
				}
			}); err != nil {
				return err
			}
			rows, err := rowsOf(ctx, conn, "position")
			if len(rows) < 10_000 || v.db.MemoryLimit() != limit {
				t.Errorf("%d positions, and a limit of %d bytes", len(rows), v.db.MemoryLimit())
			}
			var is string
			if err := conn.QueryRowContext(ctx, "SELECT current_setting('memory_limit')").Scan(&is); err != nil || is != "381.4 MiB" {
				t.Errorf("DuckDB's limit is %s: %v", is, err)
			}
			return err
		})
		if steps != 2 {
			t.Errorf("positions were begun %d times: the memory was not refused", steps)
		}
	}
	err := v.db.Read(engine.Lean(t.Context()), func(conn *sql.Conn) error {
		undone := errors.New("undone")
		err := engine.InTx(t.Context(), conn, func() error {
			if _, err := conn.ExecContext(t.Context(), "DELETE FROM held_rows"); err != nil {
				return err
			}
			rebuild()
			return undone
		})
		if errors.Is(err, undone) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
