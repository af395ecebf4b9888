package engine

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
)

// keptBlocks is how many bytes of blocks ReleaseBlocks leaves: DuckDB's count is not exact to the
// megabyte, and asked for more than there is it would write temporary tables to the disk.
const keptBlocks = 4 << 20

// ReleaseBlocks gives the system the memory of the blocks that DuckDB has read from the file, and what its allocator and the C
// library do not use: DuckDB keeps every block that it ever read until its limit is reached. Who needs one
// again has it from the system's cache of files. It does nothing where somebody is reading or writing, and
// tells whether it was done: the limit is lowered for a moment, in which no query may run. It leaves them all where they are no
// more than most bytes.
func (db *DB) ReleaseBlocks(ctx context.Context, most int64) (done bool, err error) {
	if db.states != nil || !db.gate.TryLock() {
		return false, nil
	}
	defer db.gate.Unlock()
	if db.pools == nil {
		return false, nil
	}
	conn, err := db.pools.readers.Conn(ctx)
	if err != nil {
		return false, err
	}
	return true, withConn(conn, func(conn *sql.Conn) error { return db.releaseBlocks(ctx, conn, max(most, keptBlocks)) })
}

func (db *DB) releaseBlocks(ctx context.Context, conn *sql.Conn, most int64) error {
	var blocks, all int64
	if err := conn.QueryRowContext(ctx, `SELECT coalesce(sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE'), 0)::BIGINT, coalesce(sum(memory_usage_bytes), 0)::BIGINT
		FROM duckdb_memory()`).Scan(&blocks, &all); err != nil || blocks <= most {
		return err
	}
	whole := context.WithValue(context.WithoutCancel(ctx), limiting{}, true) // cancelled, the limit would stay low
	_, lowered := conn.ExecContext(whole, "SET memory_limit = '"+strconv.FormatInt((all-blocks+keptBlocks)>>10, 10)+"KiB'")
	_, raised := conn.ExecContext(whole, "SET memory_limit = '"+db.opts.memoryLimit()+"'")
	return errors.Join(lowered, raised)
}
