package control_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pmx/engine/control"
	"pmx/engine/control/record"
)

// Usage older than 90 days is summed up by day; nothing of it is lost.
func TestUsageIsKeptByEndpointForNinetyDays(t *testing.T) {
	now := time.Date(2026, 6, 30, 12, 0, 0, 0, time.UTC) // 90 days before: 1 April
	db, err := control.Open(t.Context(), filepath.Join(t.TempDir(), "control.db"), func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	k, err := db.IssueKey(t.Context(), hash(1), "free", "someone")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day string) time.Time {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	add := func(day, endpoint string, n int64) {
		t.Helper()
		if err := db.AddUse(t.Context(), []record.Use{{Hash: hash(1), LastUsed: at(day), Endpoint: endpoint, Requests: n}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, day := range []string{"2026-03-31", "2026-04-01", "2026-04-02"} {
		add(day, "GET /a", 2)
		add(day, "GET /b", 3)
	}
	now = now.AddDate(0, 0, 1) // 31 March is folded on the first day already, 1 April on the next
	add("2026-04-02", "GET /a", 5)
	a, err := db.Account(t.Context(), hash(1), "2026-03-31")
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Usage{
		{Day: "2026-04-02", Endpoint: "GET /a", Requests: 7}, {Day: "2026-04-02", Endpoint: "GET /b", Requests: 3},
		{Day: "2026-04-01", Requests: 5}, {Day: "2026-03-31", Requests: 5},
	}
	if !slices.Equal(a.Usage, want) || a.Label != "someone" || !a.CreatedAt.Equal(k.CreatedAt) {
		t.Errorf("got %+v", a)
	}
	if late, err := db.Account(t.Context(), hash(1), "2026-04-02"); err != nil || len(late.Usage) != 2 {
		t.Errorf("from 2 April on: late = %+v, err = %v", late, err)
	}
	keys, err := db.ListKeys(t.Context())
	if err != nil || keys[0].Requests != 20 {
		t.Errorf("keys: keys = %+v, err = %v", keys, err)
	}
	if _, err := db.Account(t.Context(), hash(9), ""); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("an unknown key: %v", err)
	}
}
