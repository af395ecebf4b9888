package keeper_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// batchOf is a batch of n fills, one per second, starting with number first. It records itself in
// the ledger, which here is any table that nothing else writes to.
func batchOf(first, n int) ingest.Rows {
	return ingest.Rows{Feed: data.Feed{Name: "polygon-logs", Kind: data.KindFills, Identity: data.KeepRepeats}, Name: "polygon",
		Read: func(_ context.Context, s data.Sink) error {
			for i := first; i < first+n; i++ {
				f := data.Fill{LogIndex: int32(i), TS: (1_780_000_000 + int64(i)) * 1_000_000, Role: data.Maker, TokenID: "71", Shares: 2_000_000, USD: 1_000_000, Outcome: data.NoIndex}
				binary.BigEndian.PutUint32(f.Tx[28:], uint32(i)+1)
				binary.BigEndian.PutUint32(f.Wallet[16:], uint32(i%7)+1)
				if err := s.Fill(int64(i), f); err != nil {
					return err
				}
			}
			return nil
		},
		Within: func(ctx context.Context, conn *sql.Conn) error {
			_, err := conn.ExecContext(ctx, "INSERT INTO sync_cursor VALUES ('test', '{}')")
			return err
		}}
}

// TestCommittedBatchesAreShown: the snapshot after a batch has it; a failed batch is in none.
func TestCommittedBatchesAreShown(t *testing.T) {
	k := open(t, t.TempDir())
	for n := range 3 {
		r, err := k.Commit(t.Context(), batchOf(10*n, 15), ingest.Remaining{})
		if err != nil || r.Inserted != int64(10+5*min(1, max(0, 1-n))) {
			t.Fatalf("err = %v, r = %+v", err, r)
		}
		if c := k.Snapshot().Counts.Fills; c != int64(10*n+15) {
			t.Errorf("%d fills are shown after batch %d", c, n)
		}
	}
	own := errors.New("own")
	bad := batchOf(100, 5)
	bad.Within = func(context.Context, *sql.Conn) error { return own }
	if _, err := k.Commit(t.Context(), bad, ingest.Remaining{}); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
	empty := batchOf(0, 0)
	empty.Read = nil
	if _, err := k.Commit(t.Context(), empty, ingest.Remaining{}); err != nil {
		t.Error(err)
	}
	if c := k.Snapshot().Counts.Fills; c != 35 || k.Freshness().LastFills.IsZero() {
		t.Errorf("%d fills, %+v", c, k.Freshness())
	}
	if n := count(t, k, "SELECT count(*) FROM sync_cursor"); n != 4 {
		t.Errorf("the ledger has %d batches", n)
	}
	alsoVerify(t, k)
}

