package export

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sync/errgroup"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/export/job"
	"pmx/engine/guard"
)

// rowGroup is the number of rows of a step, which makes one row group. It is DuckDB's own size, so
// a step reads one row group of the frozen rows on one thread, and gives the same bytes with any
// number of threads.
const rowGroup = 122_880

// copiers is the number of steps of a file that are copied concurrently.
const copiers = 2

// write writes the file in steps of a row group, each with a separate COPY, so that progress is
// reported, memory is bounded and a cancelled export ends soon.
func (r *frozenRows) write(ctx context.Context, format data.Format, path string, progress func(float64)) (file job.Result, err error) {
	out, err := newOutputFile(path)
	if err != nil {
		return job.Result{}, err
	}
	defer func() { err = errors.Join(err, out.discard()) }()
	var to joiner = &csvJoiner{out: out}
	if format == data.Parquet {
		to = &parquetJoiner{out: out, meta: r.metadata(), sorted: r.dataset.sortedBy()}
	}
	if err := r.writeSteps(ctx, format, out, to, progress); err != nil {
		return job.Result{}, err
	}
	if err := out.publish(func(f *os.File) error { return readBack(f, format, r) }); err != nil {
		return job.Result{}, err
	}
	return job.Result{Rows: r.count, Bytes: out.size, SHA256: hex.EncodeToString(out.sum.Sum(nil)), AsOf: r.asOf,
		Version: r.version, Truncated: r.truncated}, nil
}

// steps returns the number of steps, at least one.
func (r *frozenRows) steps() int64 { return max(1, (r.count+rowGroup-1)/rowGroup) }

// writeSteps copies the steps concurrently and joins them in order.
func (r *frozenRows) writeSteps(ctx context.Context, format data.Format, out *outputFile, to joiner, progress func(float64)) error {
	select {
	case writeSlots <- struct{}{}:
		defer func() { <-writeSlots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	group, ctx := errgroup.WithContext(ctx)
	ready := make([]chan string, min(copiers, r.steps()))
	for i := range ready {
		ready[i] = make(chan string, 1)
		guard.InGroup(group, func() error {
			defer close(ready[i])
			return r.copySteps(ctx, fail, format, out.path, int64(i), int64(len(ready)), ready[i])
		})
	}
	guard.InGroup(group, func() error {
		return engine.LowPriority(func() error { return r.joinSteps(ctx, out, to, ready, progress) })
	})
	err := group.Wait()
	for _, left := range ready { // because joining failed
		for step := range left {
			_ = os.Remove(step)
		}
	}
	return err
}

// writeSlots limits the number of files that are written at the same time, because each uses
// connections that requests need, too.
var writeSlots = make(chan struct{}, 2)

// copySteps writes the files of every stride-th step from first on and passes each on when it is
// complete. An error is passed to fail while the connection is still held, because all connections
// must be released before a broken database can be reopened.
func (r *frozenRows) copySteps(ctx context.Context, fail context.CancelCauseFunc, format data.Format, path string, first, stride int64, ready chan<- string) error {
	return r.in.db.ReadLowPriority(ctx, func(conn *sql.Conn) error {
		for i := first; i < r.steps(); i += stride {
			step := fmt.Sprintf("%s.%d.step", path, i)
			err := r.copyStep(ctx, conn, format, step, i)
			if err == nil {
				select {
				case ready <- step:
					continue
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			_ = os.Remove(step)
			if ctx.Err() != nil {
				return context.Cause(ctx) // the error of another goroutine
			}
			fail(err)
			return err
		}
		return nil
	})
}

func (r *frozenRows) copyStep(ctx context.Context, conn *sql.Conn, format data.Format, path string, step int64) error {
	options := "FORMAT csv, HEADER " + strconv.FormatBool(step == 0)
	if format == data.Parquet {
		options = fmt.Sprintf("FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE %d", rowGroup)
	}
	_, err := copyTo(ctx, conn, path, statements.Get("FrozenStep", "@columns", r.dataset.shown(format), "@table", r.table(),
		"@after", strconv.FormatInt(step*rowGroup, 10), "@to", strconv.FormatInt(min(step*rowGroup+rowGroup, r.count), 10)), options)
	return err
}

// joinSteps joins the files of all steps in order, removes them, and syncs the result while further
// steps are copied. It ends if the export is cancelled, even if all steps are copied.
func (r *frozenRows) joinSteps(ctx context.Context, out *outputFile, to joiner, ready []chan string, progress func(float64)) error {
	for i := range r.steps() {
		step, ok := <-ready[i%int64(len(ready))]
		if !ok {
			return nil // its copier failed and reports why
		}
		err := to.add(step, i == 0)
		if err := errors.Join(err, os.Remove(step)); err != nil {
			return err
		}
		if err := out.file.Sync(); err != nil {
			return err
		}
		progress(float64(i+1) / float64(r.steps()))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return to.finish()
}
