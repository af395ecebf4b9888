package engine

import (
	"context"
	"database/sql"
	"errors"
)

// twinTries is how often two transactions are begun until they see the same: each time, requests may come between.
const twinTries = 50

// errOtherMoment is the error of two transactions between whose beginnings another one began or was committed.
var errOtherMoment = errors.New("the transactions see different moments")

// ReadTwins calls f with one or two connections at low priority, each in a transaction. Both see the same state of the
// database. There is one if nothing else is possible: only one call at a time gets two.
func (db *DB) ReadTwins(ctx context.Context, f func(conns []*sql.Conn) error) error {
	return db.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		if db.twins.TryLock() { // others would wait for each other's connections
			defer db.twins.Unlock()
			ran, err := db.BesideUsual(ctx, func(twin *sql.Conn) error { return readTwins(ctx, conn, twin, f) })
			if ran && !errors.Is(err, errOtherMoment) {
				return err
			}
		}
		return InTx(ctx, conn, func() error { return f([]*sql.Conn{conn}) })
	})
}

// readTwins calls f in transactions of both connections, or fails with errOtherMoment.
func readTwins(ctx context.Context, conn, twin *sql.Conn, f func(conns []*sql.Conn) error) (err error) {
	for range twinTries {
		err = InTx(ctx, conn, func() error {
			first, err := begun(ctx, conn)
			if err != nil {
				return err
			}
			return InTx(ctx, twin, func() error {
				second, err := begun(ctx, twin)
				if err == nil && second != first+1 {
					err = errOtherMoment
				}
				if err != nil {
					return err
				}
				return f([]*sql.Conn{conn, twin})
			})
		})
		if !errors.Is(err, errOtherMoment) {
			return err
		}
	}
	return err
}

// begun returns the number that the transaction of a connection got when it began. Every commit also takes the next
// number, and a transaction sees the commits with numbers before its own. So two transactions with consecutive numbers
// see the same.
func begun(ctx context.Context, conn *sql.Conn) (number int64, err error) {
	err = conn.QueryRowContext(ctx, "SELECT txid_current()").Scan(&number)
	return number, err
}

// MemoryLimit returns DuckDB's usual memory limit in bytes.
func (db *DB) MemoryLimit() int64 { return sizeOf(db.usual()) }
