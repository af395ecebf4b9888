package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// ErrLocked is returned by Open when another process holds the database.
var ErrLocked = errors.New("the database is in use by another process")

// ErrNewerSchema is returned by Open for a file that a newer pmx has migrated.
var ErrNewerSchema = errors.New("the database was written by a newer pmx")

// ErrClosed is returned by reads and writes after Close, and after a second fault.
var ErrClosed = errors.New("the database is closed")

// ErrMemory is in the error of work that needs more memory than the database may use.
var ErrMemory = errors.New("the database's memory is too small")

// errorTypes returns the types of all DuckDB errors in err. The texts are never inspected: they may
// quote data.
func errorTypes(err error) (types []duckdb.ErrorType) {
	for err != nil {
		if de, ok := err.(*duckdb.Error); ok {
			return append(types, de.Type)
		}
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			for _, part := range e.Unwrap() {
				types = append(types, errorTypes(part)...)
			}
			return types
		default:
			return types
		}
	}
	return types
}

// isFault reports whether err has poisoned the DuckDB instance: after a FATAL or INTERNAL error
// every later statement fails until the file is opened again.
func isFault(err error) bool {
	for _, t := range errorTypes(err) {
		if t == duckdb.ErrorTypeFatal || t == duckdb.ErrorTypeInternal {
			return true
		}
	}
	return false
}

// IsFault reports whether err broke the open database, which was opened again since. What the
// failed call had committed may be in it.
func IsFault(err error) bool { return isFault(err) }

// operatorError is an error with a text for the operator; it wraps its kind and its cause.
type operatorError struct {
	text        string
	kind, cause error
}

// Error returns the sentence.
func (e *operatorError) Error() string { return e.text }

// Unwrap returns the kind and the cause.
func (e *operatorError) Unwrap() []error {
	if e.kind == nil {
		return []error{e.cause}
	}
	return []error{e.kind, e.cause}
}

// explain adds what to do to an error of DuckDB that is due to the machine: a full disk, or too
// little memory.
func (db *DB) explain(err error) error {
	memory := false
	for _, t := range errorTypes(err) {
		switch t {
		case duckdb.ErrorTypeOutOfMemory:
			memory = true
			fallthrough
		case duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeIO, duckdb.ErrorTypeTransaction:
			thorough := !errors.Is(err, ErrCheckpointRefused) // whose tries would take the room from others again and again
			if full := db.opts.Dir.checkSpace(thorough); full != nil {
				return &operatorError{text: full.Error(), kind: full, cause: err}
			}
		}
	}
	if !memory {
		return err
	}
	return &operatorError{kind: ErrMemory, cause: err,
		text: fmt.Sprintf("this needs more memory than the database may use (%s): give it more with --memory, as docs/operate.md describes; "+
			"nothing was changed", db.reopening().MemoryLimit)}
}

// ShortOfMemory reports whether work failed because DuckDB, or the process, has too little memory for it.
func ShortOfMemory(err error) bool {
	return errors.Is(err, ErrMemory) || slices.Contains(errorTypes(err), duckdb.ErrorTypeOutOfMemory)
}

// stopped says of a statement that was interrupted because ctx ended that it was: if that comes while DuckDB still plans the
// statement, the driver returns DuckDB's error alone.
func stopped(ctx context.Context, err error) error {
	ended := ctx.Err()
	if ended == nil || errors.Is(err, ended) || !slices.Contains(errorTypes(err), duckdb.ErrorTypeInterrupt) {
		return err
	}
	return &operatorError{text: err.Error(), kind: ended, cause: err}
}

// explainOpen turns a failed open into a sentence that names the process that has the file open,
// and says what to do.
func explainOpen(dir Dir, err error) error {
	path := dir.Database()
	pid, exe := lockHolder(path)
	if full := dir.noRoomToOpen(err); pid == 0 && full != nil {
		return &operatorError{text: full.Error(), kind: full, cause: err}
	}
	if pid == 0 {
		return &operatorError{cause: err, text: openText(path, err)}
	}
	return &operatorError{kind: ErrLocked, cause: err,
		text: fmt.Sprintf("%s is in use by process %d%s: stop it, or choose another --data-dir", path, pid, exe)}
}

// openText is DuckDB's reason why the database could not be opened, without the prefixes of the
// layers between and without a second mention of the path.
func openText(path string, err error) string {
	var own *duckdb.Error
	if !errors.As(err, &own) {
		return fmt.Sprintf("open %s: %v", path, err)
	}
	_, text, named := strings.Cut(own.Msg, " Error: ") // such as IO Error
	if !named {
		text = own.Msg
	}
	return fmt.Sprintf("open %s: %s", path, strings.ReplaceAll(text, fmt.Sprintf("%q ", path), ""))
}