// TestACatchUpCostsOneRebuild: the rebuild waits for the last batch, however often the schedule
// asks for one, and whatever other sources commit in between.
func TestACatchUpCostsOneRebuild(t *testing.T) {
	k := open(t, t.TempDir())
	k.Bulk(100)
	for n, coming := range []int64{200, 100, 0} {
		r, err := k.Commit(t.Context(), batchOf(100*n, 100), ingest.Remaining{Fills: coming})
		if err != nil || n == 0 && !r.RebuildNeeded {
			t.Fatalf("err = %v, r = %+v", err, r)
		}
		other := batchOf(0, 0) // of another source, which knows nothing of the catch-up
		other.Name, other.Read = "other", nil
		if _, err := k.Commit(t.Context(), other, ingest.Remaining{}); err != nil {
			t.Fatal(err)
		}
		if err := k.Cycle(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if coming == 0 {
			want = 300
		}
		if c := k.Snapshot().Counts.Fills; c != want || k.Freshness().Stale != (coming > 0) {
			t.Errorf("with %d to come, %d fills are shown, want %d", coming, c, want)
		}
	}
	alsoVerify(t, k)
}

// TestRebuiltFiguresAreShownBeforeTheCheckpoint: the checkpoint still follows, and so do the
// figures that merging needs.
func TestRebuiltFiguresAreShownBeforeTheCheckpoint(t *testing.T) {
	opts := enginetest.Options(t, t.TempDir(), "2GB")
	var checkpoints atomic.Int64
	opts.OnStatement = func(text string) {
		if text == "CHECKPOINT" {
			checkpoints.Add(1)
		}
	}
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: opts, Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true})
	if err != nil {
		t.Fatal(err)
	}
	closedAtEnd(t, k)
	k.Bulk(100)
	if _, err := k.Commit(t.Context(), batchOf(0, 100), ingest.Remaining{Fills: 1}); err != nil {
		t.Fatal(err)
	}
	before, shown := checkpoints.Load(), int64(-1)
	k.OnPublish(func(s *serving.Snapshot) {
		if s.Counts.Fills == 100 && shown < 0 {
			shown = checkpoints.Load() - before
		}
	})
	if err := k.Refresh(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if after := checkpoints.Load() - before; shown != 0 || after != 1 {
		t.Errorf("figures were shown after %d checkpoints of %d, want 0 of 1", shown, after)
	}
	if _, err := k.Commit(t.Context(), batchOf(90, 20), ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	if c := k.Snapshot().Counts.Fills; c != 110 {
		t.Errorf("%d fills are shown after the next batch", c)
	}
	alsoVerify(t, k)
}

// TestACatchUpThatStopsIsRebuilt by the next cycle after a while.
func TestACatchUpThatStopsIsRebuilt(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	k := openAt(t, t.TempDir(), func() time.Time { return now })
	k.Bulk(100)
	if _, err := k.Commit(t.Context(), batchOf(0, 100), ingest.Remaining{Fills: 1}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []time.Duration{0, 59 * time.Second, 2 * time.Second} {
		now = now.Add(after)
		if err := k.Cycle(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		if after == 2*time.Second {
			want = 100
		}
		if c := k.Snapshot().Counts.Fills; c != want {
			t.Errorf("after %v more %d fills are shown, want %d", after, c, want)
		}
	}
}

func TestALongCatchUpIsRebuiltOnTheWay(t *testing.T) {
	testfiles.InLong(t, "TestACatchUpThatStopsIsRebuilt rebuilds one that ended")
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	k := openAt(t, t.TempDir(), func() time.Time { return now })
	k.Bulk(10)
	shown := 0
	for n := range 25 {
		if _, err := k.Commit(t.Context(), batchOf(10*n, 10), ingest.Remaining{Fills: 1_000_000}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(30 * time.Second)
		if err := k.Cycle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if k.Snapshot().Counts.Fills == int64(10*n+10) {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d rebuilds in twelve minutes", shown)
	}
}

// TestAFollowingServerKeepsFewBlocks that DuckDB has read: they are released after the first batch
// and a minute after that, or as soon as nobody reads the database.
func TestAFollowingServerKeepsFewBlocks(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	k, err := keeper.Open(t.Context(), keeper.Config{Engine: enginetest.Options(t, t.TempDir(), "512MB"), Feeds: feeds.Catalog{}, Log: zerolog.Nop(), Serve: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	k.Settle()
	run := func(query string, into ...any) {
		t.Helper()
		if err := k.DB().Write(context.Background(), func(conn *sql.Conn) error {
			if into == nil {
				_, err := conn.ExecContext(t.Context(), query)
				return err
			}
			return conn.QueryRowContext(t.Context(), query).Scan(into...)
		}); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE much AS SELECT hash(range) AS n FROM range(2_000_000); CHECKPOINT")
	blocks := func(read bool) (n int64) {
		t.Helper()
		if read {
			var sum string
			run("SELECT sum(n)::VARCHAR FROM much", &sum)
		}
		run("SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory() WHERE tag = 'BASE_TABLE'", &n)
		return n >> 20
	}
	for i, step := range []struct {
		later   time.Duration
		reading bool
		want    bool // few
	}{{0, false, true}, {30 * time.Second, false, false}, {time.Minute, true, false}, {time.Second, false, true}} {
		now = now.Add(step.later)
		full := blocks(true)
		commit := func(*sql.Conn) error {
			_, err := k.Commit(t.Context(), batchOf(10*i, 10), ingest.Remaining{})
			return err
		}
		err := error(nil)
		if step.reading {
			err = k.Read(t.Context(), commit)
		} else {
			err = commit(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		if left := blocks(false); full < 12 || left <= 5 != step.want {
			t.Errorf("batch %d, %s later, with a reader: %v: %d MB of blocks, %d before it", i, step.later, step.reading, left, full)
		}
	}
	// A server that catches up may hold more, and releases the rest after each batch.
	for i, step := range []struct {
		rows int
		few  bool
	}{{1_000_000, false}, {6_000_000, true}} {
		run(fmt.Sprintf("INSERT INTO much SELECT hash(range) FROM range(%d); CHECKPOINT", step.rows))
		full := blocks(true)
		if _, err := k.Commit(t.Context(), batchOf(1000+10*i, 10), ingest.Remaining{Fills: 1_000_000}); err != nil {
			t.Fatal(err)
		}
		if left := blocks(false); left <= 5 != step.few {
			t.Errorf("batch %d of many: %d MB of blocks, %d before it", i, left, full)
		}
	}
}

// TestLargeBatchesAreInTheSegmentsWhenTheyAreShown: they are added to them while the snapshot is made, which waits for it.
func TestLargeBatchesAreInTheSegmentsWhenTheyAreShown(t *testing.T) {
	k := open(t, t.TempDir())
	k.Settle()
	k.DelaySegments(100 * time.Millisecond)
	shown := int64(0)
	k.OnPublish(func(s *serving.Snapshot) {
		shown = s.Counts.Fills
		if stats := k.WalletStats(); stats.Stored+stats.Recent != shown || !stats.Ready {
			t.Errorf("a snapshot of %d fills is published, and the segments of wallets are %+v", shown, stats)
		}
	})
	for first := 0; first < 10_000; first += 2_500 {
		if _, err := k.Commit(t.Context(), batchOf(first, 2_500), ingest.Remaining{}); err != nil {
			t.Fatal(err)
		}
		if shown != int64(first)+2_500 {
			t.Errorf("%d fills are shown after %d", shown, first+2_500)
		}
	}
}

// TestLateFillsLeaveTheWindowsToo: what leaves the windows is read for several batches at once, and again after late fills
// that leave them within these batches.
func TestLateFillsLeaveTheWindowsToo(t *testing.T) {
	k := open(t, t.TempDir())
	n := 0
	commit := func(seconds ...int64) {
		t.Helper()
		r, err := k.Commit(t.Context(), ingest.Rows{Feed: data.Feed{Name: "polygon-logs", Kind: data.KindFills}, Name: "polygon",
			Read: func(_ context.Context, s data.Sink) error {
				for _, at := range seconds {
					n++
					f := data.Fill{LogIndex: int32(n), TS: (1_770_000_000 + at) * 1_000_000, Role: data.Taker, TokenID: "71", Shares: 2_000_000, USD: 1_000_000, Outcome: data.NoIndex}
					f.Tx[31], f.Wallet[19] = byte(n), byte(n%3+1)
					if err := s.Fill(int64(n), f); err != nil {
						return err
					}
				}
				return nil
			}}, ingest.Remaining{})
		if err != nil || r.Inserted != int64(len(seconds)) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	const day = 86_400
	commit(0, 4, 60*day)
	k.Settle()
	commit(60*day + 1)
	commit(60*day + 2)                                // the fills that leave until 17 s are known
	commit(5, 59*day+6, 53*day+6, 46*day+5, 30*day+7) // these, too, will leave a window
	commit(60*day + 6)
	commit(60*day + 8)
	mustVerify(t, k)
}
