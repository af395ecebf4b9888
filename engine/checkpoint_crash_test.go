package engine_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/engine"
)

// checkpointAloud commits numbers to a database and makes a checkpoint after each, until it is killed. It prints each number that
// is committed.
func checkpointAloud(dir string) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1})
	if err != nil {
		panic(err)
	}
	for {
		var n int
		err := db.Write(ctx, func(conn *sql.Conn) error {
			for i := range 30 {
				if _, err := conn.ExecContext(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS t%d (n INTEGER, s VARCHAR)", i)); err != nil {
					return err
				}
			}
			if err := conn.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) + 1 FROM t0").Scan(&n); err != nil {
				return err
			}
			return engine.InTx(ctx, conn, func() error {
				for i := range 30 {
					if i > 0 && rand.IntN(3) == 0 {
						continue
					}
					if _, err := conn.ExecContext(ctx, fmt.Sprintf("INSERT INTO t%d SELECT %d, 'row ' || range FROM range(200)", i, n)); err != nil {
						return err
					}
				}
				return nil
			})
		})
		if err != nil {
			panic(err)
		}
		fmt.Println("committed", n)
		if err := db.Checkpoint(ctx); err != nil {
			panic(err)
		}
	}
}

// A process that is killed while it writes checkpoints, at any moment, leaves a database that opens with all that was committed.
func TestKillsWithinCheckpointsLoseNothing(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	rounds := 2
	if testfiles.Long() {
		rounds = 60
	}
	restored, last := 0, 0
	for range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PMX_TEST_CHECKPOINTS="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wait := time.Duration(rand.IntN(60_000)) * time.Microsecond
		lines, after := bufio.NewScanner(out), 1+rand.IntN(5)
		for i := 0; lines.Scan(); i++ {
			if _, err := fmt.Sscanf(lines.Text(), "committed %d", &last); err != nil {
				t.Fatal(lines.Text())
			}
			if i == after {
				time.Sleep(wait)
				_ = cmd.Process.Kill()
			}
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the process ended by itself: %v", err)
		}
		db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir), Threads: 1})
		if err != nil {
			t.Fatalf("after %d: %v", last, err)
		}
		restored += db.Restored()
		if err := db.Read(ctx, func(conn *sql.Conn) error {
			var most, rows int
			if err := conn.QueryRowContext(ctx, "SELECT max(n), count(*) FROM t0").Scan(&most, &rows); err != nil {
				return err
			}
			if most < last || rows != 200*most {
				t.Errorf("%d rows of %d transactions, and %d were committed", rows, most, last)
			}
			for i := range 30 {
				if _, err := conn.ExecContext(ctx, fmt.Sprintf("SELECT count(DISTINCT s), sum(n) FROM t%d", i)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d blocks restored, %d transactions", rounds, restored, last)
}
