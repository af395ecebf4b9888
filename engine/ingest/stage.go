package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
)

// stage reads the file into the temporary tables, outside any transaction.
func (j *fileImport) stage() error {
	j.progress("reading", 0, 0)
	if err := j.empty("MarketsEmpty", "SpareEmpty", "MapEmpty", "BlocksEmpty"); err != nil {
		return err
	}
	if j.src.hasWeather() {
		if err := j.stageWeather(); err != nil {
			return err
		}
	}
	switch {
	case j.src.read != nil:
		return j.stageMemory()
	case j.src.feed.Query != nil:
		return j.stageQuery()
	}
	return j.stageRows()
}

// stageQuery lets DuckDB read the file. If DuckDB cannot, or does not read every line as a row, the
// file is first cleaned row by row.
func (j *fileImport) stageQuery() error {
	rows, err := j.readQuery(j.src.plain)
	if err != nil && j.together() {
		return err
	}
	if err != nil && j.ctx.Err() == nil && mayClean(err) {
		var clean data.Source
		if clean, err = j.cleanCSV(); err == nil {
			if err := j.refuseIfRejected(); err != nil {
				return err
			}
			// Markets of the first reading would be counted twice.
			if err := j.empty("MarketsEmpty", "MapEmpty"); err != nil {
				return err
			}
			rows, err = j.runQuery(clean)
		}
		if err == nil && rows != j.kept {
			err = errMissingLines
		}
	}
	if err != nil {
		return errors.Join(j.ctx.Err(), fmt.Errorf("%w: %w", ErrFileRefused, unreadable(j.src.plain.Format, err)))
	}
	j.receipt.Read += rows
	return nil
}

// errMissingLines is the error of a file with lines that are in no row that DuckDB read: they are
// inside quotes, or the last line is incomplete.
var errMissingLines = errors.New("not every line is a row")

// mayClean reports whether err is caused by the contents of a file.
func mayClean(err error) bool {
	var own *duckdb.Error
	if !errors.As(err, &own) {
		return errors.Is(err, errMissingLines)
	}
	switch own.Type {
	case duckdb.ErrorTypeOutOfMemory, duckdb.ErrorTypeFatal, duckdb.ErrorTypeInternal, duckdb.ErrorTypeInterrupt:
		return false
	}
	return true
}

// unreadable returns an error that explains why a file cannot be read. DuckDB's message is about
// its own options; it remains the cause.
func unreadable(format data.Format, err error) error {
	if !mayClean(err) {
		return err
	}
	return &unreadableError{format, err}
}

type unreadableError struct {
	format data.Format
	cause  error
}

// Error explains what is wrong as far as it is known.
func (e *unreadableError) Error() string {
	return fmt.Sprintf("the file cannot be read as %s: it is damaged, or its contents do not match its beginning", e.format)
}

// Unwrap returns the error of the database.
func (e *unreadableError) Unwrap() error { return e.cause }

// readQuery is runQuery for a file that was not cleaned: in a text file every line must give a row.
func (j *fileImport) readQuery(src data.Source) (rows int64, err error) {
	if src.Format == data.Parquet {
		rows, err = j.runQuery(src)
		j.receipt.Lines.Records = rows
		return rows, err
	}
	var lines Lines
	if src.Format == data.NDJSON {
		src, lines, err = j.numbered(src)
	} else {
		var staged, sound bool
		if staged, err = j.holdPlain(src); err == nil && !staged {
			staged, err = j.stagePlain(src)
		}
		if err != nil || staged {
			return j.receipt.Lines.Records, err
		}
		if lines, sound, err = look(j.ctx, src); err == nil && !sound {
			err = errMissingLines
		}
	}
	j.receipt.Lines = lines
	if err == nil {
		rows, err = j.runQuery(src)
	}
	if err == nil && rows != lines.Records {
		err = errMissingLines
	}
	return rows, err
}

// runQuery stages the rows of the feed's statements, and returns the number of records.
func (j *fileImport) runQuery(src data.Source) (rows int64, err error) {
	query, err := j.src.feed.Query(src, j.src.head)
	if err != nil {
		return 0, err
	}
	stop := j.reportProgress(src.Size)
	var staged bool
	if query.Texts != nil {
		staged, err = j.stageTexts(query.Texts)
	}
	if err == nil && !staged {
		err = j.exec("RawFromQuery", "@query", query.Fills)
	}
	stop()
	if err == nil && src.Format == data.NDJSON {
		err = j.numberUnread()
	}
	switch {
	case err != nil:
	case j.together():
		rows, err = j.countRecords()
	case staged:
		rows = j.texts.rows
	default:
		err = j.conn.QueryRowContext(j.ctx, statements.Get("LastRow")).Scan(&rows)
	}
	if err == nil && query.Markets != "" {
		err = j.stageStubs(query.Markets)
	}
	return rows, err
}

// stageStubs stages what rows of fills say about their markets. Of several values the larger is
// used, as for records of equal version.
func (j *fileImport) stageStubs(query string) error {
	if err := j.exec("Stubs", "@query", query); err != nil {
		return fmt.Errorf("read market names: %w", err)
	}
	return j.execAll("StubMarkets", "StubTokens", "DropStubs")
}

// clockSlack is how far a fill may be ahead of this machine's clock. One that is further ahead
// would move all windows into the future.
const clockSlack = 24 * time.Hour

// reason is SQL for the reason why a staged row cannot be used.
func (j *fileImport) reason() string {
	return statements.Get("Reason", "@latest", strconv.FormatInt(j.latest(), 10))
}

// rejectBadRows stores the rows that cannot be used, with their lines, and removes them from s_raw.
// With RejectFile the whole file is refused.
func (j *fileImport) rejectBadRows() error {
	if j.staged != nil || j.texts != nil { // none of them is bad
		return j.refuseIfRejected()
	}
	reason := j.reason()
	rows := j.pages(statements.Get("BadRows", "@reason", reason), "row, reason")
	found := false
	next := func() (b badRow, more bool, err error) {
		more, err = rows.next(&b.row, &b.reason)
		found = found || more
		return b, more, errors.Join(err, j.aloneIf(more))
	}
	if err := rows.during(func() error { return j.locateBadRows(next) }); err != nil {
		return err
	}
	if !found {
		return j.refuseIfRejected()
	}
	if err := j.refuseIfRejected(); err != nil {
		return err
	}
	return j.exec("DropBadRows", "@reason", reason)
}

// refuseIfRejected ends the import if a row was rejected and the user wants only complete files.
func (j *fileImport) refuseIfRejected() error {
	if j.opts.OnError != RejectFile || j.rejects.first == nil {
		return nil
	}
	f := j.rejects.first
	return fmt.Errorf("%w: line %d: %s %s", ErrFileRefused, f.Line, f.Reason, f.Detail)
}
