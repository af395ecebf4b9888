package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups/serving"
)

// Request asks for an import of files, folders and globs.
type Request struct {
	Paths   []string       `json:"paths"`
	Stdin   string         `json:"stdin,omitempty"` // the one of Paths that holds standard input
	As      string         `json:"as,omitempty"`
	OnError ingest.OnError `json:"on_error,omitempty"`
	DryRun  bool           `json:"dry_run,omitempty"`
	Correct bool           `json:"correct,omitempty"` // the payouts are the newest of their source
	inbox   bool           // it is a file of the inbox, of which the log says more
}

// Event is a report of a running import; exactly one field is set.
type Event struct {
	Progress *ingest.Progress `json:"progress,omitempty"`
	Receipt  *ingest.Receipt  `json:"receipt,omitempty"`
	Failed   *Failure         `json:"failed,omitempty"`
	Skipped  *Failure         `json:"skipped,omitempty"` // a file in a folder that no feed recognises
	Step     string           `json:"step,omitempty"`    // a rebuild's stage
	Done     int              `json:"done,omitempty"`
	Of       int              `json:"of,omitempty"`
}

// Failure is a file that was not imported, and why.
type Failure struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

// Result is the result of an import of several files.
type Result struct {
	Receipts []ingest.Receipt `json:"receipts"`
	Failed   []Failure        `json:"failed"`
	Skipped  []Failure        `json:"skipped"`
}

// NewResult returns the Result of an import that has done nothing yet.
func NewResult() Result {
	return Result{Receipts: []ingest.Receipt{}, Failed: []Failure{}, Skipped: []Failure{}}
}

// Add adds an event about a file.
func (r *Result) Add(e Event) {
	switch {
	case e.Receipt != nil:
		r.Receipts = append(r.Receipts, *e.Receipt)
	case e.Failed != nil:
		r.Failed = append(r.Failed, *e.Failed)
	case e.Skipped != nil:
		r.Skipped = append(r.Skipped, *e.Skipped)
	}
}

// ErrNothing is returned for an import of paths without any file.
var ErrNothing = errors.New("no file to import")

// Import imports files, each in its own transaction, those that others refer to first. A file that
// fails is reported and the others continue; the error is non-nil only if no work could be done or
// it was cancelled before all was done. A file that was committed has its receipt in any case.
func (k *Keeper) Import(ctx context.Context, req Request, emit func(Event)) (res Result, err error) {
	res = NewResult()
	if err := k.needFills("an import"); err != nil {
		return res, err
	}
	if err := k.work.Lock(ctx); err != nil {
		return res, err
	}
	defer k.work.Unlock()
	if !req.DryRun {
		defer func() { k.logImport(req, res) }()
	}
	k.unboundGarbage() // for files as for a source that is behind
	k.unbound(ctx)
	if emit == nil {
		emit = func(Event) {}
	}
	plans, err := k.plan(ctx, req, &res, emit)
	if err != nil {
		return res, err
	}
	w := &importWork{Keeper: k, req: req, emit: emit, res: &res}
	if err := w.all(ctx, plans); err != nil {
		return res, err
	}
	if req.DryRun || k.factsOnly {
		return res, nil
	}
	if !w.rebuild { // but an import that was cut off may have left that to this one
		if w.rebuild, err = k.stale(ctx); err != nil || !w.rebuild {
			return res, err
		}
	}
	return res, k.cycleDone(k.refresh(ctx, func(name string, done, of int) {
		emit(Event{Step: name, Done: done, Of: of})
	}))
}

// checkDiskSpace is nil, or the reason why nothing can be imported now.
func (k *Keeper) checkDiskSpace() error {
	err := k.db.CheckSpace()
	k.noteDiskSpace(err)
	if err != nil {
		return fmt.Errorf("nothing can be imported: %w", err)
	}
	return nil
}

