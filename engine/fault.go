package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// ErrLocked is returned by Open when another process holds the database.
var ErrLocked = errors.New("the database is in use by another process")

// ErrNewerSchema is returned by Open for a file that a newer pmx has migrated.
var ErrNewerSchema = errors.New("the database was written by a newer pmx")

// ErrClosed is returned by reads and writes after Close, and after a second fault.
var ErrClosed = errors.New("the database is closed")

// isFault tells whether err has poisoned the DuckDB instance: after a FATAL or
// INTERNAL error every later statement fails until the file is opened anew.
func isFault(err error) bool {
	if err == nil {
		return false
	}
	var de *duckdb.Error
	if errors.As(err, &de) && (de.Type == duckdb.ErrorTypeFatal || de.Type == duckdb.ErrorTypeInternal) {
		return true
	}
	msg := err.Error()
	return strings.Contains(msg, "FATAL Error") || strings.Contains(msg, "INTERNAL Error") ||
		strings.Contains(msg, "database has been invalidated")
}

var lockHolder = regexp.MustCompile(`held in (\S+) \(PID (\d+)\)`)

// explainOpen turns DuckDB's lock message into a sentence that names the
// process and says what to do.
func explainOpen(path string, err error) error {
	msg := err.Error()
	if !strings.Contains(msg, "Could not set lock") {
		return fmt.Errorf("open %s: %w", path, err)
	}
	who := "another process"
	if m := lockHolder.FindStringSubmatch(msg); m != nil {
		who = fmt.Sprintf("process %s (%s)", m[2], m[1])
	}
	return lockedError(fmt.Sprintf("%s is in use by %s: stop it, or choose another --data-dir", path, who))
}

// lockedError is ErrLocked in words that name the holder.
type lockedError string

// Error gives the sentence.
func (e lockedError) Error() string { return string(e) }

// Is tells that the error is ErrLocked.
func (e lockedError) Is(target error) bool { return target == ErrLocked }
