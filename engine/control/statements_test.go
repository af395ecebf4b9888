package control

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// values are what the code puts into statements.
var values = []string{
	"@table", "status_days", "@keys", "day, part", "@sets", "a = excluded.a", "@differs", "status_days.a IS NOT excluded.a",
}

// columnsIn are the columns of the statements that have a list of them; TakeRows lists those of its table.
var columnsIn = map[string]string{
	"KeyList": "KeyColumns", "KeyByID": "KeyColumns", "RequestList": "RequestColumns", "RequestByID": "RequestColumns",
	"JobByIdempotencyKey": "JobColumns", "JobByID": "JobColumns", "JobOfKey": "JobColumns", "JobWithSameFile": "JobColumns", "NextJob": "JobColumns",
}

// TestEveryStatementIsCompiled: a misspelled name in a rarely used statement fails here.
func TestEveryStatementIsCompiled(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	d, err := Open(ctx, filepath.Join(dir, "control.db"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	other := filepath.Join(dir, "other.db")
	if taken, err := Open(ctx, other, time.Now); err != nil || taken.Close() != nil {
		t.Fatal(err)
	}
	conn, err := d.sql.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.ExecContext(ctx, statements.Get("Attach"), other); err != nil {
		t.Fatal(err)
	}
	// EXPLAIN compiles a statement and does not run it. The driver compiles none before it is run.
	compile := func(text string) error {
		args := make([]any, strings.Count(text, "?"))
		rows, err := conn.QueryContext(ctx, "EXPLAIN "+text, args...)
		if err != nil {
			return err
		}
		return errors.Join(rows.Err(), rows.Close())
	}
	lists := map[string]bool{}
	for _, list := range columnsIn {
		lists[list] = true
	}
	for name := range statements {
		if lists[name] {
			continue
		}
		columns := "day, part, a"
		if list := columnsIn[name]; list != "" {
			columns = statements.Get(list)
		}
		text := statements.Get(name, append([]string{"@columns", columns}, values...)...)
		if err := compile(text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	for _, text := range []string{"SELECT id FROM no_such_table", "UPDATE api_keys SET no_such_column = ? WHERE id = ?", statements.Get("KeyList")} {
		if compile(text) == nil {
			t.Errorf("%q is compiled", text)
		}
	}
}
