// Package upstreamtest has what the tests of all clients of sources need: a host with a handler,
// and the import of a response.
package upstreamtest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/reference"
	"pmx/data/upstream/fetch"
)

// Host returns a host whose server has the handler f. Its budget never delays requests. Both are
// closed at the end of the test.
func Host(t testing.TB, name string, f http.HandlerFunc) *fetch.Host {
	t.Helper()
	s := httptest.NewServer(f)
	h, err := fetch.New(fetch.Options{Name: name, Base: s.URL, Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1000, Burst: 1000, InFlight: 1}})
	if err != nil {
		s.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	return h
}

// Say responds with JSON.
func Say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, text)
}

// Sink has the methods that every feed calls for its lines. Methods for rows are up to the sink
// that embeds it.
type Sink struct {
	data.Sink
	Rejected []string // "reason: detail"
}

// Reject keeps the reason of a rejected row.
func (s *Sink) Reject(_ int64, reason, detail, _ string) error {
	s.Rejected = append(s.Rejected, reason+": "+detail)
	return nil
}

// Lines ignores the number of lines.
func (*Sink) Lines(data.LineKind, int64) error { return nil }

// Import reads a response into sink like an import of a file, with the detected feed, which must be
// feed.
func Import(t testing.TB, feed string, body []byte, sink data.Sink) {
	t.Helper()
	h, err := feeds.HeadOf(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.Detect(h)
	if err != nil || f.Name != feed {
		t.Fatalf("detected as %q, not %q: %v", f.Name, feed, err)
	}
	src := data.Source{Name: "answer", Format: h.Format, Size: int64(len(body)), Cities: reference.Gazetteer()}
	if err := f.Read(t.Context(), src, bytes.NewReader(body), sink); err != nil {
		t.Fatal(err)
	}
}
