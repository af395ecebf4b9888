package engine

import (
	"bytes"
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	"pmx/engine/guard"
)

// TestTheSecondWritingConnectionKeepsTheJournal: it copies the blocks of metadata before what may begin a checkpoint, as the first one does.
func TestTheSecondWritingConnectionKeepsTheJournal(t *testing.T) {
	ctx, dir := t.Context(), Dir(t.TempDir())
	db, err := Open(ctx, Options{Dir: dir, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Write(ctx, func(writer *sql.Conn) error {
		for _, query := range []string{"CREATE TABLE t (i INTEGER)", "CHECKPOINT"} {
			if _, err := writer.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		head := contentsOf(t, dir.Database())[:FileHead]
		if bytes.Contains(contentsOf(t, dir.journal()), head) {
			t.Error("the journal is that of the last checkpoint already")
		}
		ran, err := db.WriteBeside(ctx, func(second *sql.Conn) error {
			return InTx(ctx, second, func() error {
				_, err := second.ExecContext(ctx, "INSERT INTO t VALUES (1)")
				return err
			})
		})
		if !ran || !bytes.Contains(contentsOf(t, dir.journal()), head) {
			t.Errorf("ran %v, and the journal is not that of the last checkpoint", ran)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTwoConnectionsEndTransactionsOneAfterTheOther: between the copy to the journal for one and the end of its checkpoint there is no other checkpoint.
func TestTwoConnectionsEndTransactionsOneAfterTheOther(t *testing.T) {
	var commits atomic.Int64
	entered, leave := make(chan struct{}, 2), make(chan struct{})
	ctx := t.Context()
	db, err := Open(ctx, Options{Dir: Dir(t.TempDir()), Threads: 1, OnStatement: func(text string) {
		if text == "COMMIT" {
			commits.Add(1)
			entered <- struct{}{}
			<-leave
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	create := func(conn *sql.Conn, table string) error {
		return InTx(ctx, conn, func() error {
			_, err := conn.ExecContext(context.WithoutCancel(ctx), "CREATE TABLE "+table+" (i INTEGER)")
			return err
		})
	}
	err = db.Write(ctx, func(writer *sql.Conn) error {
		other := guard.Start(func() error {
			_, err := db.WriteBeside(ctx, func(second *sql.Conn) error { return create(second, "b") })
			return err
		})
		first := guard.Start(func() error { return create(writer, "a") })
		<-entered
		select {
		case <-entered:
			t.Error("both end a transaction at once")
		case <-time.After(100 * time.Millisecond):
		}
		close(leave)
		if err := <-first; err != nil {
			return err
		}
		return <-other
	})
	if err != nil || commits.Load() != 2 {
		t.Fatalf("%d commits: %v", commits.Load(), err)
	}
}
