package engine_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// onTables runs f on the connection of a new database with an empty temporary table of each name.
func onTables(t *testing.T, columns string, f func(ctx context.Context, conn *sql.Conn), names ...string) {
	t.Helper()
	ctx := context.Background()
	db, err := engine.Open(ctx, enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(ctx, func(conn *sql.Conn) error {
		for _, name := range names {
			if _, err := conn.ExecContext(ctx, "CREATE TEMP TABLE "+name+" ("+columns+")"); err != nil {
				return err
			}
		}
		f(ctx, conn)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// set sets a value as accepted by the driver.
func set(a *engine.ChunkAppender, column int, v driver.Value) {
	switch v := v.(type) {
	case bool:
		a.Bool(column, v)
	case int8:
		a.Int8(column, v)
	case int16:
		a.Int16(column, v)
	case int32:
		a.Int32(column, v)
	case int64:
		a.Int64(column, v)
	case []byte:
		a.Bytes(column, v)
	case string:
		a.Text(column, v)
	case *big.Int:
		if v.IsInt64() {
			a.Int(column, v.Int64())
			return
		}
		upper, lower := new(big.Int).Rsh(v, 64), new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
		a.Huge(column, upper.Int64(), lower.Uint64())
	}
}

// TestRowsAppendedByChunksAreThoseThatTheDriverAppends over several chunks, with NULL anywhere, and
// with texts in the vector, in the separate buffer, and too long for it; the buffer fills up within
// a chunk.
func TestRowsAppendedByChunksAreThoseThatTheDriverAppends(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	length := func(i int) int {
		switch {
		case i%1999 == 7:
			return 600_000
		case i%3 == 0:
			return r.IntN(14)
		}
		return r.IntN(700)
	}
	rows := make([][]driver.Value, 5_000)
	for i := range rows {
		raw := make([]byte, length(i))
		for j := range raw {
			raw[j] = byte(r.Uint32())
		}
		rows[i] = []driver.Value{int64(i), int8(r.Uint32()), int32(r.Uint32()), raw, strings.Repeat("é7", length(i)/3), int16(r.Uint32()), r.IntN(2) == 0,
			new(big.Int).Lsh(big.NewInt(r.Int64()-r.Int64()), uint(r.IntN(2)*r.IntN(60)))}
		for j := 1; j < len(rows[i]); j++ {
			if r.IntN(4) == 0 {
				rows[i][j] = nil
			}
		}
	}
	rows[17][4], rows[18][4] = "\xff", "no UTF-8, and longer: \xff"
	onTables(t, "id BIGINT, kind TINYINT, log INTEGER, raw BLOB, label VARCHAR, nth SMALLINT, open BOOLEAN, huge HUGEINT", func(ctx context.Context, conn *sql.Conn) {
		err := errors.Join(engine.AppendTemp(conn, "by_driver", len(rows), func(i int) []driver.Value { return rows[i] }), conn.Raw(func(dc any) error {
			a, err := engine.TempChunkAppender(dc, "by_chunks")
			if err != nil {
				return err
			}
			for _, row := range rows {
				for i, v := range row {
					set(a, i, v)
				}
				if err := a.EndRow(); err != nil {
					return errors.Join(err, a.Close())
				}
			}
			return a.Close()
		}))
		if err != nil {
			t.Fatal(err)
		}
		var same, apart int
		const compare = `SELECT count(*) FILTER (c = d), count(*) FILTER (c IS DISTINCT FROM d) FROM by_chunks AS c FULL JOIN by_driver AS d USING (id)`
		if err := conn.QueryRowContext(ctx, compare).Scan(&same, &apart); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{len(rows), 0}, []int{same, apart}); diff != "" {
			t.Errorf("numbers of equal and of different rows (-want +got):\n%s", diff)
		}
	}, "by_driver", "by_chunks")
}

// TestAnAppenderOfChunksRefusesWhatDoesNotFitTheTable: a value of another width would overwrite its
// neighbours.
func TestAnAppenderOfChunksRefusesWhatDoesNotFitTheTable(t *testing.T) {
	onTables(t, "id BIGINT, kind TINYINT, huge HUGEINT", func(ctx context.Context, conn *sql.Conn) {
		err := conn.Raw(func(dc any) error {
			a, err := engine.TempChunkAppender(dc, "narrow")
			if err != nil {
				t.Fatal(err)
			}
			a.Int64(0, 1)
			a.Int32(1, 1)
			return errors.Join(a.EndRow(), a.Close())
		})
		if err == nil || !strings.Contains(err.Error(), "column 1") {
			t.Errorf("a value of another width: %v", err)
		}
		for what, set := range map[string]func(a *engine.ChunkAppender){
			"a number too large for its column": func(a *engine.ChunkAppender) { a.Int(1, 128) },
			"128 bits for fewer":                func(a *engine.ChunkAppender) { a.Huge(1, 0, 1) },
			"a text for a number of 128 bits":   func(a *engine.ChunkAppender) { a.Text(2, "1") },
		} {
			err := conn.Raw(func(dc any) error {
				a, err := engine.TempChunkAppender(dc, "narrow")
				if err != nil {
					t.Fatal(err)
				}
				a.Int(0, 1)
				set(a)
				return errors.Join(a.EndRow(), a.Close())
			})
			if err == nil || !strings.Contains(err.Error(), "column ") {
				t.Errorf("%s: %v", what, err)
			}
		}
		var rows int
		if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM narrow").Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows, %v", rows, err)
		}
		err = conn.Raw(func(dc any) error {
			_, err := engine.TempChunkAppender(dc, "absent")
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "absent") {
			t.Errorf("a missing table: %v", err)
		}
	}, "narrow")
	onTables(t, "id BIGINT, list BIGINT[]", func(_ context.Context, conn *sql.Conn) {
		err := conn.Raw(func(dc any) error {
			_, err := engine.TempChunkAppender(dc, "listed")
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "column 1") {
			t.Errorf("a list: %v", err)
		}
	}, "listed")
}
