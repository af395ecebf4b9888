package export_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// ofDays is SQL that adds a fill to each of the first days of 2026, the nth of all days.
func ofDays(days, nth int) string {
	return fmt.Sprintf(`INSERT INTO fills BY NAME SELECT 1767225600 + i * 86400 + %[2]d AS seconds, 0 AS micros, ((i * 7 + %[2]d * 3) %% 40)::INTEGER AS wallet,
  ((i + %[2]d) %% 15)::INTEGER AS token, (i %% 2)::TINYINT AS side, (i %% 3)::TINYINT AS role, 1000000 + i AS shares, 400000 + i AS usd, (%[2]d %% 2) * 7 - 3 AS fee,
  unhex(sha256(i || 'x%[2]d')) AS tx, i::INTEGER AS log_index, 1 AS repeat, 0 AS batch FROM range(%[1]d) AS r(i)`, days, nth)
}

// venueOfDays returns a venue with fills on some days, and wallets and tokens of which some have names and markets.
func venueOfDays(t *testing.T, days, each int) *keeper.Keeper {
	t.Helper()
	k := open(t, several)
	change(t, k, "INSERT INTO wallets SELECT i::INTEGER, unhex(substr(sha256(i::VARCHAR), 1, 40)) FROM range(40) AS r(i)",
		"INSERT INTO wallet_names (wallet, name, ts) SELECT i::INTEGER, 'wallet ' || i, 1 FROM range(0, 40, 3) AS r(i)",
		"INSERT INTO markets (market, condition) SELECT i::INTEGER, unhex(sha256('m' || i)) FROM range(5) AS r(i)",
		`INSERT INTO tokens (token, token_id, market, outcome, derived, named) SELECT i::INTEGER, (7000 + i)::VARCHAR, CASE WHEN i % 4 > 0 THEN i // 4 END, (i % 2)::TINYINT,
  CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END, CASE i % 5 WHEN 0 THEN {'condition': unhex(sha256('n' || i)), 'label': 'Yes'} WHEN 1 THEN {'condition': ''::BLOB, 'label': 'No'} END
  FROM range(15) AS r(i)`)
	for nth := range each {
		change(t, k, ofDays(days, nth))
	}
	return k
}

// written returns the checksums of the files of fills that an export writes, in order, and their names.
func written(t *testing.T, k *keeper.Keeper) (names []string, sums map[string]string, rows map[string]int64) {
	t.Helper()
	sums, rows = map[string]string{}, map[string]int64{}
	_, err := k.Exporter().WritePartitions(t.Context(), k.DB().Dir().Tmp(), export.PartitionsKnown{}, func(p export.Partition, path string, _ float64) error {
		if !strings.HasPrefix(p.Name, "fills/") {
			return nil
		}
		text, err := os.ReadFile(path)
		if sum := sha256.Sum256(text); p.SHA256 != hex.EncodeToString(sum[:]) {
			return fmt.Errorf("%s: the checksum is that of other bytes", p.Name)
		}
		names, sums[p.Name], rows[p.Name] = append(names, p.Name), p.SHA256, p.Rows
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, sums, rows
}

// TestDaysAreTheSameOnTwoConnections: the files of days that two connections write, with tables of wallets and tokens, are those
// that one of them writes, and come in order.
func TestDaysAreTheSameOnTwoConnections(t *testing.T) {
	k := venueOfDays(t, 9, testfiles.Cases(4, 20))
	names, two, _ := written(t, k)
	if len(names) != 9 || !slices.IsSorted(names) {
		t.Errorf("the files are %v", names)
	}
	var one map[string]string
	err := k.DB().ReadTwins(t.Context(), func([]*sql.Conn) error {
		_, one, _ = written(t, k)
		return nil
	})
	if err != nil || !maps.Equal(one, two) {
		t.Errorf("on one connection: %v %v, on two: %v", err, one, two)
	}
	whole, _, err := k.Exporter().WriteFacts(t.Context(), k.DB().Dir().Tmp(), "fills", "parquet", nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := readParquet(t, whole)
	l := &lake{dir: t.TempDir()}
	l.refresh(t, k)
	text := func(rows table) (out []string) {
		for _, row := range rows {
			out = append(out, fmt.Sprint(row))
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(text(l.rows(t)), text(want)) {
		t.Error("the rows of the days are not those of one file")
	}
}

// TestDaysAreOfOneMoment exports while fills are committed, each time one of every day.
func TestDaysAreOfOneMoment(t *testing.T) {
	const days = 6
	k := venueOfDays(t, days, 1)
	ctx, stop := context.WithCancel(t.Context())
	var committed atomic.Int64
	group := errgroup.Group{}
	group.Go(func() error {
		for nth := 1; ctx.Err() == nil; nth++ {
			err := k.DB().Write(context.Background(), func(conn *sql.Conn) error {
				_, err := conn.ExecContext(context.Background(), ofDays(days, nth))
				return err
			})
			if err != nil {
				return err
			}
			committed.Add(1)
		}
		return nil
	})
	moments := map[int64]bool{}
	for range testfiles.Cases(8, 60) {
		_, _, rows := written(t, k)
		counts := slices.Compact(slices.Sorted(maps.Values(rows)))
		if len(rows) != days || len(counts) != 1 {
			t.Errorf("the days have %v fills: they are of several moments", rows)
		}
		moments[counts[0]] = true
	}
	stop()
	if err := group.Wait(); err != nil || len(moments) < 3 {
		t.Errorf("%d commits, %d moments: %v", committed.Load(), len(moments), err)
	}
}

// TestAnExportByDayThatFailsLeavesNothing: an error of the caller ends the export, wherever it comes, and no file
// remains.
func TestAnExportByDayThatFailsLeavesNothing(t *testing.T) {
	k := venueOfDays(t, 7, 2)
	failed := errors.New("failed")
	for at := range 7 {
		dir, n := filepath.Join(k.DB().Dir().Tmp(), fmt.Sprint("export-", at)), 0
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := k.Exporter().WritePartitions(t.Context(), dir, export.PartitionsKnown{}, func(export.Partition, string, float64) error {
			if n++; n > at {
				return failed
			}
			return nil
		})
		if !errors.Is(err, failed) || n != at+1 {
			t.Errorf("the %dth file was passed on, and the error is %v", n, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("after %d files: %v %v are left", at, left, err)
		}
	}
	if tables := temporaries(t, k); tables != 0 {
		t.Errorf("%d temporary tables are left", tables)
	}
	written(t, k)
	if tables := temporaries(t, k); tables != 0 {
		t.Errorf("%d temporary tables are left", tables)
	}
}

// temporaries counts the temporary tables of all idle connections.
func temporaries(t *testing.T, k *keeper.Keeper) (n int64) {
	t.Helper()
	err := k.DB().ReadTwins(t.Context(), func(conns []*sql.Conn) error {
		for _, conn := range conns {
			err := engine.EachValue(t.Context(), conn, "SELECT count(*) FROM duckdb_tables() WHERE temporary", func(of int64) error {
				n += of
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
