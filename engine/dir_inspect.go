package engine

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"pmx/engine/schema"
)

// Holder returns the process that has the database open, and its program in brackets if known; 0
// for none. It must not be called by a process that has it open.
func (d Dir) Holder() (pid int, exe string) { return lockHolder(d.Database()) }

// CheckSpace reports whether the disk has room for an import: nil, or an error that is ErrDiskFull
// and says how much is missing.
func (d Dir) CheckSpace() error { return d.checkSpace(false) }

// DamagedLogs lists the copies of damaged logs in the data directory, by time. They stay
// until the operator removes them.
func (d Dir) DamagedLogs() []string {
	entries, _ := os.ReadDir(string(d))
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(d.wal())+keptLog) {
			names = append(names, e.Name())
		}
	}
	return names
}

// SchemaVersions returns the schema version of a database that no process has open, and the newest
// that this program knows. It changes nothing. An older one is brought up to date when the database
// is opened, a newer one is refused.
func SchemaVersions(ctx context.Context, d Dir) (at, newest int64, err error) {
	db, err := sql.Open("duckdb", d.Database()+"?"+url.Values{"access_mode": {"READ_ONLY"}, "memory_limit": {"512MB"}}.Encode())
	if err != nil {
		return 0, 0, explainOpen(d, err)
	}
	defer func() { _ = db.Close() }()
	if at, newest, err = schema.Versions(ctx, db); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", d.Database(), err)
	}
	return at, newest, nil
}
