package keeper_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// mostStatements is how many a batch of new fills of open markets may run, from its rows until
// it is served. What keeps one from being run is what makes a small batch quick.
const mostStatements = 132

// mostReadingTokens is how many of them may read all tokens: their number grows with history.
const mostReadingTokens = 4

var readsTokens = regexp.MustCompile(`(FROM|JOIN) tokens\b`)

// TestASmallBatchRunsFewStatements: and no more where there is ten times as much history, nor
// where another batch came before.
func TestASmallBatchRunsFewStatements(t *testing.T) {
	var ran, reading atomic.Int64
	opts := enginetest.Options(t, t.TempDir(), "2GB")
	opts.OnStatement = func(text string) {
		ran.Add(1)
		if readsTokens.MatchString(text) {
			reading.Add(1)
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
			t.Fatalf("%v %+v", err, r)
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
	commit(100, nil) // the first one makes what is kept for those after it
	before := reading.Load()
	small := commit(100, nil)
	if n := reading.Load() - before; n > mostReadingTokens || n == 0 {
		t.Errorf("%d statements read tokens, at most %d are to", n, mostReadingTokens)
	}
	if small > mostStatements || small < 20 {
		t.Errorf("a batch of 100 fills runs %d statements, at most %d are to be", small, mostStatements)
	}
	commit(10_000, nil)
	if large := commit(100, nil); large != small {
		t.Errorf("with ten times the history %d statements, without %d", large, small)
	}
	mustVerify(t, k)
}

// TestNothingStagedStays: whatever an import had, its temporary tables hold no row behind it.
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
	mustVerify(t, k)
}
