package ingest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pmx/data"
)

// source is one file on its way in: what the user named, and the plain copy or
// link of it below the data directory, which is all that DuckDB may read.
type source struct {
	name  string
	feed  data.Feed
	head  data.Head
	plain data.Source
	dir   string

	members []*member // the files, where there are several

	read   func(context.Context, data.Sink) error // of rows that come from no file
	within func(context.Context, *sql.Conn) error // called in their transaction; may be nil
}

func (s *source) hasFills() bool { return s.feed.Kind == data.KindFills }

func (s *source) close() { _ = os.RemoveAll(s.dir) }

// Plan is what an import will do with one file.
type Plan struct {
	Path string
	Name string // what the user calls it, "" = its path
	Feed data.Feed
	Head data.Head // without its bytes
	// Rows is about how many rows the file has, rather too few: as its footer says,
	// and of text as many as there are of half a kilobyte.
	Rows int64
}

// assumedRowBytes is as many bytes as few rows of text have.
const assumedRowBytes = 512

// Identify tells which feed a file is of, without importing it.
func (im *Importer) Identify(path, as string) (Plan, data.Head, error) {
	head, err := im.Feeds.Head(path)
	if err != nil {
		return Plan{}, head, fmt.Errorf("%s: %w", path, err)
	}
	var feed data.Feed
	if as != "" {
		if feed, err = im.Feeds.ByName(as); err == nil {
			err = im.Feeds.Fits(feed, head)
		}
	} else {
		feed, err = im.Feeds.Detect(head)
	}
	if err != nil {
		return Plan{}, head, fmt.Errorf("%s: %w", path, err)
	}
	plan := Plan{Path: path, Feed: feed, Head: head, Rows: head.Rows}
	plan.Head.Bytes = nil // there may be very many plans
	if head.Format != data.Parquet {
		st, err := os.Stat(path)
		if err != nil {
			return Plan{}, head, err
		}
		plan.Rows = st.Size() / assumedRowBytes
	}
	return plan, head, nil
}

func (im *Importer) open(ctx context.Context, path string, opts Options) (*source, error) {
	plan, head, err := im.Identify(path, opts.As)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(im.DB.Dir().Tmp(), "import-*")
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	src := &source{name: cmp.Or(opts.Name, path), feed: plan.Feed, head: head, dir: dir}
	plain := filepath.Join(dir, "plain."+string(head.Format))
	if err := im.linkOrCopy(ctx, path, plain, head.Format); err != nil {
		src.close()
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	st, err := os.Stat(plain)
	if err != nil {
		src.close()
		return nil, err
	}
	src.plain = data.Source{Path: plain, Name: src.name, Format: head.Format, Size: st.Size(), Cities: im.Feeds.Gazetteer(),
		Spill: dir, Memory: im.Memory}
	return src, nil
}

// linkOrCopy makes the uncompressed file appear at plain: as a hard link where it
// is plain already and on the same file system, else as a copy. DuckDB resolves
// symbolic links, so those would lead outside again.
func (im *Importer) linkOrCopy(ctx context.Context, path, plain string, format data.Format) error {
	r, err := im.Feeds.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if isPlain(r) {
		if real, err := filepath.EvalSymlinks(path); err == nil && os.Link(real, plain) == nil {
			if sameFile(r, plain) {
				return nil
			}
			if err := os.Remove(plain); err != nil { // the name stands for another file by now
				return err
			}
		}
	}
	w, err := os.Create(plain)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, &cancelReader{ctx: ctx, r: r})
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("copy %s file: %w", format, err)
	}
	return nil
}

// sameFile tells whether path is the opened file.
func sameFile(r io.Reader, path string) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	linked, err := os.Lstat(path)
	return err == nil && os.SameFile(opened, linked)
}

// isPlain tells whether the opened file is read as it lies on disk.
func isPlain(r io.Reader) bool {
	_, ok := r.(*os.File)
	return ok
}

// cancelReader ends a long copy when its context does, as Read cannot be given one.
type cancelReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancelReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
