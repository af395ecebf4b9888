package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// A mark identifies a state of the database that is the last one of a process: LeaveMark commits it, and the next pmx that opens
// the database removes it before anything else is committed. (Other programs must not write to the database.) So as long as a mark
// is in the table, nothing was changed after it, and a copy of the file that has it is a copy of that very state. Backups have
// none, as they are made from an open database.

// Mark is the one that was in the database when this process opened it; nil: there was none.
func (db *DB) Mark() []byte { return db.mark }

// LeaveMark commits a mark, which no other state may ever have had. Nothing may be written afterwards.
func (db *DB) LeaveMark(ctx context.Context, mark []byte) error {
	return db.Write(ctx, func(conn *sql.Conn) error {
		return InTx(ctx, conn, func() error {
			if _, err := conn.ExecContext(ctx, statements.Get("NoClosingMark")); err != nil {
				return err
			}
			_, err := conn.ExecContext(ctx, statements.Get("AddClosingMark"), mark)
			return err
		})
	})
}

// takeMark reads the mark and removes it.
func (db *DB) takeMark(ctx context.Context) error {
	err := db.pools.writer.QueryRowContext(ctx, statements.Get("ClosingMark")).Scan(&db.mark)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("closing mark: %w", db.explain(err))
	}
	if _, err = db.pools.writer.ExecContext(ctx, statements.Get("NoClosingMark")); err == nil {
		return nil
	}
	err = db.explain(err)
	db.mark = nil
	if errors.Is(err, ErrDiskFull) { // what there is can still be served, and without its image the mark means nothing
		err = ignoreMissing(os.Remove(db.opts.Dir.Image()))
	}
	if err != nil {
		return fmt.Errorf("closing mark: %w", err)
	}
	return nil
}
