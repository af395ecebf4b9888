package keeper_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"pmx/engine"
)

// TestARebuildReadsNoFormerRollup: from facts alone, with every rollup emptied, it makes what they were.
func TestARebuildReadsNoFormerRollup(t *testing.T) {
	k := sampleIn(t, t.TempDir(), 5_000)
	mustVerify(t, k)
	err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
		var deltas []string
		err := engine.EachValue(t.Context(), conn, "SELECT table_name FROM duckdb_tables() WHERE ends_with(table_name, '_delta')", func(name string) error {
			deltas = append(deltas, name)
			return nil
		})
		if err != nil || len(deltas) < 20 {
			t.Errorf("there are %d rollups", len(deltas))
			return err
		}
		for _, delta := range deltas {
			for _, name := range []string{delta, strings.TrimSuffix(delta, "_delta")} {
				if _, err := conn.ExecContext(t.Context(), `DELETE FROM "`+name+`"`); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, k)
}

// TestAStoppedRebuildThatChangedTheDeskLeavesStaleRollups, which the next refresh rebuilds.
func TestAStoppedRebuildThatChangedTheDeskLeavesStaleRollups(t *testing.T) {
	k := sampleIn(t, t.TempDir(), 5_000)
	stopped := func() {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		err := k.Rebuild(ctx, func(name string, _, _ int) {
			if name == "token_day" {
				stop()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a rebuild that was stopped: err = %v", err)
		}
	}
	if stopped(); k.Freshness().Stale {
		t.Error("the rollups are stale, though the desk was as it should be")
	}
	err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(t.Context(), "DELETE FROM desk_market WHERE event = (SELECT min(event) FROM desk_market)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if stopped(); !k.Freshness().Stale {
		t.Error("the desk changed, and nothing says that the rollups are stale")
	}
	if err := k.Refresh(t.Context(), nil); err != nil || k.Freshness().Stale {
		t.Errorf("after a refresh: stale = %t, err = %v", k.Freshness().Stale, err)
	}
	mustVerify(t, k)
}
