package fetch_test

import (
	"net/http"
	"slices"
	"testing"

	"pmx/data/upstream/fetch"
)

// A single failure of a host is not reported. The second in a row is, and so is the next response.
func TestAHostThatFailsIsTold(t *testing.T) {
	fails := 0
	var told []string
	h, _ := host(t, func(w http.ResponseWriter, _ *http.Request) {
		if fails > 0 {
			fails--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}, func(o *fetch.Options) {
		o.Changed = func(err error) {
			if err == nil {
				told = append(told, "well")
				return
			}
			told = append(told, "fails")
		}
	})
	for _, c := range []struct {
		fails int
		told  []string
	}{
		{0, nil}, {1, nil}, {2, []string{"fails", "well"}}, {4, []string{"fails", "well", "fails", "well"}}, {1, []string{"fails", "well", "fails", "well"}},
	} {
		fails = c.fails
		if _, err := h.Do(t.Context(), fetch.Request{Path: "/x"}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, c.told) {
			t.Errorf("%d failures: %v, want %v", c.fails, told, c.told)
		}
	}
}

// A host that has never answered is reported at its first failure: a user who has just started the
// program is waiting for it.
func TestAHostThatNeverAnsweredIsToldAtOnce(t *testing.T) {
	fails := true
	var told []error
	h, _ := host(t, func(w http.ResponseWriter, _ *http.Request) {
		if fails {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	}, func(o *fetch.Options) { o.Changed = func(err error) { told = append(told, err) } })
	for range 2 {
		if _, err := h.Do(t.Context(), fetch.Request{Path: "/x", NoRetry: true}); err == nil || len(told) != 1 || told[0] == nil {
			t.Fatalf("%v, told %v", err, told)
		}
	}
	fails = false
	if _, err := h.Do(t.Context(), fetch.Request{Path: "/x"}); err != nil || len(told) != 2 || told[1] != nil {
		t.Errorf("%v, told %v", err, told)
	}
	fails = true
	if _, err := h.Do(t.Context(), fetch.Request{Path: "/x", NoRetry: true}); err == nil || len(told) != 2 {
		t.Errorf("%v: a single failure of a host that answers was reported: %v", err, told)
	}
}
