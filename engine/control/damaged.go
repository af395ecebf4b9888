package control

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// damagedError is the error of a file that SQLite cannot read.
type damagedError struct {
	path  string
	cause error
}

// Error says what to do.
func (e *damagedError) Error() string {
	return fmt.Sprintf("%s is damaged, or no SQLite database: put a backup of it in its place, or move it away together with its -wal and -shm files; "+
		"then it begins empty, and keys must be issued again", e.path)
}

// Unwrap returns SQLite's error.
func (e *damagedError) Unwrap() error { return e.cause }

// isDamaged reports whether err has one of SQLite's two codes for damage.
func isDamaged(err error) bool {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return false
	}
	code := said.Code() & 0xff // without the extended part
	return code == lib.SQLITE_NOTADB || code == lib.SQLITE_CORRUPT
}
