package ingest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"pmx/data"
	"pmx/engine"
)

// Rows are what an import brings in that reads no file.
type Rows struct {
	Feed data.Feed // its name, its kind and how it tells repeats; neither Read nor Query of it is called
	Name string    // in messages and in the import log: of many batches the same
	// Read gives the rows; line is whatever tells them apart in messages. nil: there are
	// none. It is called once, or again where the database had to be reopened.
	Read func(ctx context.Context, sink data.Sink) error
	// Within is called once in the transaction that the rows are committed in, behind them, also
	// where nothing of them is new; nil if there is nothing to do.
	Within func(ctx context.Context, conn *sql.Conn) error
	// Instead names rows that were brought in before and are provisional: the rows here are all
	// that there are of their transactions, so that those of the name which are of the same
	// transactions, and have no log index, give way to them, equal or not. "": none do.
	Instead string
}

// Append brings rows in as Import does those of a file, and returns their receipt. Nothing of rows
// that end in an error stays, and nothing that Within did.
//
// The import log gets a line only where something came from the rows: there may be a batch every
// two seconds, and a fact needs the number of its batch, nothing else does. Such a line takes about
// a hundredth of the space of its fills, see Receipt.brief.
func (im *Importer) Append(ctx context.Context, rows Rows, opts Options) (Receipt, error) {
	feed := rows.Feed
	feed.Read, feed.Query = nil, nil
	if rows.Read == nil {
		r := Receipt{File: rows.Name, Feed: feed.Name, Rule: feed.Rule, DryRun: opts.DryRun}
		if rows.Within == nil || opts.DryRun {
			return r, nil
		}
		err := im.DB.Write(ctx, func(conn *sql.Conn) error {
			return engine.InTx(ctx, conn, func() error { return rows.Within(ctx, conn) })
		})
		if err != nil {
			return r, fmt.Errorf("%s: %w", rows.Name, err)
		}
		return r, nil
	}
	// What does not fit into memory goes to files without a name.
	src := &source{name: rows.Name, feed: feed, dir: im.DB.Dir().Tmp(), within: rows.Within, instead: rows.Instead}
	src.read = func(_ context.Context, sink data.Sink) error { return rows.Read(ctx, sink) } // with the caller's context: it may wait
	receipt, err := im.bring(ctx, src, opts)
	if err != nil {
		return receipt, fmt.Errorf("%s: %w", rows.Name, err)
	}
	return receipt, nil
}

// stageMemory stages rows that come from no file.
func (j *fileImport) stageMemory() error {
	if err := j.rawEmpty(); err != nil {
		return err
	}
	err := j.withAppenders(func(s *sink) error {
		s.bytes = func() float64 { return -1 }
		return j.src.read(j.ctx, s)
	})
	if err != nil {
		return err
	}
	return j.refuseIfRejected()
}

// worthLogging reports whether the import log gets a line: of a file always.
func (j *fileImport) worthLogging() bool {
	r := &j.receipt
	return j.src.read == nil || j.ousted || !r.nothingNew() || r.Waiting > 0 || r.RejectedFile != ""
}

// logText is a receipt as the import log has it.
func (j *fileImport) logText(r *Receipt) (string, error) {
	if j.src.read == nil {
		return r.json()
	}
	return r.brief()
}

// inColumns are the fields of a receipt that the columns of the import log, or the feed, say
// as well, and what is of files only.
var inColumns = []string{"file", "feed", "rule", "from", "to", "seconds", "lines"}

// brief is the receipt without what is zero and what the import log has besides: some sixty
// bytes instead of a thousand.
func (r *Receipt) brief() (string, error) {
	text, err := r.json()
	if err != nil {
		return "", err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return "", err
	}
	for key, value := range all {
		if slices.Contains(inColumns, key) || slices.Contains([]string{"0", `""`, "{}", "null", "false", "[]"}, string(value)) {
			delete(all, key)
		}
	}
	b, err := json.Marshal(all)
	return string(b), err
}
