package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/enginetest"
)

type chunkRow struct {
	ID     int32         `sql:"id"`
	Sum    data.Micro    `sql:"sum,null"`
	Wallet data.WalletID `sql:"wallet,null"`
	Kind   int8          `sql:"kind,null"`
	Label  string        `sql:"label,null"`
	Same   string        `sql:"same,null"`
	Tx     data.Hash     `sql:"tx,null"`
	Raw    []byte        `sql:"raw,null"`
	Price  *data.Micro   `sql:"price"`
	Open   *bool         `sql:"open"`
	Share  float64       `sql:"share,null"`
}

// TestRowsReadByChunksAreThoseThatTheDriverGives over several chunks, with NULL anywhere and with
// strings that DuckDB stores in the vector and elsewhere. With a list, the driver reads the rows.
func TestRowsReadByChunksAreThoseThatTheDriverGives(t *testing.T) {
	const query = `SELECT id::INTEGER AS id, CASE WHEN id % 3 > 0 THEN id::BIGINT * 10000000007 END AS sum, CASE WHEN id % 5 > 0 THEN id::INTEGER END AS wallet,
  CASE WHEN id % 7 > 0 THEN (id % 256 - 128)::TINYINT END AS kind, CASE WHEN id % 11 > 0 THEN repeat('ab', (id % 13)::INTEGER) || id END AS label,
  CASE WHEN id % 17 > 0 THEN 'as in some rows before, ' || id // 5 % 3 END AS same,
  CASE WHEN id % 2 > 0 THEN unhex(lpad(id::VARCHAR, 64, '0')) END AS tx, CASE WHEN id % 4 > 0 THEN unhex(lpad(id::VARCHAR, 2 * (4 + id % 12)::INTEGER, '0')) END AS raw,
  CASE WHEN id % 6 > 0 THEN -id::BIGINT END AS price, CASE WHEN id % 8 > 0 THEN id % 3 = 0 END AS open, CASE WHEN id % 9 > 0 THEN id / 7 END AS share@more
FROM range(5000) AS r(id) ORDER BY id`
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var byChunks, byDriver []chunkRow
	err = db.Read(context.Background(), func(conn *sql.Conn) error {
		err := engine.EachRow(context.Background(), conn, strings.Replace(query, "@more", "", 1), func(row *chunkRow) error {
			byChunks = append(byChunks, *row)
			return nil
		})
		if err != nil {
			return err
		}
		type withList struct {
			chunkRow
			List []int64 `sql:"list"`
		}
		return engine.EachRow(context.Background(), conn, strings.Replace(query, "@more", ", [1] AS list", 1), func(row *withList) error {
			byDriver = append(byDriver, row.chunkRow)
			return nil
		})
	})
	if diff := cmp.Diff(byDriver, byChunks); err != nil || diff != "" || len(byChunks) != 5000 {
		t.Fatalf("%v, %d rows (-driver +chunks):\n%s", err, len(byChunks), diff)
	}
	if row := byChunks[4990]; row.Label != strings.Repeat("ab", 11)+"4990" || row.Sum != 4990*10000000007 || row.Tx != (data.Hash{}) || row.Open == nil {
		t.Errorf("row 4990 is %+v", row)
	}
}

// BenchmarkEachRow reads rows as wide as the totals of wallets.
func BenchmarkEachRow(b *testing.B) {
	type total struct {
		Wallet data.WalletID `sql:"wallet"`
		A      int64         `sql:"a"`
		B      int64         `sql:"b"`
		C      int64         `sql:"c"`
		D      int64         `sql:"d"`
		E      int64         `sql:"e"`
		F      int64         `sql:"f"`
		G      int64         `sql:"g"`
		H      int64         `sql:"h"`
	}
	type listed struct {
		total
		List []int64 `sql:"list"`
	}
	const query = "SELECT id::INTEGER AS wallet, id * 1000 AS a, id * 1001 AS b, id * 1002 AS c, id * 1003 AS d, id * 1004 AS e, id * 1005 AS f, id * 1006 AS g, id * 1007 AS h@more FROM range(1000000) AS r(id)"
	db, err := engine.Open(context.Background(), enginetest.Options(b, b.TempDir(), "1GB"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	read := func(b *testing.B, f func(conn *sql.Conn) error) {
		for b.Loop() {
			if err := db.Read(context.Background(), f); err != nil {
				b.Fatal(err)
			}
		}
	}
	sum := int64(0)
	b.Run("chunks", func(b *testing.B) {
		read(b, func(conn *sql.Conn) error {
			return engine.EachRow(context.Background(), conn, strings.Replace(query, "@more", "", 1), func(row *total) error { sum += row.A; return nil })
		})
	})
	b.Run("driver", func(b *testing.B) {
		read(b, func(conn *sql.Conn) error {
			return engine.EachRow(context.Background(), conn, strings.Replace(query, "@more", ", []::BIGINT[] AS list", 1), func(row *listed) error { sum += row.A; return nil })
		})
	})
}

// TestReadingRowsOfNumbersAllocatesNothingForEach. If the driver's result were not found, each
// value would be allocated.
func TestReadingRowsOfNumbersAllocatesNothingForEach(t *testing.T) {
	db, err := engine.Open(context.Background(), enginetest.Options(t, t.TempDir(), "1GB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var sum int64
	allocated := testing.AllocsPerRun(2, func() {
		err = errors.Join(err, db.Read(context.Background(), func(conn *sql.Conn) error {
			return engine.EachRow(context.Background(), conn, "SELECT id * 1000 AS maker, 1::TINYINT AS taker FROM range(20000) AS r(id)",
				func(row *legs) error { sum += row.Maker; return nil })
		}))
	})
	if err != nil || sum == 0 || allocated > 5000 {
		t.Errorf("%v, sum %d, %.0f allocations for 20,000 rows", err, sum, allocated)
	}
}
