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
