package keeper_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups"
	"pmx/rollups/keeper"
)

// mostStatements is how many statements a batch of new fills of open markets may run, from its rows
// until it is served. Small batches are fast because they run few.
const mostStatements = 31

// mostHolding is how many more it may run if holders of resolved markets are revalued: they are
// valued in memory, but their markets, positions and volumes are read.
const mostHolding = 3

// mostReadingTokens is how many of them may read all tokens: their number grows with history.
const mostReadingTokens = 3

var (
	readsTokens = regexp.MustCompile(`(FROM|JOIN) tokens\b`)
	// readsLog has the import from which a statement reads the import log.
	readsLog = regexp.MustCompile(`FROM batches\b(\s+WHERE batch >=? (\d+))?`)
)

// TestASmallBatchRunsFewStatements, and no more if there is ten times as much history, or if there
// was another batch before.
func TestASmallBatchRunsFewStatements(t *testing.T) {
	var ran, reading, logFrom atomic.Int64
	opts := enginetest.Options(t, t.TempDir(), "2GB")
	opts.OnStatement = func(text string) {
		ran.Add(1)
		if readsTokens.MatchString(text) {
			reading.Add(1)
		}
		for _, read := range readsLog.FindAllStringSubmatch(text, -1) {
			from, err := strconv.ParseInt(read[2], 10, 64)
			if err != nil {
				from = -1
			}
			logFrom.Store(min(logFrom.Load(), from))
		}
	}
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: opts, Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	first := 0
	commit := func(n int, also func(s data.Sink) error) int64 {
		rows := batchOf(first, n)
		read := rows.Read
		rows.Read = func(ctx context.Context, s data.Sink) error {
			if also != nil {
				if err := also(s); err != nil {
					return err
				}
			}
			return read(ctx, s)
		}
		before := ran.Load()
		r, err := k.Commit(t.Context(), rows, ingest.Remaining{})
		if err != nil || r.Inserted != int64(n) {
			t.Fatalf("err = %v, r = %+v", err, r)
		}
		first += n
		if c := k.Snapshot().Counts.Fills; c != int64(first) {
			t.Fatalf("%d fills of %d are served", c, first)
		}
		return ran.Load() - before
	}
	commit(1000, func(s data.Sink) error {
		return s.Token(0, data.TokenRef{TokenID: "71", Condition: data.Hash{1}, Outcome: 0})
	})
	k.Settle()
	commit(100, nil) // the first one fills the memory that later ones use
	before := reading.Load()
	small := commit(100, nil)
	if n := reading.Load() - before; n > mostReadingTokens || n == 0 {
		t.Errorf("%d statements read tokens, at most %d may", n, mostReadingTokens)
	}
	if small > mostStatements || small < 20 {
		t.Errorf("a batch of 100 fills runs %d statements, at most %d may be", small, mostStatements)
	}
	if n := commit(5, nil); n != small-1 { // in the next seconds of as_of, of which it is known what leaves the windows
		t.Errorf("a batch of 5 fills soon after another runs %d statements, want one fewer than %d", n, small)
	}
	commit(10_000, nil)
	logFrom.Store(math.MaxInt64)
	last := k.Snapshot().Batch
	if large := commit(100, nil); large != small {
		t.Errorf("with ten times the history %d statements, without %d", large, small)
	}
	commit(100, func(s data.Sink) error {
		return s.Market(0, data.Market{Condition: data.Hash{1}, Stub: true, Resolution: &data.Resolution{Condition: data.Hash{1}, Payouts: []data.Micro{data.One, 0},
			ResolvedAt: time.Unix(1_760_000_000, 0), Source: data.ResolvedByAPI, Version: time.Unix(1_760_000_000, 0)}})
	})
	if n := count(t, k, "SELECT count(*) FROM redemption_delta"); n == 0 {
		t.Error("nobody holds tokens of the market that was resolved")
	}
	commit(100, nil) // fills again what the payout changed
	if held := commit(100, nil); held > small+mostHolding || held == small {
		t.Errorf("a batch of fills of a resolved market runs %d statements, at most %d may be", held, small+mostHolding)
	}
	if from := logFrom.Load(); from < last-1 || from > last || last < 3 {
		t.Errorf("a batch reads the import log from %d on, the last known import is %d", from, last)
	}
	alsoVerify(t, k)
}

// TestTheImportLogIsReadFromItsEnd: the result is that of reading all of it, also if the clock was
// set back, and if imports that were known are gone.
func TestTheImportLogIsReadFromItsEnd(t *testing.T) {
	clock := time.Unix(1_780_000_000, 0)
	k := openAt(t, t.TempDir(), func() time.Time { return clock })
	commit := func(first int) {
		t.Helper()
		if r, err := k.Commit(t.Context(), batchOf(first, 10), ingest.Remaining{}); err != nil || r.Inserted != 10 {
			t.Fatalf("err = %v, r = %+v", err, r)
		}
	}
	commit(0)
	newest := clock.UnixMicro()
	clock = clock.Add(-time.Hour)
	commit(10)
	if at := k.Snapshot().Desk.VolumeAsOf; at != newest {
		t.Errorf("volumes are as of %d, the newest import is %d", at, newest)
	}
	alsoVerify(t, k)
	for _, known := range []int64{-1, 0, 1, 1000} {
		err := k.DB().Read(t.Context(), func(conn *sql.Conn) error {
			last, err := rollups.LastBatch(t.Context(), conn, known)
			if err == nil && last != 1 {
				err = fmt.Errorf("the last import is %d after %d, want 1", last, known)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(t.Context(), "DELETE FROM batches")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	commit(20)
	if n := count(t, k, "SELECT max(batch) FROM batches"); n != 0 || k.Snapshot().Batch != 0 {
		t.Errorf("the first import of an empty log is %d, in the snapshot %d", n, k.Snapshot().Batch)
	}
}

// TestNothingStagedStays: after any import, its temporary tables are empty.
func TestNothingStagedStays(t *testing.T) {
	k := open(t, t.TempDir())
	failing := batchOf(50, 5)
	failing.Within = func(context.Context, *sql.Conn) error { return errors.New("own") }
	described := batchOf(60, 5)
	read := described.Read
	described.Read = func(ctx context.Context, s data.Sink) error {
		return errors.Join(s.Token(0, data.TokenRef{TokenID: "71", Condition: data.Hash{1}, Outcome: 0}),
			s.Market(0, data.Market{Condition: data.Hash{2}, Question: "q"}), read(ctx, s))
	}
	for _, rows := range []ingest.Rows{batchOf(0, 50), batchOf(40, 20), failing, described, batchOf(70, 5)} {
		_, _ = k.Commit(t.Context(), rows, ingest.Remaining{})
		var left []string
		err := k.DB().Write(t.Context(), func(conn *sql.Conn) error {
			return engine.Each(t.Context(), conn, `SELECT table_name FROM duckdb_tables() WHERE temporary AND estimated_size > 0
				AND (table_name ^@ 's_' OR table_name ^@ 'm_' OR table_name IN ('e_fill', 'n_fill_rows', 'n_map', 'n_market', 'n_name'))`, func(row []driver.Value) error {
				left = append(left, engine.Text(row[0]))
				return nil
			})
		})
		if err != nil || len(left) > 0 {
			t.Errorf("%v: rows are left in %v", err, left)
		}
	}
	if n := count(t, k, "SELECT count(*) FROM fills"); n != 70 {
		t.Errorf("%d fills", n)
	}
	alsoVerify(t, k)
}
