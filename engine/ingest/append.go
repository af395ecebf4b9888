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

// Rows are rows to import that do not come from a file.
type Rows struct {
	Feed data.Feed // its name, kind and rule for repeats; its Read and Query are not called
	Name string    // in messages and in the import log; many batches may share it
	// Read passes the rows to sink; their lines identify them in messages. nil: there are no rows.
	// It is called once, and again if the database had to be reopened.
	Read func(ctx context.Context, sink data.Sink) error
	// Within is called once in the transaction of the rows, after them, even if none of them is
	// new; it may be nil.
	Within func(ctx context.Context, conn *sql.Conn) error
	// Instead is the name of provisional rows that were imported before. The rows here are complete
	// for their transactions: they replace all rows of that name which have the same transactions
	// and no log index, equal or not. "": nothing is replaced.
	Instead string
}

// Append imports rows like Import does those of a file, and returns their receipt. After an error,
// nothing of the rows and of what Within did remains.
//
// The import log gets a line only if the rows changed something: there may be a batch every two
// seconds, and only facts refer to the number of their batch. A line takes about a hundredth of the
// space of its fills; see Receipt.brief.
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
	// Data that does not fit into memory goes to unnamed files.
	src := &source{name: rows.Name, feed: feed, dir: im.DB.Dir().Tmp(), within: rows.Within, instead: rows.Instead}
	src.read = func(_ context.Context, sink data.Sink) error { return rows.Read(ctx, sink) } // with the caller's context, because it may wait
	receipt, err := im.bring(ctx, src, opts)
	if err != nil {
		return receipt, fmt.Errorf("%s: %w", rows.Name, err)
	}
	return receipt, nil
}

// stageMemory stages rows that do not come from a file.
func (j *fileImport) stageMemory() error {
	err := j.withAppenders(func(s *sink) error {
		s.bytes = func() float64 { return -1 }
		return j.src.read(j.ctx, s)
	})
	if err != nil {
		return err
	}
	return j.refuseIfRejected()
}

// worthLogging reports whether the import log gets a line, as it always does for a file.
func (j *fileImport) worthLogging() bool {
	r := &j.receipt
	return j.src.read == nil || j.ousted || !r.nothingNew() || r.Waiting > 0 || r.RejectedFile != ""
}

// logText returns a receipt as it is stored in the import log.
func (j *fileImport) logText(r *Receipt) (string, error) {
	if j.src.read == nil {
		return r.json()
	}
	return r.brief()
}

// inColumns are the fields of a receipt that follow from columns of the import log or from the
// feed, or that only files have.
var inColumns = []string{"file", "feed", "rule", "from", "to", "seconds", "lines"}

// brief returns the receipt without zero values and without what the import log has in other
// columns: about sixty bytes instead of a thousand.
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
