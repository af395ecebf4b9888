package access_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
)

func TestUsageIsCountedByEndpoint(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Alpha, 1)
	g := newGate(t, store)
	if err := g.Name([]string{"GET /a", "GET /b"}); err != nil {
		t.Fatal(err)
	}
	k, _ := g.Check([]byte(secret), home, noon)
	for _, endpoint := range []int{1, 2, 2, 0} {
		k.Take(noon, endpoint)
	}
	store.Err = errors.New("disk is gone")
	if g.Save(t.Context()) == nil {
		t.Fatal("the failure was not returned")
	}
	store.Err = nil
	if err := g.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, u := range store.Uses {
		got[u.Endpoint] += u.Requests
	}
	if len(got) != 3 || got["GET /a"] != 1 || got["GET /b"] != 2 || got[""] != 1 {
		t.Errorf("saved %v", got)
	}
}

// An account shows saved and unsaved usage of 30 days including today: noon is on 14 March, so 13
// February is the first of them.
func TestAnAccountShowsThirtyDays(t *testing.T) {
	store := &apitest.Store{}
	secret := store.Issue(access.Alpha, 1)
	g := newGate(t, store)
	if err := g.Name([]string{"GET /a", "GET /b"}); err != nil {
		t.Fatal(err)
	}
	k, _ := g.Check([]byte(secret), home, noon)
	for _, back := range []int{30, 29, 1, 0} {
		k.Take(noon.Add(-time.Duration(back)*24*time.Hour), 1)
		if err := g.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	k.Take(noon, 1)
	k.Take(noon, 2)
	a, err := g.Account(t.Context(), k, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Usage{
		{Day: "2026-03-14", Endpoint: "GET /a", Requests: 2}, {Day: "2026-03-14", Endpoint: "GET /b", Requests: 1},
		{Day: "2026-03-13", Endpoint: "GET /a", Requests: 1}, {Day: "2026-02-13", Endpoint: "GET /a", Requests: 1},
	}
	if !slices.Equal(a.Usage, want) {
		t.Errorf("got %v", a.Usage)
	}
}

func TestTooManyEndpointsAreRefused(t *testing.T) {
	if newGate(t, &apitest.Store{}).Name(make([]string, 128)) == nil {
		t.Error("128 endpoints were accepted")
	}
}
