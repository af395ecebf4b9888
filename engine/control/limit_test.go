package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pmx/engine/control"
	"pmx/engine/control/record"
)

// A key's own limit is applied by the server at once, is passed on to the key that replaces it, and
// can be removed.
func TestKeysHaveLimitsOfTheirOwn(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	k, err := db.IssueKey(ctx, hash(1), "trader", "Ada")
	if err != nil || k.Rate != nil {
		t.Fatalf("issued %+v, %v", k, err)
	}
	before, err := db.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if k, err = db.LimitKey(ctx, k.ID, 5000); err != nil || k.Rate == nil || *k.Rate != 5000 {
		t.Errorf("limited %+v, %v", k, err)
	}
	if after, err := db.Revision(ctx); err != nil || after == before {
		t.Errorf("the server does not notice: after = %d, err = %v", after, err)
	}
	next, old, err := db.RotateKey(ctx, k.ID, hash(2), time.Hour, time.Time{})
	if err != nil || next.Rate == nil || *next.Rate != 5000 || *old.Rate != 5000 {
		t.Errorf("replaced %+v by %+v, %v", old, next, err)
	}
	if k, err = db.LimitKey(ctx, k.ID, 0); err != nil || k.Rate != nil {
		t.Errorf("as its tier %+v, %v", k, err)
	}
	records, err := db.Keys(ctx)
	if err != nil || len(records) != 2 || records[0].Rate+records[1].Rate != 5000 {
		t.Errorf("records %+v, %v", records, err)
	}
	for _, rate := range []int64{-1, control.MaxRate + 1} {
		if _, err := db.LimitKey(ctx, k.ID, rate); !errors.Is(err, control.ErrInvalid) {
			t.Errorf("%d requests a minute: %v", rate, err)
		}
	}
	if _, err := db.LimitKey(ctx, "00000000", 5); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("limit of an unknown key: %v", err)
	}
}

// The address of the latest use is kept. A use that is saved later but was earlier, or whose
// address is unknown, does not replace it.
func TestTheLastUseTellsItsAddress(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	if _, err := db.IssueKey(ctx, hash(1), "trader", "Ada"); err != nil {
		t.Fatal(err)
	}
	for _, use := range []struct {
		at         time.Time
		from, want string
	}{
		{day, "192.0.2.1", "192.0.2.1"},
		{day.Add(-time.Minute), "192.0.2.2", "192.0.2.1"},
		{day.Add(time.Minute), "", "192.0.2.1"},
		{day.Add(2 * time.Minute), "2001:db8::1", "2001:db8::1"},
	} {
		if err := db.AddUse(ctx, []record.Use{{Hash: hash(1), LastUsed: use.at, From: use.from, Requests: 1}}); err != nil {
			t.Fatal(err)
		}
		keys, err := db.ListKeys(ctx)
		if err != nil || keys[0].LastFrom == nil || *keys[0].LastFrom != use.want {
			t.Errorf("after a use from %q: keys = %+v, err = %v", use.from, keys, err)
		}
	}
}

// SQLite has no checksums, but what decides about a key is in the file twice: a flipped bit in one
// of them is detected.
func TestAChangedKeyIsFoundInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	db, err := control.Open(t.Context(), path, func() time.Time { return day })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.IssueKey(t.Context(), hash(1), "trader", "a label that is nowhere else"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	const label = "a label that is nowhere else"
	for at := range good[:len(good)-len(label)] {
		if string(good[at:at+len(label)]) != label {
			continue
		}
		bad := append([]byte{}, good...)
		bad[at+2] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := control.Examine(t.Context(), path); err == nil {
			t.Errorf("the label at %d changed, but the file was accepted", at)
		}
		found++
	}
	if found != 2 {
		t.Errorf("the label is there %d times", found)
	}
}
