package engine_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/guard"
)

// onKept runs f on the writing connection of a new database with an empty table.
func onKept(t *testing.T, f func(ctx context.Context, conn *sql.Conn)) {
	t.Helper()
	ctx := t.Context()
	db, err := engine.Open(ctx, enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "CREATE TABLE kept (id BIGINT NOT NULL, log INTEGER, raw BLOB, twice BIGINT GENERATED ALWAYS AS (id * 2), kind TINYINT)")
		if err == nil {
			f(ctx, conn)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// keptCount is how many rows there are.
func keptCount(ctx context.Context, t *testing.T, conn *sql.Conn) (n int64) {
	t.Helper()
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM kept").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestInsertedRowsAreInTheTableInOrder over more than a row group, with chunks of any size, with NULL in some chunks of a column and not in
// others, and with strings of any length. The numbers are set at once in every other chunk.
func TestInsertedRowsAreInTheTableInOrder(t *testing.T) {
	const chunks = 80
	type row struct {
		id   int64
		log  sql.NullInt64
		raw  []byte
		kind int64
	}
	var want []row
	for c := range chunks {
		for i := range []int{2048, 2048, 1, 63, 64, 65, 2047}[c%7] {
			r := row{id: int64(len(want)), log: sql.NullInt64{Int64: int64(i), Valid: c%3 > 0 && i%5 > 0 || c%3 == 0}, kind: int64(i % 100)}
			if c%4 > 0 && i%7 > 0 {
				r.raw = bytes.Repeat([]byte{byte(c), 0xff}, 1+i%40)
			}
			if i == 3 {
				r.raw = bytes.Repeat([]byte{byte(c)}, 600_000)
			}
			want = append(want, r)
		}
	}
	onKept(t, func(ctx context.Context, conn *sql.Conn) {
		done := 0
		chunk := 0
		err := engine.InsertRows(ctx, conn, "kept", func(to *engine.ChunkRows) error {
			if chunk == chunks {
				return nil
			}
			n := []int{2048, 2048, 1, 63, 64, 65, 2047}[chunk%7]
			var kinds []int8
			if chunk%2 == 0 {
				kinds = engine.ChunkNumbers[int8](to, 3, n)
			}
			for i, r := range want[done : done+n] {
				to.Int64(0, r.id)
				if r.log.Valid {
					to.Int32(1, int32(r.log.Int64))
				}
				if r.raw != nil {
					to.Bytes(2, r.raw)
				}
				if kinds != nil {
					kinds[i] = int8(r.kind)
				} else {
					to.Int8(3, int8(r.kind))
				}
				if err := to.EndRow(); err != nil {
					return err
				}
			}
			done, chunk = done+n, chunk+1
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := conn.QueryContext(ctx, "SELECT id, log, raw, kind, twice FROM kept ORDER BY rowid")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		n := 0
		for ; rows.Next(); n++ {
			var r row
			var twice int64
			if err := rows.Scan(&r.id, &r.log, &r.raw, &r.kind, &twice); err != nil {
				t.Fatal(err)
			}
			if w := want[n]; r.id != w.id || r.log.Valid != w.log.Valid || w.log.Valid && r.log != w.log || !bytes.Equal(r.raw, w.raw) || (r.raw == nil) != (w.raw == nil) || r.kind != w.kind || twice != 2*w.id {
				t.Fatalf("row %d is %v %v %d bytes %d %d, want %v %v %d bytes %d", n, r.id, r.log, len(r.raw), r.kind, twice, w.id, w.log, len(w.raw), w.kind)
			}
		}
		if err := rows.Err(); err != nil || n != len(want) {
			t.Errorf("%d rows of %d, %v", n, len(want), err)
		}
	})
}

// TestNothingIsInsertedAfterAnError of the function that gives the rows: the statement ends with that error, a panic included.
func TestNothingIsInsertedAfterAnError(t *testing.T) {
	errNext := errors.New("no more rows")
	cases := map[string]struct {
		second func(to *engine.ChunkRows) error
		is     func(err error) bool
	}{
		"error":         {func(*engine.ChunkRows) error { return errNext }, func(err error) bool { return errors.Is(err, errNext) }},
		"panic":         {func(*engine.ChunkRows) error { panic("at the disco") }, guard.IsPanic},
		"wrong width":   {func(to *engine.ChunkRows) error { to.Int32(0, 1); return to.EndRow() }, isWidthError},
		"wrong numbers": {func(to *engine.ChunkRows) error { engine.ChunkNumbers[int16](to, 1, 2); return to.EndRow() }, isWidthError},
		"too many numbers": {func(to *engine.ChunkRows) error { engine.ChunkNumbers[int32](to, 1, 2049); return to.EndRow() },
			func(err error) bool { return err != nil && strings.Contains(err.Error(), "room") }},
		"too many rows": {func(to *engine.ChunkRows) (err error) {
			for i := int64(0); i <= 2048 && err == nil; i++ {
				to.Int64(0, i)
				err = to.EndRow()
			}
			return err
		}, func(err error) bool { return err != nil && strings.Contains(err.Error(), "room") }},
		"NULL": {func(to *engine.ChunkRows) error { return to.EndRow() },
			func(err error) bool { return err != nil && strings.Contains(err.Error(), "NOT NULL") }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			onKept(t, func(ctx context.Context, conn *sql.Conn) {
				chunk := 0
				err := engine.InsertRows(ctx, conn, "kept", func(to *engine.ChunkRows) error {
					if chunk++; chunk > 1 {
						return c.second(to)
					}
					to.Int64(0, 1)
					return to.EndRow()
				})
				if !c.is(err) {
					t.Errorf("the error is %v", err)
				}
				if n := keptCount(ctx, t, conn); n != 0 {
					t.Errorf("%d rows were inserted", n)
				}
			})
		})
	}
}

func isWidthError(err error) bool {
	return err != nil && strings.Contains(err.Error(), "bytes for column")
}

// TestInsertedRowsBelongToTheTransaction of the connection.
func TestInsertedRowsBelongToTheTransaction(t *testing.T) {
	errUndo := errors.New("undo")
	onKept(t, func(ctx context.Context, conn *sql.Conn) {
		err := engine.InTx(ctx, conn, func() error {
			given := false
			err := engine.InsertRows(ctx, conn, "kept", func(to *engine.ChunkRows) error {
				if given {
					return nil
				}
				given = true
				to.Int64(0, 7)
				return to.EndRow()
			})
			if n := keptCount(ctx, t, conn); n != 1 {
				t.Errorf("%d rows within the transaction, want 1", n)
			}
			return errors.Join(err, errUndo)
		})
		if !errors.Is(err, errUndo) {
			t.Error(err)
		}
		if n := keptCount(ctx, t, conn); n != 0 {
			t.Errorf("%d rows after it was rolled back", n)
		}
	})
}

// TestRowsOfAnUnknownNumberAreAnError: a statement may name any number, and a number is of no use after its statement.
func TestRowsOfAnUnknownNumberAreAnError(t *testing.T) {
	onKept(t, func(ctx context.Context, conn *sql.Conn) {
		for _, number := range slices.Concat([]int64{-1, 0, 1 << 40}, []int64{1, 2, 3}) {
			_, err := conn.ExecContext(ctx, fmt.Sprintf("SELECT * FROM rows_of_go(%d)", number))
			if err == nil || !strings.Contains(err.Error(), "rows_of_go") {
				t.Errorf("number %d: %v", number, err)
			}
		}
	})
}
