package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// Each runs query and passes every row to f as the driver returned it: integers as int8…int64, text
// as string, BLOB as []byte, NULL as nil. The slice is reused between rows. It avoids
// database/sql's conversions, which cost more than DuckDB itself when millions of rows are loaded.
func Each(ctx context.Context, conn *sql.Conn, query string, f func(row []driver.Value) error) error {
	return queryRaw(ctx, conn, query, func(rows driver.Rows) error { return drain(rows, f) })
}

// queryRaw runs query on the driver's connection. It closes the rows even after a panic of f: open rows keep
// a closed database alive.
func queryRaw(ctx context.Context, conn *sql.Conn, query string, f func(rows driver.Rows) error) error {
	return conn.Raw(func(dc any) (err error) {
		queryer, ok := dc.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("driver %T cannot query", dc)
		}
		rows, err := queryer.QueryContext(ctx, query, nil)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rows.Close()) }()
		return f(rows)
	})
}

func drain(rows driver.Rows, f func(row []driver.Value) error) error {
	row := make([]driver.Value, len(rows.Columns()))
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

// AppendTemp adds n rows to a temporary table of conn, which is much faster than INSERT. row
// returns the values of row i.
func AppendTemp(conn *sql.Conn, table string, n int, row func(i int) []driver.Value) error {
	return conn.Raw(func(dc any) error {
		a, err := TempAppender(dc, table)
		if err != nil {
			return err
		}
		for i := range n {
			if err := a.AppendRow(row(i)...); err != nil {
				return errors.Join(err, a.Close())
			}
		}
		return a.Close()
	})
}

// Int returns a driver integer of any width as int64, 0 for NULL.
func Int(v driver.Value) int64 {
	n, _ := integer(v)
	return n
}

func integer(v driver.Value) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int32:
		return int64(n), true
	case int16:
		return int64(n), true
	case int8:
		return int64(n), true
	}
	return 0, false
}

// Text returns a driver string, "" for NULL.
func Text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

// InTx runs f in one transaction on conn and commits it if f returns no error. Whenever ctx ends,
// conn is in no transaction afterwards: if the transaction cannot be ended, conn is discarded.
func InTx(ctx context.Context, conn *sql.Conn, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// If these were interrupted half-way, the transaction might have begun, or been committed,
	// whatever the error says.
	whole := context.WithoutCancel(ctx)
	if _, err := conn.ExecContext(whole, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err = conn.ExecContext(whole, "COMMIT")
		return err
	}
	if _, rollback := conn.ExecContext(whole, rollback); rollback != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // it says what it is given
		return errors.Join(err, rollback)
	}
	return err
}
