package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"golang.org/x/sync/errgroup"

	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
)

// TestTwinsSeeTheSame: two connections of ReadTwins see the same rows while rows are committed all the time, also in
// transactions that began earlier.
func TestTwinsSeeTheSame(t *testing.T) {
	db, err := engine.Open(t.Context(), enginetest.Options(t, t.TempDir(), "256MB"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	write := func(f func(conn *sql.Conn) error) error {
		return db.Write(t.Context(), func(conn *sql.Conn) error {
			return engine.InTx(t.Context(), conn, func() error { return f(conn) })
		})
	}
	exec := func(conn *sql.Conn, text string) error {
		_, err := conn.ExecContext(context.Background(), text)
		return err
	}
	if err := write(func(conn *sql.Conn) error { return exec(conn, "CREATE TABLE seen (n INTEGER)") }); err != nil {
		t.Fatal(err)
	}
	rows := func(conn *sql.Conn) (n int64, err error) {
		return n, conn.QueryRowContext(t.Context(), "SELECT count(*) FROM seen").Scan(&n)
	}
	ctx, stop := context.WithCancel(t.Context())
	group := errgroup.Group{}
	group.Go(func() error {
		for ctx.Err() == nil {
			if err := write(func(conn *sql.Conn) error { return exec(conn, "INSERT INTO seen VALUES (1)") }); err != nil {
				return err
			}
		}
		return nil
	})
	twins, moments := 0, map[int64]bool{}
	rounds := testfiles.Cases(100, 1000)
	for range rounds {
		err := db.ReadTwins(t.Context(), func(conns []*sql.Conn) error {
			first, err := rows(conns[0])
			if err != nil {
				return err
			}
			moments[first] = true
			for _, twin := range conns[1:] {
				twins++
				if second, err := rows(twin); err != nil || second != first {
					t.Errorf("one sees %d rows, its twin %d %v", first, second, err)
				}
			}
			return db.ReadTwins(t.Context(), func(inner []*sql.Conn) error {
				if len(conns) > 1 && len(inner) > 1 {
					t.Error("two calls have two connections each")
				}
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("%d of %d had twins, at %d moments", twins, rounds, len(moments))
	if twins < rounds/4 || len(moments) < 3 {
		t.Errorf("%d of %d had twins, at %d moments", twins, rounds, len(moments))
	}
	failed := errors.New("failed")
	if err := db.ReadTwins(t.Context(), func([]*sql.Conn) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error of the caller is %v", err)
	}
}
