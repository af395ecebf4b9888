package keeper_test

import (
	"database/sql"
	"os"
	"testing"

	"pmx/engine/ingest"
)

// TestARebuildBesideALongQueryOwesACheckpoint: it succeeds, and the refresh after the query writes the log into the database.
func TestARebuildBesideALongQueryOwesACheckpoint(t *testing.T) {
	k, _ := openLimited(t)
	commit := func(first int) {
		t.Helper()
		if _, err := k.Commit(t.Context(), batchOf(first, 50), ingest.Remaining{}); err != nil {
			t.Fatal(err)
		}
	}
	log := func() int64 {
		st, err := os.Stat(k.DB().Dir().Database() + ".wal")
		if err != nil {
			return 0
		}
		return st.Size()
	}
	commit(0)
	k.Settle()
	err := k.Read(t.Context(), func(conn *sql.Conn) error {
		for _, text := range []string{"BEGIN", "SELECT count(*) FROM fills"} {
			if _, err := conn.ExecContext(t.Context(), text); err != nil {
				return err
			}
		}
		commit(50)
		if err := k.Rebuild(t.Context(), nil); err != nil {
			t.Errorf("the rebuild failed: %v", err)
		}
		if f := k.Freshness(); f.FailureText != "" || log() == 0 {
			t.Errorf("the failure is %q, and the log has %d bytes", f.FailureText, log())
		}
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Cycle(t.Context()); err != nil || log() > 0 {
		t.Errorf("after the query: err = %v, and the log has %d bytes", err, log())
	}
	if c := k.Snapshot().Counts.Fills; c != 100 {
		t.Errorf("%d fills are shown", c)
	}
	alsoVerify(t, k)
}
