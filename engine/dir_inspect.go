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

// Inspection is what Inspect finds in a database.
type Inspection struct {
	Schema int64 // version of its tables
	Newest int64 // the newest version that this program knows
	Stale  bool  // the rollups lack facts; not known if the tables are newer than this program
}

// Inspect reads a database that no process has open, and changes nothing. Tables of an older version
// are brought up to date when the database is opened, newer ones are refused.
func Inspect(ctx context.Context, d Dir) (found Inspection, err error) {
	db, err := sql.Open("duckdb", d.Database()+"?"+url.Values{"access_mode": {"READ_ONLY"}, "memory_limit": {"512MB"}}.Encode())
	if err != nil {
		return found, explainOpen(d, err)
	}
	defer func() { _ = db.Close() }()
	found.Schema, found.Newest, err = schema.Versions(ctx, db)
	if err == nil && found.Schema <= found.Newest {
		err = db.QueryRowContext(ctx, statements.Get("IsStale")).Scan(&found.Stale)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", d.Database(), err)
	}
	return found, nil
}
