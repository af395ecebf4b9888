// Package upstreamtest has what the tests of all sources' clients need: a host that a handler
// answers for, and the import of an answer.
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

// Host returns the host of a server that answers with f. Its budget keeps nobody waiting; both are
// closed behind the test.
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

// Say answers with JSON.
func Say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, text)
}

// Sink takes what every feed says of the lines it reads. What else a feed gives is for the
// sink that embeds it.
type Sink struct {
	data.Sink
	Rejected []string // "reason: detail"
}

// Reject notes a row that is rejected.
func (s *Sink) Reject(_ int64, reason, detail, _ string) error {
	s.Rejected = append(s.Rejected, reason+": "+detail)
	return nil
}

// Lines takes how many lines of a kind there are.
func (*Sink) Lines(data.LineKind, int64) error { return nil }

// Import reads an answer into sink as an import of a file would: by the feed that it is taken
// for, which must be the one named.
func Import(t testing.TB, feed string, body []byte, sink data.Sink) {
	t.Helper()
	h, err := feeds.HeadOf(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.Detect(h)
	if err != nil || f.Name != feed {
		t.Fatalf("taken for %q, not %q: %v", f.Name, feed, err)
	}
	src := data.Source{Name: "answer", Format: h.Format, Size: int64(len(body)), Cities: reference.Gazetteer()}
	if err := f.Read(t.Context(), src, bytes.NewReader(body), sink); err != nil {
		t.Fatal(err)
	}
}
