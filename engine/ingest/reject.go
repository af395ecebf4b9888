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

	"pmx/engine"
)

// rejects keeps the rows of one file that cannot be used, with line and reason,
// in a file under rejected/. It is made when the first row comes and published
// when the import is committed.
type rejects struct {
	dir    string
	name   string
	at     time.Time
	file   *os.File
	w      *bufio.Writer
	counts map[string]int64
	first  *rejectedRow // what a refusal of the whole file names
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

func (r *rejects) add(line int64, reason, detail, raw string) error {
	if r.file == nil {
		f, err := os.CreateTemp(r.dir, ".rejects-*")
		if err != nil {
			return fmt.Errorf("keep rejected rows: %w", err)
		}
		r.file, r.w = f, bufio.NewWriter(f)
	}
	r.counts[reason]++
	row := rejectedRow{File: r.name, Line: line, Reason: reason, Detail: detail, Raw: raw}
	if r.first == nil {
		r.first = &row
	}
	b, err := json.Marshal(row)
	if err != nil {
		return err
	}
	if _, err := r.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("keep rejected rows: %w", err)
	}
	return nil
}

// keep publishes the file and gives its path, "" where no row was rejected.
func (r *rejects) keep() (string, error) {
	if r.file == nil {
		return "", nil
	}
	base := strings.TrimSuffix(filepath.Base(r.name), filepath.Ext(r.name))
	path := filepath.Join(r.dir, fmt.Sprintf("%s-%s.ndjson", r.at.UTC().Format("20060102T150405.000"), base))
	err := errors.Join(r.w.Flush(), r.file.Sync(), r.file.Close(), os.Rename(r.file.Name(), path))
	r.file = nil
	if err != nil {
		return "", fmt.Errorf("keep rejected rows: %w", err)
	}
	return path, nil
}

// discard removes what was not kept.
func (r *rejects) discard() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name())
	}
}
