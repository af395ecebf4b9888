package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"pmx/rollups"
)

// TestBaseAndDeltaAreReadInOnePass: each row of base and delta counts once, and only those of keys that the delta has are added up. A
// condition on keys does not make DuckDB keep all rows of the base that meet it until the delta was read, as a correlated subquery does (a
// "delim join").
func TestBaseAndDeltaAreReadInOnePass(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		for _, statement := range []string{
			"INSERT INTO position SELECT i // 50, i % 50, 1, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0 FROM range(100000) AS r(i)",
			"INSERT INTO position_delta SELECT 7 * i, 3, 1, 10, 20, 0, 30, 40, 0 FROM range(100) AS r(i)",
			"INSERT INTO redemption SELECT i // 50 * 1000000, i // 50, i % 50, 0, 4 FROM range(1000) AS r(i)",
			"INSERT INTO redemption_delta VALUES (NULL, 3, 3, 5), (NULL, 3, 3, 6), (2000000, 2, 3, 7), (2000000, 9999, 3, 8)",
		} {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		mustAdd := map[string]int64{"position": 200, "redemption": 5}
		for name, sum := range map[string]string{"position": "fills", "redemption": "usd"} {
			rows, added, keys, err := rollups.CurrentOf(ctx, conn, name)
			if err != nil {
				return err
			}
			var n int64
			if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM ("+added+")").Scan(&n); err != nil {
				return err
			}
			if n != mustAdd[name] {
				t.Errorf("%s: %d rows are added up, want %d", name, n, mustAdd[name])
			}
			all := fmt.Sprintf("(FROM %s UNION ALL BY NAME FROM %[1]s_delta)", name)
			var moreRows, moreSum int64
			query := fmt.Sprintf("SELECT (SELECT count(*) FROM (%[1]s)) - (SELECT count(*) FROM (SELECT DISTINCT %[2]s FROM %[3]s)), (SELECT SUM(%[4]s) FROM (%[1]s)) - (SELECT SUM(%[4]s) FROM %[3]s)",
				rows, strings.Join(keys, ", "), all, sum)
			if err := conn.QueryRowContext(ctx, query).Scan(&moreRows, &moreSum); err != nil {
				return err
			}
			if moreRows != 0 || moreSum != 0 {
				t.Errorf("%s: %d more rows than base and delta have keys, and %d more %s", name, moreRows, moreSum, sum)
			}
			for _, key := range keys {
				var kind, plan string
				if err := conn.QueryRowContext(ctx, fmt.Sprintf("EXPLAIN SELECT %s, SUM(%s) FROM (%s) AS r WHERE %[1]s >= 5 GROUP BY ALL", key, sum, rows)).Scan(&kind, &plan); err != nil {
					return err
				}
				if strings.Contains(plan, "DELIM") {
					t.Errorf("%s by %s:\n%s", name, key, plan)
				}
			}
		}
		return nil
	})
}

// TestHoldingsKeepNoPositions: no statement makes DuckDB keep all positions because it reads them twice (a "CTE"), as it does if these
// are a view that joins: of base and delta.
func TestHoldingsKeepNoPositions(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "INSERT INTO position_delta SELECT 7 * i, 3, 1, 10, 20, 0, 30, 40, 0 FROM range(100) AS r(i)"); err != nil {
			return err
		}
		rows, _, _, err := rollups.CurrentOf(ctx, conn, "position")
		if err != nil {
			return err
		}
		first, all := rollups.HoldingsOf("(" + rows + ")")
		if _, err := conn.ExecContext(ctx, first); err != nil {
			return err
		}
		for _, statement := range all {
			var kind, plan string
			if err := conn.QueryRowContext(ctx, "EXPLAIN "+statement).Scan(&kind, &plan); err != nil {
				return err
			}
			if strings.Contains(plan, "CTE") || !strings.Contains(plan, "ANTI") {
				t.Errorf("%s\n%s", statement, plan)
			}
		}
		return nil
	})
}
