package ingest

import (
	"context"
	"database/sql"
	"testing"

	"pmx/engine/guard"
)

// TestNoPageStaysOpenBehindAPanic, and the connection is free for the next statement.
func TestNoPageStaysOpenBehindAPanic(t *testing.T) {
	db := openRecords(t).im.DB
	err := db.Read(context.Background(), func(conn *sql.Conn) error {
		p := (&fileImport{ctx: t.Context(), conn: conn}).pages("SELECT range AS n FROM range(3)", "n")
		var n int64
		if err := guard.Do(func() error { return p.each(func() error { panic("a row") }, &n) }); err == nil {
			t.Error("the panic is lost")
		}
		if p.rows != nil {
			t.Error("a page is open")
		}
		return conn.QueryRowContext(t.Context(), "SELECT 1").Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
}
