package rollups_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pmx/engine"
	"pmx/rollups"
)

// tablesWhere are the names of tables that meet a condition.
func tablesWhere(ctx context.Context, conn *sql.Conn, which string) (names []string, err error) {
	err = engine.EachValue(ctx, conn, "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND "+which+" ORDER BY 1", func(name string) error {
		names = append(names, name)
		return nil
	})
	return names, err
}

// TestARebuildThatIsStoppedLeavesTheFormerRollups: whichever rollup it is at, and it leaves no table of its own; the next one is made in whole.
func TestARebuildThatIsStoppedLeavesTheFormerRollups(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		// A delta that no facts have tells the former rollups from new ones.
		const delta = "INSERT INTO wallet_day_delta BY NAME SELECT 18000::INTEGER AS day, 5 AS wallet, 1 AS fills, 1 AS buy_usd, 0 AS sell_usd, 0 AS fee_usd"
		var steps []string
		if _, err := conn.ExecContext(ctx, stretchFacts); err != nil {
			return err
		}
		if err := rollups.Rebuild(ctx, v.db, conn, nil, func(name string, _, _ int) { steps = append(steps, name) }); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, delta); err != nil {
			return err
		}
		contents := func() (all []string) {
			t.Helper()
			names, err := tablesWhere(ctx, conn, "NOT temporary")
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				var sum string
				if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*)::VARCHAR || ' ' || coalesce(sum(hash(t)), 0) FROM \"%s\" AS t", name)).Scan(&sum); err != nil {
					t.Fatal(err)
				}
				all = append(all, name+" "+sum)
			}
			temporary, err := tablesWhere(ctx, conn, "temporary")
			if err != nil {
				t.Fatal(err)
			}
			return append(all, temporary...)
		}
		before := contents()
		for _, at := range steps {
			stopped, stop := context.WithCancel(ctx)
			err := rollups.Rebuild(stopped, v.db, conn, nil, func(name string, _, _ int) {
				if name == at {
					stop()
				}
			})
			stop()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("stopped at %s: err = %v", at, err)
			}
			if is := contents(); !slices.Equal(is, before) {
				t.Errorf("stopped at %s: the tables are\n%q\nand were\n%q", at, is, before)
			}
		}
		if err := rollups.Rebuild(ctx, v.db, conn, nil, nil); err != nil {
			return err
		}
		var left int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM wallet_day_delta").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows of a delta after a rebuild: err = %v", left, err)
		}
		return nil
	})
}

// TestARebuildDropsWhatAnotherLeft, whatever its tables look like, and no table of the schema has such a name.
func TestARebuildDropsWhatAnotherLeft(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if n, err := rollups.DropUnfinished(ctx, conn); n > 0 || err != nil {
			t.Errorf("%d tables of the schema look like those of a rebuild: err = %v", n, err)
		}
		for _, query := range []string{stretchFacts, "CREATE TABLE position_new AS SELECT 1 AS other", "CREATE TABLE former_new AS SELECT 1 AS other"} {
			if _, err := conn.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		if err := rollups.Rebuild(ctx, v.db, conn, nil, nil); err != nil {
			return err
		}
		rows, err := rowsOf(ctx, conn, "position")
		if len(rows) < 10_000 {
			t.Errorf("%d positions", len(rows))
		}
		left, other := tablesWhere(ctx, conn, "ends_with(table_name, '_new') AND NOT temporary")
		if len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		return errors.Join(err, other)
	})
}
