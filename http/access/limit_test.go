package access_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"pmx/engine/control/record"
	"pmx/http/access"
	"pmx/http/api/apitest"
)

// uses records what a gate saves.
type uses struct {
	*apitest.Store
	saved []record.Use
}

func (u *uses) AddUse(_ context.Context, all []record.Use) error {
	u.saved = append(u.saved, all...)
	return nil
}

// A key's own limit applies instead of its tier's, whether it is higher or lower.
func TestTheLimitOfAKeyApplies(t *testing.T) {
	store := &uses{Store: &apitest.Store{}}
	secret := store.Issue(access.Free, 1)
	g := newGate(t, store)
	at := noon
	for _, c := range []struct{ own, want int }{{3, 3}, {50, 50}, {0, access.Free.Caps().Rate}} {
		store.Change(secret, func(r *record.Key) { r.Rate = int64(c.own) })
		if err := g.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		at = at.Add(time.Minute)
		answered := 0
		for range 100 {
			k, _ := g.Check([]byte(secret), home, at)
			w := k.Take(at, 0)
			if w.OK {
				answered++
			}
			if w.Limit != c.want || k.OwnRate() != c.own {
				t.Fatalf("limit %d, own %d, want %d", w.Limit, k.OwnRate(), c.want)
			}
		}
		if answered != c.want {
			t.Errorf("with a limit of %d, %d of 100 requests are answered", c.want, answered)
		}
	}
	if err := g.Save(t.Context()); err != nil || len(store.saved) != 1 || store.saved[0].From != home.String() {
		t.Errorf("saved %+v, %v", store.saved, err)
	}
	other := netip.MustParseAddr("2001:db8:7::9%eth0")
	k, _ := g.Check([]byte(secret), other, at)
	k.Take(at, 0)
	if err := g.Save(t.Context()); err != nil || len(store.saved) != 2 || store.saved[1].From != "2001:db8:7::9" {
		t.Errorf("saved %+v, %v", store.saved, err)
	}
}