// nothingOf reports why a file that was read had no rows; "" if it had some.
func nothingOf(r ingest.Receipt) string {
	switch {
	case r.Read == 0:
		return fmt.Sprintf("nothing in it was read as %s: it is empty, or of another feed", r.Feed)
	case r.Read == r.RejectedRows() && r.Read == 1:
		return fmt.Sprintf("its only row was rejected, read as %s", r.Feed)
	case r.Read == r.PassedRows() && r.Read == 1:
		return fmt.Sprintf("its only row has no value, read as %s", r.Feed)
	case r.Read == r.RejectedRows():
		return fmt.Sprintf("every one of its %d rows was rejected, read as %s", r.Read, r.Feed)
	case r.Read == r.PassedRows():
		return fmt.Sprintf("none of its %d rows has a value, read as %s", r.Read, r.Feed)
	case r.Read == r.PassedRows()+r.RejectedRows():
		return fmt.Sprintf("of its %d rows, read as %s, %d were rejected and the others have no value", r.Read, r.Feed, r.RejectedRows())
	}
	return ""
}

// shortened is the first clause of an error: a folder may have many stray files, and the full error
// of each lists its contents and all feeds.
func shortened(err error) string {
	reason, _, _ := strings.Cut(err.Error(), ";")
	if head, _, long := strings.Cut(reason, " with the "); long {
		reason = head + " of another shape"
	}
	return reason
}

// nameOf is what the user calls a file.
func (r Request) nameOf(path string) string {
	if path == r.Stdin && path != "" {
		return "standard input"
	}
	return path
}

// named is an error about a file, with what the user calls it.
func (r Request) named(err error) error {
	if r.Stdin == "" {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), r.Stdin, r.nameOf(r.Stdin)))
}

// once keeps only the first mention of a path in an error whose layers each mention it.
func once(path, text string) string {
	for _, again := range []string{"import " + path + ": ", "open " + path + ": ", "stat " + path + ": ", "read " + path + ": ", path + ": "} {
		text = strings.ReplaceAll(text, again, "")
	}
	return path + ": " + text
}

func (r *Result) fail(emit func(Event), path string, err error) {
	f := Failure{File: path, Error: once(path, err.Error()) + againAdvice(err)}
	r.Failed = append(r.Failed, f)
	emit(Event{Failed: &f})
}

// againAdvice is what to do about a file that filled the disk, "" for other errors: it was not imported, and is not by itself.
func againAdvice(err error) string {
	switch {
	case !data.IsNoSpace(err):
		return ""
	case engine.RoomAdvice(err) != "": // the error does not say what to do
		return ": free some space; then import the file again"
	}
	return "; then import the file again"
}

// imported notes new data for the status grades.
func (k *Keeper) imported(r ingest.Receipt) {
	if r.DryRun {
		return
	}
	now := k.cfg.Now().UTC()
	k.tallies.receipt(r, now)
	k.updateFreshness(func(f *serving.Freshness) {
		if r.Inserted > 0 {
			f.LastFills = now
		}
		if r.MarketsNew+r.MarketsChanged > 0 {
			f.LastMarkets = now
		}
		f.Stale = f.Stale || r.RebuildNeeded
	})
}

// dataName finds names of files of data, compressed or not.
var dataName = regexp.MustCompile(`(?i)\.(csv|tsv|json|ndjson|jsonl|parquet|dly)(\.(gz|zst))?$`)

// brokenOff reports whether a data file is empty: a copy that was interrupted at once, which must
// not be skipped as an unrelated file.
func brokenOff(path string, head data.Head) bool {
	return dataName.MatchString(path) && len(bytes.TrimSpace(head.Bytes)) == 0
}

// plan expands the paths, names the feed of every file, and puts files that
// others refer to first.
func (k *Keeper) plan(ctx context.Context, req Request, res *Result, emit func(Event)) ([]ingest.Plan, error) {
	var plans []ingest.Plan
	for _, path := range req.Paths {
		files, err := expandPath(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if file.err != nil {
				res.fail(emit, file.path, file.err)
				continue
			}
			p, head, err := k.importer.Identify(file.path, req.As)
			switch {
			case err == nil:
				p.Name = req.nameOf(p.Path)
				plans = append(plans, p)
			case file.inFolder && !errors.Is(err, fs.ErrPermission) && !brokenOff(file.path, head):
				f := Failure{File: file.path, Error: shortened(err)}
				res.Skipped = append(res.Skipped, f)
				emit(Event{Skipped: &f})
			default:
				res.fail(emit, req.nameOf(file.path), req.named(err))
			}
		}
	}
	if len(plans) == 0 && len(res.Failed) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNothing, firstPaths(req.Paths))
	}
	slices.SortStableFunc(plans, func(a, b ingest.Plan) int { return int(a.Feed.Kind) - int(b.Feed.Kind) })
	return plans, nil
}
