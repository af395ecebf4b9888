package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"pmx/data"
)

// stage reads the file into the temporary tables, outside any transaction.
func (j *job) stage() error {
	j.progress("reading", 0, 0)
	if err := j.execAll("MarketsEmpty", "MapEmpty", "BlocksEmpty"); err != nil {
		return err
	}
	if j.src.hasWeather() {
		if err := j.stageWeather(); err != nil {
			return err
		}
	}
	if j.src.feed.Query != nil {
		return j.stageQuery()
	}
	return j.stageRows()
}

// stageQuery lets DuckDB read the file. Where it cannot, or where it does not see
// every line of it, a CSV file is cleaned row by row first. One that it cannot read
// is refused where the user wants such a file refused.
func (j *job) stageQuery() error {
	query, rows, err := j.readQuery(j.src.plain)
	if err != nil && j.ctx.Err() == nil && j.src.plain.Format == data.CSV &&
		(errors.Is(err, errUnseen) || j.opts.OnError != RejectFile) {
		var clean data.Source
		if clean, err = j.clean(); err == nil {
			query, rows, err = j.runQuery(clean)
		}
	}
	if err != nil {
		return errors.Join(j.ctx.Err(), fmt.Errorf("%w: %w", ErrFileRefused, err))
	}
	j.receipt.Read += rows
	if query.Markets == "" {
		return nil
	}
	return j.stageStubs(query.Markets)
}

// errUnseen tells that a CSV file has lines that are in no row DuckDB read alone: a
// quote took some in, or the last line is not whole.
var errUnseen = errors.New("not every line is a row")

// readQuery is runQuery of a file that was not looked through: in a CSV file every
// line must come to a row.
func (j *job) readQuery(src data.Source) (query data.Query, rows int64, err error) {
	if src.Format != data.CSV {
		return j.runQuery(src)
	}
	breaks, ended, err := lines(j.ctx, src.Path)
	if err == nil && !ended {
		err = errUnseen
	}
	if err == nil {
		query, rows, err = j.runQuery(src)
	}
	if err == nil && rows < breaks-1 {
		err = errUnseen
	}
	return query, rows, err
}

// runQuery stages what the feed's statement gives, and tells how many records that is.
func (j *job) runQuery(src data.Source) (query data.Query, rows int64, err error) {
	if query, err = j.src.feed.Query(src, j.src.head); err != nil {
		return query, 0, err
	}
	stop := j.watch(src.Size)
	err = j.exec("RawFromQuery", "@query", query.Fills)
	stop()
	if err == nil {
		err = j.conn.QueryRowContext(j.ctx, "SELECT coalesce(max(coalesce(row, rowid + 1)), 0) FROM s_raw").Scan(&rows)
	}
	return query, rows, err
}

// stageStubs takes what the rows of a fill feed say of their markets. Of several words
// on one thing the larger stands, as between records of equal version.
func (j *job) stageStubs(query string) error {
	if err := j.exec("Stubs", "@query", query); err != nil {
		return fmt.Errorf("read market names: %w", err)
	}
	return j.execAll("StubMarkets", "StubTokens", "DropStubs")
}

// clockSlack is how far a fill may lie ahead of this machine's clock. One that
// lies further ahead would carry every window into the future with it.
const clockSlack = 24 * time.Hour

// rejectBadRows keeps the rows that cannot be used, with their line, and takes
// them out of s_raw; a file is refused whole where the user wants that.
func (j *job) rejectBadRows() error {
	latest := j.started.Add(clockSlack).UnixMicro()
	reason := statements.Get("Reason", "@latest", strconv.FormatInt(latest, 10))
	rows := j.pages(statements.Get("BadRows", "@reason", reason), "row, reason")
	found := false
	err := j.locate(func() (b badRow, more bool, err error) {
		more, err = rows.next(&b.row, &b.reason)
		found = found || more
		return b, more, err
	})
	if err := errors.Join(err, rows.close()); err != nil {
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

// refuseIfRejected ends the import where any row was rejected and the user
// asked for whole files only.
func (j *job) refuseIfRejected() error {
	if j.opts.OnError != RejectFile || j.rejects.first == nil {
		return nil
	}
	f := j.rejects.first
	return fmt.Errorf("%w: line %d: %s %s", ErrFileRefused, f.Line, f.Reason, f.Detail)
}
