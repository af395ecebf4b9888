package fetch_test

import (
	"net/http"
	"slices"
	"testing"

	"pmx/data/upstream/fetch"
)

// A host that fails once says nothing; from the second failure on it fails, and once it
// answers it does so again.
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

// A host that has never answered is reported at its first failure: a user who has just started it
// waits for it.
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
		t.Errorf("%v: one failure of a host that answers is none, told %v", err, told)
	}
}
