package keeper_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// logOf returns the size of the log of a keeper's database, in bytes.
func logOf(k *keeper.Keeper) int64 {
	st, err := os.Stat(k.DB().Dir().Database() + ".wal")
	if err != nil {
		return 0
	}
	return st.Size()
}

// TestARebuildBesideALongQueryOwesACheckpoint: it succeeds, and the refresh after the query writes the log into the database.
func TestARebuildBesideALongQueryOwesACheckpoint(t *testing.T) {
	k, _ := openLimited(t)
	commit := func(first int) {
		t.Helper()
		if _, err := k.Commit(t.Context(), batchOf(first, 50), ingest.Remaining{}); err != nil {
			t.Fatal(err)
		}
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
		made := k.Tally().Works["checkpoint"]
		if err := k.Rebuild(t.Context(), nil); err != nil {
			t.Errorf("the rebuild failed: %v", err)
		}
		if f := k.Freshness(); f.FailureText != "" || logOf(k) == 0 {
			t.Errorf("the failure is %q, and the log has %d bytes", f.FailureText, logOf(k))
		}
		if w := k.Tally().Works["checkpoint"]; w != made {
			t.Errorf("a checkpoint that is put off is counted: %+v", w)
		}
		_, err := conn.ExecContext(t.Context(), "COMMIT")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Cycle(t.Context()); err != nil || logOf(k) > 0 {
		t.Errorf("after the query: err = %v, and the log has %d bytes", err, logOf(k))
	}
	if c := k.Snapshot().Counts.Fills; c != 100 {
		t.Errorf("%d fills are shown", c)
	}
	alsoVerify(t, k)
}

// TestARebuildBesideABackupOwesACheckpoint: no checkpoint may change the file that the backup reads, and the refresh after it makes one.
func TestARebuildBesideABackupOwesACheckpoint(t *testing.T) {
	k, _ := openLimited(t)
	if _, err := k.Commit(t.Context(), batchOf(0, 50), ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	err := k.DB().Freeze(t.Context(), func(ctx context.Context, _ engine.Frozen) error {
		err := k.Rebuild(ctx, nil)
		if logOf(k) == 0 || k.DB().CheckpointOwed().IsZero() {
			t.Errorf("the log has %d bytes, and a checkpoint is owed since %v", logOf(k), k.DB().CheckpointOwed())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Cycle(t.Context()); err != nil || logOf(k) > 0 || !k.DB().CheckpointOwed().IsZero() {
		t.Errorf("after the backup: err = %v, the log has %d bytes, and a checkpoint is owed since %v", err, logOf(k), k.DB().CheckpointOwed())
	}
	alsoVerify(t, k)
}

// TestACheckpointThatIsPutOffIsLogged: once, also if a backup was the first that could not make it. Only the one that is made is counted.
func TestACheckpointThatIsPutOffIsLogged(t *testing.T) {
	var log bytes.Buffer
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: enginetest.Options(t, t.TempDir(), ""), Feeds: feeds.Catalog{}, Log: zerolog.New(&log)})
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	err = k.DB().Freeze(t.Context(), func(ctx context.Context, _ engine.Frozen) error {
		return errors.Join(k.DB().Checkpoint(ctx), k.Rebuild(ctx, nil), k.Rebuild(ctx, nil))
	})
	if err := errors.Join(err, k.Cycle(t.Context())); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a checkpoint is put off, and the next refresh makes it", "the checkpoint that was put off is made"} {
		if n := strings.Count(log.String(), text); n != 1 {
			t.Errorf("%d times %q in %s", n, text, log.String())
		}
	}
	if made := k.Tally().Works["checkpoint"]; made.OK != 1 || made.Failed > 0 {
		t.Errorf("counted are %+v", made)
	}
}
