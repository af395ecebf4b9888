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
	"pmx/engine/guard"
)

// source is a file that is being imported: the user's file, and a plain copy of or link to it below
// the data directory, because DuckDB may read nothing else.
type source struct {
	name  string
	feed  data.Feed
	head  data.Head
	plain data.Source
	dir   string

	members []*member // the files, if there are several

	read   func(context.Context, data.Sink) error // rows that do not come from a file
	within func(context.Context, *sql.Conn) error // called in their transaction; may be nil

	instead string // name of the provisional rows that are replaced by these; "": none
}

// rows is the number of rows of Parquet files by their footers; 0 for other files.
func (s *source) rows() (n int64) {
	if len(s.members) == 0 {
		return s.head.Rows
	}
	for _, m := range s.members {
		n += m.rows
	}
	return n
}

func (s *source) hasFills() bool { return s.feed.Kind == data.KindFills }

// fewBytes is the size up to which files are assumed to have few rows.
const fewBytes = 1 << 20

// small reports whether there are probably few rows. For rows that do not come from a file, the
// number is not known before they are read.
func (j *fileImport) small() bool {
	rows := float64(j.src.rows())
	if j.src.plain.Format != data.Parquet {
		rows = j.expectedRows(j.src.plain.Size)
	}
	return j.src.plain.Size <= fewBytes || rows > 0 && rows <= fewRows
}

func (s *source) close() { _ = os.RemoveAll(s.dir) }

// Plan is the plan for importing a file.
type Plan struct {
	Path string
	Name string // the user's name for it; "": its path
	Feed data.Feed
	Head data.Head // without its bytes
	// Rows is a low estimate of the number of rows: that of a Parquet footer, and for text files
	// one row per half kilobyte.
	Rows int64

	named bool // the user named the feed, so the file need not have its shape
}

// assumedRowBytes is a size that few rows of text exceed.
const assumedRowBytes = 512

// Identify determines the feed of a file without importing it.
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
	plan := Plan{Path: path, Feed: feed, Head: head, Rows: head.Rows, named: as != ""}
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

// name returns the user's name for the file.
func (p *Plan) name() string { return cmp.Or(p.Name, p.Path) }

// open opens a planned file, which may have been replaced meanwhile.
func (im *Importer) open(ctx context.Context, p *Plan) (_ *source, err error) {
	dir, err := os.MkdirTemp(im.DB.Dir().Tmp(), "import-*")
	if err != nil {
		return nil, err
	}
	src := &source{name: p.name(), feed: p.Feed, dir: dir}
	defer func() {
		if err != nil {
			src.close()
		}
	}()
	plain := filepath.Join(dir, "plain."+string(p.Head.Format))
	var size int64
	if src.head, size, err = im.take(ctx, p, plain); err != nil {
		return nil, err
	}
	if err := im.stillAsPlanned(p, src.head); err != nil {
		return nil, fmt.Errorf("the file was replaced after the import began: %w", err)
	}
	src.plain = data.Source{Path: plain, Name: src.name, Format: p.Head.Format, Size: size, Cities: im.Feeds.Gazetteer(),
		Spill: dir, Memory: im.Memory}
	return src, nil
}

// take links or copies a planned file, decompressed, to plain, and returns its head and its size
// there. From then on it cannot be replaced.
func (im *Importer) take(ctx context.Context, p *Plan, plain string) (head data.Head, size int64, err error) {
	if err := im.linkOrCopy(ctx, p.Path, plain, p.Head.Format); err != nil {
		return head, 0, err
	}
	if head, err = im.Feeds.Head(plain); err != nil {
		return head, 0, err
	}
	st, err := os.Stat(plain)
	if err != nil {
		return head, 0, err
	}
	return head, st.Size(), nil
}

// stillAsPlanned reports why a file that begins with head cannot be read as planned; nil if it can.
// Its rows and even its columns may have changed, its feed may not.
func (im *Importer) stillAsPlanned(p *Plan, head data.Head) error {
	if head.Format != p.Head.Format {
		return fmt.Errorf("it was %s and is %s", p.Head.Format, head.Format)
	}
	if err := im.Feeds.Fits(p.Feed, head); err != nil {
		return err
	}
	if !p.named && !p.Feed.Match(head) {
		return fmt.Errorf("the file is no longer recognised as %s", p.Feed.Name)
	}
	return nil
}

// linkOrCopy creates plain as a hard link if the file is not compressed and on the same file
// system, else as a decompressed copy. A symbolic link does not work, because DuckDB resolves it to
// a path outside of the data directory.
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
			if err := os.Remove(plain); err != nil { // the path is another file by now
				return err
			}
		}
	}
	w, err := os.Create(plain)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, guard.Reader(ctx, r))
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("copy %s file: %w", format, err)
	}
	return nil
}

// sameFile reports whether path is the opened file.
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

// isPlain reports whether the opened file is not compressed.
func isPlain(r io.Reader) bool {
	_, ok := r.(*os.File)
	return ok
}
