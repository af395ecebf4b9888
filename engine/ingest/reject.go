package ingest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pmx/data"
	"pmx/engine"
)

// rejects stores the rows of a file that cannot be used, with line and reason, in a file below
// rejected/. The file is created for the first row and published when the import is committed.
type rejects struct {
	dir    string
	name   string
	at     time.Time
	file   *os.File
	w      *bufio.Writer
	path   string // its final path, once sealed
	counts map[string]int64
	first  *rejectedRow // for the message if the whole file is refused
}

// rejectedRow is one line of a rejects file.
type rejectedRow struct {
	File   string `json:"file"`
	Line   int64  `json:"line"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	Raw    string `json:"raw,omitempty"`
}

func newRejects(dir engine.Dir, name string, at time.Time) *rejects {
	return &rejects{dir: dir.Rejected(), name: name, at: at, counts: map[string]int64{}}
}

// add stores a rejected row.
func (r *rejects) add(line int64, reason, detail, raw string) error {
	if err := r.keep(line, reason, detail, raw); err != nil {
		return err
	}
	r.counts[reason]++
	if r.first == nil {
		r.first = &rejectedRow{File: r.name, Line: line, Reason: reason, Detail: detail, Raw: raw}
	}
	return nil
}

// keep writes a row to the file, which need not be a rejected one.
func (r *rejects) keep(line int64, reason, detail, raw string) error {
	if r.file == nil {
		f, err := os.CreateTemp(r.dir, ".rejects-*")
		if err != nil {
			return fmt.Errorf("keep rejected rows: %w", err)
		}
		r.file, r.w = f, bufio.NewWriter(f)
	}
	b, err := json.Marshal(rejectedRow{File: r.name, Line: line, Reason: reason, Detail: detail, Raw: raw})
	if err != nil {
		return err
	}
	if _, err := r.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("keep rejected rows: %w", err)
	}
	return nil
}

// seal finishes the file and returns its final path; "" if it has no rows. It must be called before
// the import is committed.
func (r *rejects) seal() (string, error) {
	if r.file == nil {
		return "", nil
	}
	if err := errors.Join(r.w.Flush(), r.file.Sync()); err != nil {
		return "", fmt.Errorf("keep rejected rows: %w", err)
	}
	base := engine.ShortName(strings.TrimSuffix(filepath.Base(r.name), filepath.Ext(r.name)))
	r.path = filepath.Join(r.dir, fmt.Sprintf("%s-%s.ndjson", r.at.UTC().Format("20060102T150405.000"), base))
	return r.path, nil
}

// publish renames the sealed file to its final name. If that fails, it keeps the temporary one.
func (r *rejects) publish() error {
	if r.file == nil {
		return nil
	}
	temporary := r.file.Name()
	err := r.file.Close()
	r.file = nil
	if err := errors.Join(err, os.Rename(temporary, r.path)); err != nil {
		return fmt.Errorf("rejected rows are in %s: %w", temporary, err)
	}
	if err := data.SyncFolder(r.dir); err != nil {
		return fmt.Errorf("%s may be lost in a power failure: %w", r.path, err)
	}
	return nil
}

// discard removes the file if it was not published.
func (r *rejects) discard() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
}
