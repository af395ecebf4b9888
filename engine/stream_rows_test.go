package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// streamed is a row with a view of a text.
type streamed struct {
	ID    int64  `sql:"id"`
	Label string `sql:"label,view"`
}

const streamedRows = "SELECT id, repeat('ab', (id % 13)::INTEGER) || id AS label FROM range(@n) AS r(id)"

func streamQuery(n string) string { return strings.Replace(streamedRows, "@n", n, 1) }

// onReader runs f on a reading connection of a new database.
func onReader(t *testing.T, f func(ctx context.Context, conn *sql.Conn)) {
	t.Helper()
	db, err := engine.Open(t.Context(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Read(t.Context(), func(conn *sql.Conn) error { f(t.Context(), conn); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestStreamedRowsAreThoseOfTheQuery in their order, over many chunks.
func TestStreamedRowsAreThoseOfTheQuery(t *testing.T) {
	onReader(t, func(ctx context.Context, conn *sql.Conn) {
		var want, got []streamed
		add := func(to *[]streamed) func(row *streamed) error {
			return func(row *streamed) error {
				*to = append(*to, streamed{row.ID, strings.Clone(row.Label)})
				return nil
			}
		}
		if err := engine.EachRow(ctx, conn, streamQuery("300000"), add(&want)); err != nil {
			t.Fatal(err)
		}
		if err := engine.StreamRows(ctx, conn, streamQuery("300000"), add(&got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 300_000 {
			t.Errorf("%d rows (-rows +streamed):\n%s", len(got), diff)
		}
	})
}

// mixed is a row with a field for each way of reading a column.
type mixed struct {
	Long     int64  `sql:"long,null"`
	Short    int32  `sql:"short"`
	Shorter  int16  `sql:"shorter"`
	Shortest int8   `sql:"shortest"`
	Flag     bool   `sql:"flag"`
	Label    string `sql:"label,view"`
}

// TestStreamedColumnsAreThoseOfTheQuery for chunks of numbers, flags and views, which are read column by column, and for those with NULL, which
// are not; a column that is copied has all chunks read row by row.
func TestStreamedColumnsAreThoseOfTheQuery(t *testing.T) {
	const query = `SELECT CASE WHEN id % 10000 <> 4000 AND id < 99000 THEN id * 5000000000 END AS long, (id * 7)::INTEGER AS short, (id % 30011)::SMALLINT AS shorter, (id % 127)::TINYINT AS shortest,
		id % 3 = 0 AS flag, repeat('ab', (id % 13)::INTEGER) || id AS label FROM range(100000) AS r(id)`
	onReader(t, func(ctx context.Context, conn *sql.Conn) {
		var want, got []mixed
		add := func(to *[]mixed) func(row *mixed) error {
			return func(row *mixed) error {
				*to = append(*to, *row)
				(*to)[len(*to)-1].Label = strings.Clone(row.Label)
				return nil
			}
		}
		if err := errors.Join(engine.EachRow(ctx, conn, query, add(&want)), engine.StreamRows(ctx, conn, query, add(&got))); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 100_000 {
			t.Errorf("%d rows (-rows +streamed):\n%s", len(got), diff)
		}
		if got[63] != (mixed{63 * 5000000000, 63 * 7, 63, 63, true, strings.Repeat("ab", 63%13) + "63"}) || got[4000].Long != 0 || got[98999].Long != 98999*5000000000 || got[99000].Long != 0 {
			t.Errorf("rows are %+v, %+v, %+v, %+v", got[63], got[4000], got[98999], got[99000])
		}
		type copied struct {
			ID    int64  `sql:"id"`
			Label string `sql:"label"`
		}
		n := int64(0)
		err := engine.StreamRows(ctx, conn, streamQuery("5000"), func(row *copied) error {
			if row.ID != n || !strings.HasSuffix(row.Label, strconv.FormatInt(n, 10)) {
				t.Errorf("row %d is %+v", n, *row)
			}
			n++
			return nil
		})
		if err != nil || n != 5000 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

// TestAStreamEndsWithItsCause: an error of the query, even after many rows, one of the caller, and the end of the
// context. The connection can be used after each.
func TestAStreamEndsWithItsCause(t *testing.T) {
	onReader(t, func(ctx context.Context, conn *sql.Conn) {
		full := errors.New("full")
		cancelled, cancel := context.WithCancel(ctx)
		defer cancel()
		for _, c := range []struct {
			what  string
			ctx   context.Context
			query string
			each  func(row *streamed) error
			want  string
		}{
			{"a late error", ctx, "SELECT id, CASE WHEN id = 900000 THEN error('the last one')::VARCHAR ELSE 'x' END AS label FROM range(1000000) AS r(id)", func(*streamed) error { return nil }, "the last one"},
			{"an early error", ctx, "SELECT nothing AS id, '' AS label", func(*streamed) error { return nil }, "nothing"},
			{"another column", ctx, "SELECT 1::BIGINT AS id", func(*streamed) error { return nil }, "label"},
			{"another type", ctx, "SELECT 1::BIGINT AS id, [1] AS label", func(*streamed) error { return nil }, "cannot be streamed"},
			{"the caller", ctx, streamQuery("1000000"), func(row *streamed) error {
				if row.ID == 5000 {
					return full
				}
				return nil
			}, "full"},
			{"the context", cancelled, streamQuery("1000000"), func(row *streamed) error {
				if row.ID == 5000 {
					cancel()
				}
				return nil
			}, "canceled"},
		} {
			rows := 0
			err := engine.StreamRows(c.ctx, conn, c.query, func(row *streamed) error { rows++; return c.each(row) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v after %d rows", c.what, err, rows)
			}
			var n int
			if err := conn.QueryRowContext(ctx, "SELECT 7").Scan(&n); err != nil || n != 7 {
				t.Errorf("after %s: %d, %v", c.what, n, err)
			}
		}
	})
}

// A stream ends with its context also where no row comes, and what runs on its connection afterwards is not interrupted.
func TestAStreamWithoutRowsEndsWithItsContext(t *testing.T) {
	onReader(t, func(ctx context.Context, conn *sql.Conn) {
		ended, end := context.WithCancel(ctx)
		timer := time.AfterFunc(50*time.Millisecond, end)
		defer timer.Stop()
		const none = "SELECT id, '' AS label FROM range(1000000000000) AS r(id) WHERE hash(id) % 2 = 3"
		err := engine.StreamRows(ended, conn, none, func(*streamed) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a stream without rows: %v", err)
		}
		if err := engine.StreamRows(ended, conn, none, func(*streamed) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("a stream whose context has ended: %v", err)
		}
		for range 20 {
			var n int64
			if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM range(1000000)").Scan(&n); err != nil || n != 1_000_000 {
				t.Errorf("%d rows afterwards: %v", n, err)
			}
		}
	})
}
