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

// stageQuery lets DuckDB read the file. Where it cannot, a CSV file is cleaned
// row by row first, unless the user wants such a file refused.
func (j *job) stageQuery() error {
	query, err := j.runQuery(j.src.plain)
	if err != nil && j.ctx.Err() == nil && j.src.plain.Format == data.CSV && j.opts.OnError != RejectFile {
		var clean data.Source
		if clean, err = j.clean(); err == nil {
			query, err = j.runQuery(clean)
		}
	}
	if err != nil {
		return errors.Join(j.ctx.Err(), fmt.Errorf("%w: %w", ErrFileRefused, err))
	}
	var rows int64
	if err := j.conn.QueryRowContext(j.ctx, "SELECT coalesce(max(coalesce(row, rowid + 1)), 0) FROM s_raw").Scan(&rows); err != nil {
		return err
	}
	j.receipt.Read += rows
	if query.Markets == "" {
		return nil
	}
	return j.stageStubs(query.Markets)
}

func (j *job) runQuery(src data.Source) (data.Query, error) {
	query, err := j.src.feed.Query(src, j.src.head)
	if err != nil {
		return query, err
	}
	defer j.watch(src.Size)()
	return query, j.exec("RawFromQuery", "@query", query.Fills)
}

// stageStubs takes what the rows of a fill feed say of their markets.
func (j *job) stageStubs(query string) error {
	rows, err := j.conn.QueryContext(j.ctx, query)
	if err != nil {
		return fmt.Errorf("read market names: %w", err)
	}
	defer func() { _ = rows.Close() }()
	found := newMarkets()
	var refs []data.TokenRef
	for rows.Next() {
		var condition []byte
		var token, label, question, slug, eventSlug, icon *string
		var outcome *int8
		if err := rows.Scan(&condition, &token, &outcome, &label, &question, &slug, &eventSlug, &icon); err != nil {
			return err
		}
		m := data.Market{Stub: true, Question: text(question), Slug: text(slug), EventSlug: text(eventSlug), Icon: text(icon)}
		copy(m.Condition[:], condition)
		if err := found.add(m); err != nil {
			return err
		}
		if token != nil && outcome != nil {
			refs = append(refs, data.TokenRef{TokenID: *token, Condition: m.Condition, Outcome: int(*outcome)})
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return j.withAppenders(func(s *sink) error {
		s.markets = found
		for _, ref := range refs {
			if err := s.mapToken(ref, false); err != nil {
				return err
			}
		}
		return nil
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// clockSlack is how far a fill may lie ahead of this machine's clock. One that
// lies further ahead would carry every window into the future with it.
const clockSlack = 24 * time.Hour

// rejectBadRows keeps the rows that cannot be used, with their line, and takes
// them out of s_raw; a file is refused whole where the user wants that.
func (j *job) rejectBadRows() error {
	latest := j.started.Add(clockSlack).UnixMicro()
	reason := statements.Get("Reason", "@latest", strconv.FormatInt(latest, 10))
	rows, err := j.conn.QueryContext(j.ctx, statements.Get("BadRows", "@reason", reason))
	if err != nil {
		return err
	}
	var bad []badRow
	for rows.Next() {
		var b badRow
		if err := rows.Scan(&b.row, &b.reason); err != nil {
			return errors.Join(err, rows.Close())
		}
		bad = append(bad, b)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if len(bad) == 0 {
		return j.refuseIfRejected()
	}
	if err := j.locate(bad); err != nil {
		return err
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
