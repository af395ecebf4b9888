package engine

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
)

// DiskUse is the size in bytes of the files of the data directory, by kind. Files that are created
// or removed meanwhile may be missing.
func (d Dir) DiskUse() map[string]int64 {
	use := map[string]int64{}
	for kind, path := range map[string]string{
		"database": d.Database(), "log": d.wal(), "journal": d.journal(), "control": d.Control(), "segments": d.Segments(),
		"exports": d.Exports(), "inbox": d.Inbox(), "rejected": d.Rejected(), "tmp": d.Tmp(), "replica": d.Replica(), "image": d.Image(),
	} {
		use[kind] = 0
		_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // removed since, or not made yet
			}
			if info, err := e.Info(); err == nil {
				use[kind] += info.Size()
			}
			return nil
		})
	}
	return use
}

// DiskSpace returns the bytes that are free for this user and the size of the disk of the data
// directory; false if the system does not say.
func (d Dir) DiskSpace() (free, total int64, ok bool) { return diskSpace(string(d)) }

// Memory returns how many bytes DuckDB holds in memory, and how many it moved to temporary files.
func (db *DB) Memory(ctx context.Context) (held, spilled int64, err error) {
	err = db.Read(Lean(ctx), func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, statements.Get("Memory")).Scan(&held, &spilled)
	})
	return held, spilled, err
}
