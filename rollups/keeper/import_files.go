package keeper

import (
	"context"
	"errors"
	"fmt"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/ingest"
)

// importWork is the import of files of known feeds.
type importWork struct {
	*Keeper
	req     Request
	emit    func(Event)
	res     *Result
	rebuild bool // an import left the rollups to a rebuild
	apart   int  // how many of the last groups had to be imported file by file
}

// mostApart is the number of groups in a row that may fail to be imported together before no
// further one is tried: each was read in vain.
const mostApart = 2

// all imports files, several together if the result is the same as one by one. The error is for
// work that could not be done, or was cancelled; a file that fails is reported.
func (w *importWork) all(ctx context.Context, plans []ingest.Plan) error {
	groups := ingest.Groups(plans)
	for i, group := range groups {
		coming := w.remaining(groups[i+1:])
		if len(group) > 1 && w.apart < mostApart {
			done, err := w.together(ctx, group, coming)
			if err != nil {
				return err
			}
			if done {
				continue
			}
		}
		for n, p := range group {
			rest := coming
			for _, later := range group[n+1:] {
				rest.add(later)
			}
			if err := w.one(ctx, p, rest.Remaining); err != nil {
				return err
			}
		}
	}
	return nil
}

// together imports a group of files at once; false if they are to be imported one by one.
func (w *importWork) together(ctx context.Context, group []ingest.Plan, coming remaining) (bool, error) {
	if err := errors.Join(ctx.Err(), w.checkDiskSpace()); err != nil {
		return false, err
	}
	receipts, err := w.importer.ImportTogether(ctx, group, w.options(coming.Remaining))
	if err != nil {
		w.snapshotBehind = w.snapshotBehind || engine.IsFault(err) // it may be committed nevertheless
		w.apart++
		if ctx.Err() == nil {
			w.cfg.Log.Info().AnErr("reason", err).Str("first", group[0].Name).Int("files", len(group)).Msg("files are imported one by one")
		}
		return false, ctx.Err()
	}
	w.apart = 0
	for _, r := range receipts {
		w.took(r)
	}
	return true, nil
}

// one imports one file.
func (w *importWork) one(ctx context.Context, p ingest.Plan, coming ingest.Remaining) error {
	if err := errors.Join(ctx.Err(), w.checkDiskSpace()); err != nil {
		return err
	}
	r, err := w.importer.Import(ctx, p, w.options(coming))
	if err != nil {
		w.snapshotBehind = w.snapshotBehind || engine.IsFault(err) // it may be committed nevertheless
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.res.fail(w.emit, p.Name, err)
		return nil
	}
	w.took(r)
	return nil
}

func (w *importWork) options(coming ingest.Remaining) ingest.Options {
	return ingest.Options{OnError: w.req.OnError, DryRun: w.req.DryRun, Correct: w.req.Correct, Remaining: coming,
		Progress: func(p ingest.Progress) { w.emit(Event{Progress: &p}) }}
}

// took reports an imported file.
func (w *importWork) took(r ingest.Receipt) {
	w.res.Receipts = append(w.res.Receipts, r)
	w.emit(Event{Receipt: &r})
	if why := nothingOf(r); why != "" {
		w.res.fail(w.emit, r.File, fmt.Errorf("%s: %s", r.File, why))
	}
	w.rebuild = w.rebuild || r.RebuildNeeded
	w.imported(r)
	if w.segments != nil && w.segments.memtableFull() { // not only after the last of many files
		w.startSegmentBuild()
	}
}

// remaining is ingest.Remaining as it is counted.
type remaining struct{ ingest.Remaining }

// add counts a file.
func (r *remaining) add(p ingest.Plan) {
	if p.Feed.Kind == data.KindFills {
		r.Files++
		r.Fills += p.Rows
	}
}

// remaining sums up groups; one that is imported together counts as a single file.
func (w *importWork) remaining(groups [][]ingest.Plan) (r remaining) {
	for _, group := range groups {
		before := r.Files
		for _, p := range group {
			r.add(p)
		}
		if w.apart < mostApart {
			r.Files = min(r.Files, before+1)
		}
	}
	return r
}
