package rollups_test

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"

	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/guard"
	"pmx/rollups"
)

// TestAPanicBesideARebuildKeepsNothing: after one on either connection, the limit of memory is the former one and the next rebuild is whole.
func TestAPanicBesideARebuildKeepsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := enginetest.Create(dir); err != nil {
		t.Fatal(err)
	}
	var at atomic.Value
	at.Store("-")
	opts := enginetest.Options(t, dir, "1GB")
	opts.OnStatement = func(text string) {
		if strings.HasPrefix(text, at.Load().(string)) {
			panic(text)
		}
	}
	db, err := engine.Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	limit := func() (text string) {
		t.Helper()
		if err := db.Read(t.Context(), func(conn *sql.Conn) error {
			return conn.QueryRowContext(t.Context(), "SELECT current_setting('memory_limit')").Scan(&text)
		}); err != nil {
			t.Fatal(err)
		}
		return text
	}
	rebuild := func() error {
		return guard.Do(func() error {
			return db.Write(t.Context(), func(conn *sql.Conn) error { return rollups.Rebuild(t.Context(), db, conn, nil, nil) })
		})
	}
	if err := db.Write(t.Context(), func(conn *sql.Conn) error {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), stretchFacts)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	before, usual := limit(), db.MemoryLimit()
	for _, text := range []string{"CREATE TABLE token_total_new", "CREATE TABLE candle_new"} { // the second connection, and the first
		at.Store(text)
		if err := rebuild(); !guard.IsPanic(err) {
			t.Errorf("%s: err = %v", text, err)
		}
		at.Store("-")
		if is := limit(); is != before || db.MemoryLimit() != usual {
			t.Errorf("%s: the limit is %s and was %s", text, is, before)
		}
	}
	if err := rebuild(); err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(conn *sql.Conn) error {
		left, err := tablesWhere(t.Context(), conn, "ends_with(table_name, '_new')")
		if len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
