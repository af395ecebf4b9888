package shape

import (
	"bytes"
	"io"
	"os"

	"pmx/data"
)

// Reopener returns a function that opens the file of r again from its beginning, and a reader that
// replaces r. If the source has no path, r is read into memory.
func Reopener(src data.Source, r io.Reader) (open func() (io.ReadCloser, error), first io.Reader, err error) {
	if src.Path != "" {
		return func() (io.ReadCloser, error) { return os.Open(src.Path) }, r, nil
	}
	b, err := io.ReadAll(r)
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, bytes.NewReader(b), err
}

// Discard is the sink of a first pass over a file: rows are rejected by the second pass.
type Discard struct{ data.Sink }

// Reject ignores the row.
func (Discard) Reject(int64, string, string, string) error { return nil }

// Lines ignores the count.
func (Discard) Lines(data.LineKind, int64) error { return nil }

// recentBytes is the maximum size of the texts in a RecentSet.
const recentBytes = 8 << 20

// RecentSet remembers texts up to a few megabytes. Beyond that, a text that rows repeat is passed
// on more than once.
type RecentSet struct {
	texts map[string]struct{}
	bytes int
}

// Add remembers text and reports whether it is new.
func (r *RecentSet) Add(text string) bool {
	if _, known := r.texts[text]; known {
		return false
	}
	if r.bytes += len(text) + 64; r.bytes > recentBytes || r.texts == nil {
		r.texts, r.bytes = map[string]struct{}{}, len(text)+64
	}
	r.texts[text] = struct{}{}
	return true
}
