package shape

import (
	"bytes"
	"io"
	"os"

	"pmx/data"
)

// Reopener returns what opens the file of r once more from its beginning, and r itself. If the
// source has no path, r is read into memory for that.
func Reopener(src data.Source, r io.Reader) (open func() (io.ReadCloser, error), first io.Reader, err error) {
	if src.Path != "" {
		return func() (io.ReadCloser, error) { return os.Open(src.Path) }, r, nil
	}
	b, err := io.ReadAll(r)
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }, bytes.NewReader(b), err
}

// Discard is the sink of a first look at a file: what is rejected is rejected by the
// second.
type Discard struct{ data.Sink }

// Reject forgets the row.
func (Discard) Reject(int64, string, string, string) error { return nil }

// Lines counts nothing: the second look does.
func (Discard) Lines(data.LineKind, int64) error { return nil }

// recentBytes is how many bytes of texts a RecentSet remembers.
const recentBytes = 8 << 20

// RecentSet remembers texts, but not more of them than fit into a few megabytes: what rows
// say over and over is handed on a few times then, instead of once.
type RecentSet struct {
	texts map[string]struct{}
	bytes int
}

// Add reports whether text is not remembered, and remembers it.
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
