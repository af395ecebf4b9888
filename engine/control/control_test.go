package control_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pmx/engine/control"
	"pmx/engine/control/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var day = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

func open(t *testing.T, path string) *control.DB {
	t.Helper()
	db, err := control.Open(t.Context(), path, func() time.Time { return day })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "a dir?#", "control.db") }

func fresh(t *testing.T) *control.DB {
	t.Helper()
	path := file(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("control.db: info = %v, err = %v", info, err)
	}
	return db
}

func hash(n int) [32]byte { return sha256.Sum256(fmt.Append(nil, n)) }

func TestKeyLifecycle(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	k, err := db.IssueKey(ctx, hash(1), "explorer", " Ada ")
	if err != nil || k.ID != fmt.Sprintf("%x", hash(1))[:8] || k.Label != "Ada" || k.Tier != "explorer" || !k.CreatedAt.Equal(day) || k.LastUsedAt != nil {
		t.Fatalf("issued %+v, %v", k, err)
	}
	if k, err = db.SetTier(ctx, k.ID, "trader"); err != nil || k.Tier != "trader" {
		t.Errorf("raised %+v, %v", k, err)
	}
	minute := day.Truncate(time.Minute)
	uses := []record.Use{{Hash: hash(1), LastUsed: minute, Requests: 3}, {Hash: hash(99), LastUsed: minute, Requests: 9}}
	later := []record.Use{{Hash: hash(1), LastUsed: minute.Add(-time.Minute), Requests: 4}}
	if err := errors.Join(db.AddUse(ctx, uses), db.AddUse(ctx, later)); err != nil {
		t.Fatal(err)
	}
	if k, err = db.RevokeKey(ctx, k.ID); err != nil || k.RevokedAt == nil || k.Requests != 7 || !k.LastUsedAt.Equal(minute) {
		t.Errorf("revoked %+v, %v", k, err)
	}
	keys, err := db.ListKeys(ctx)
	if err != nil || len(keys) != 1 || keys[0].RevokedAt == nil {
		t.Errorf("listed %+v, %v", keys, err)
	}
	records, err := db.Keys(ctx)
	if err != nil || len(records) != 1 || records[0] != (record.Key{Hash: hash(1), Tier: "trader", Revoked: true}) {
		t.Errorf("records %+v, %v", records, err)
	}
}

// A key expires by itself, and one that replaces another gets its tier, label and lifetime.
func TestKeysExpireAndAreReplaced(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	revision := func() int64 {
		t.Helper()
		n, err := db.Revision(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	k, err := db.IssueKeyUntil(ctx, hash(1), "trader", "Ada", day.AddDate(0, 0, 90))
	if err != nil || !k.ExpiresAt.Equal(day.AddDate(0, 0, 90)) || k.Expired(day.AddDate(0, 0, 90).Add(-time.Second)) || !k.Expired(day.AddDate(0, 0, 90)) {
		t.Fatalf("issued %+v, %v", k, err)
	}
	before := revision()
	if k, err = db.ExpireKey(ctx, k.ID, time.Time{}); err != nil || k.ExpiresAt != nil || k.Expired(day.AddDate(100, 0, 0)) || revision() == before {
		t.Errorf("without an end: %+v, %v, revision %d", k, err, before)
	}
	next, old, err := db.RotateKey(ctx, k.ID, hash(2), 7*24*time.Hour, time.Time{})
	if err != nil || next.Tier != "trader" || next.Label != "Ada" || next.ExpiresAt != nil || *next.Replaces != k.ID || !old.ExpiresAt.Equal(day.AddDate(0, 0, 7)) {
		t.Errorf("replaced: next = %+v, old = %+v, err = %v", next, old, err)
	}
	// The replaced key ends no later than it would have, and the new one is valid as long as the
	// old one was meant to be.
	if _, err := db.ExpireKey(ctx, next.ID, day.AddDate(0, 0, 3)); err != nil {
		t.Fatal(err)
	}
	third, old, err := db.RotateKey(ctx, next.ID, hash(3), 7*24*time.Hour, time.Time{})
	if err != nil || !third.ExpiresAt.Equal(day.AddDate(0, 0, 3)) || !old.ExpiresAt.Equal(day.AddDate(0, 0, 3)) {
		t.Errorf("replaced: third = %+v, old = %+v, err = %v", third, old, err)
	}
	fourth, old, err := db.RotateKey(ctx, third.ID, hash(4), 0, day.AddDate(1, 0, 0))
	if err != nil || !fourth.ExpiresAt.Equal(day.AddDate(1, 0, 0)) || !old.Expired(day) {
		t.Errorf("replaced: fourth = %+v, old = %+v, err = %v", fourth, old, err)
	}
	records, err := db.Keys(ctx)
	if err != nil || len(records) != 4 {
		t.Fatalf("records = %+v, err = %v", records, err)
	}
	for _, r := range records {
		if want := map[[32]byte]int64{hash(1): day.AddDate(0, 0, 7).Unix(), hash(2): day.AddDate(0, 0, 3).Unix(), hash(3): day.Unix(), hash(4): day.AddDate(1, 0, 0).Unix()}[r.Hash]; r.Expires != want {
			t.Errorf("r = %+v, want %d", r, want)
		}
	}
	if a, err := db.Account(ctx, hash(4), "2026-01-01"); err != nil || !a.ExpiresAt.Equal(day.AddDate(1, 0, 0)) {
		t.Errorf("a = %+v, err = %v", a, err)
	}
	before = revision()
	if _, _, err := db.RotateKey(ctx, k.ID, hash(5), 0, time.Time{}); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), next.ID) || revision() != before {
		t.Errorf("replaced twice, by a key whose lifetime is unknown: %v", err)
	}
	if again, _, err := db.RotateKey(ctx, k.ID, hash(5), 7*24*time.Hour, day.AddDate(1, 0, 0)); err != nil || !again.ExpiresAt.Equal(day.AddDate(1, 0, 0)) {
		t.Errorf("replaced twice: again = %+v, err = %v", again, err)
	}
	if _, err := db.RevokeKey(ctx, next.ID); err != nil {
		t.Fatal(err)
	}
	before = revision()
	for name, c := range map[string]struct {
		do   func() error
		want error
	}{
		"issued for the past": {func() error { _, err := db.IssueKeyUntil(ctx, hash(9), "free", "x", day); return err }, control.ErrInvalid},
		"expires in the past": {func() error { _, err := db.ExpireKey(ctx, k.ID, day); return err }, control.ErrInvalid},
		"expires in the year 10000": {func() error {
			_, err := db.ExpireKey(ctx, k.ID, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))
			return err
		}, control.ErrInvalid},
		"expiry of a revoked key":   {func() error { _, err := db.ExpireKey(ctx, next.ID, day.AddDate(0, 0, 1)); return err }, control.ErrConflict},
		"expiry of an unknown key":  {func() error { _, err := db.ExpireKey(ctx, "00000000", time.Time{}); return err }, control.ErrNotFound},
		"instead of an expired key": {func() error { _, _, err := db.RotateKey(ctx, third.ID, hash(9), 0, time.Time{}); return err }, control.ErrConflict},
		"instead of a revoked key":  {func() error { _, _, err := db.RotateKey(ctx, next.ID, hash(9), 0, time.Time{}); return err }, control.ErrConflict},
		"instead of an unknown key": {func() error { _, _, err := db.RotateKey(ctx, "00000000", hash(9), 0, time.Time{}); return err }, control.ErrNotFound},
		"with its short id":         {func() error { _, _, err := db.RotateKey(ctx, k.ID, hash(4), 0, time.Time{}); return err }, control.ErrConflict},
		"with a negative overlap":   {func() error { _, _, err := db.RotateKey(ctx, k.ID, hash(9), -1, time.Time{}); return err }, control.ErrInvalid},
		"instead, for the past":     {func() error { _, _, err := db.RotateKey(ctx, k.ID, hash(9), 0, day.AddDate(0, 0, -1)); return err }, control.ErrInvalid},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: err = %v, want %v", name, err, c.want)
		}
	}
	if revision() != before {
		t.Error("what failed changed a key")
	}
}

func TestKeyErrors(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	k, err := db.IssueKey(ctx, hash(1), "free", "Ada")
	if err != nil {
		t.Fatal(err)
	}
	gone, err := db.IssueKey(ctx, hash(2), "free", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.RevokeKey(ctx, gone.ID); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		do   func() error
		want error
	}{
		"unknown tier":        {func() error { _, err := db.IssueKey(ctx, hash(3), "gold", "x"); return err }, control.ErrInvalid},
		"no label":            {func() error { _, err := db.IssueKey(ctx, hash(3), "free", " "); return err }, control.ErrInvalid},
		"same short id":       {func() error { _, err := db.IssueKey(ctx, hash(1), "free", "x"); return err }, control.ErrConflict},
		"set unknown tier":    {func() error { _, err := db.SetTier(ctx, k.ID, "gold"); return err }, control.ErrInvalid},
		"tier of unknown key": {func() error { _, err := db.SetTier(ctx, "00000000", "free"); return err }, control.ErrNotFound},
		"set tier, revoked":   {func() error { _, err := db.SetTier(ctx, gone.ID, "alpha"); return err }, control.ErrConflict},
		"revoke none":         {func() error { _, err := db.RevokeKey(ctx, "00000000"); return err }, control.ErrNotFound},
		"revoke twice":        {func() error { _, err := db.RevokeKey(ctx, gone.ID); return err }, control.ErrConflict},
	}
	for name, c := range cases {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if keys, err := db.ListKeys(ctx); err != nil || len(keys) != 2 {
		t.Errorf("a failed call left keys: keys = %+v, err = %v", keys, err)
	}
}

func TestRevisionMovesWithKeysAndNotWithUsage(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	revision := func() int64 {
		n, err := db.Revision(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	last := revision()
	step := func(what string, moves bool, err error) {
		now := revision()
		if err != nil || (now > last) != moves {
			t.Errorf("%s: last = %d, now = %d, err = %v", what, last, now, err)
		}
		last = now
	}
	k, err := db.IssueKey(ctx, hash(1), "free", "Ada")
	step("issue", true, err)
	step("usage", false, db.AddUse(ctx, []record.Use{{Hash: hash(1), LastUsed: day, Requests: 1}}))
	_, err = db.AddRequest(ctx, "ada@example.org", "a bot")
	step("waitlist", false, err)
	_, err = db.SetTier(ctx, k.ID, "alpha")
	step("set tier", true, err)
	_, err = db.RevokeKey(ctx, k.ID)
	step("revoke", true, err)
}

func TestWaitlist(t *testing.T) {
	db, ctx := fresh(t), t.Context()
	for _, who := range []string{"ada", "bob", "cyd"} {
		if _, err := db.AddRequest(ctx, who+"@example.org", "a dashboard"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.AddRequest(ctx, "dan@example.org", " "); !errors.Is(err, control.ErrInvalid) {
		t.Errorf("no use case: %v", err)
	}
	r, k, err := db.Approve(ctx, 1, hash(1), control.DefaultTier)
	if err != nil || r.State != control.Approved || *r.KeyID != k.ID || k.Tier != "explorer" || k.Label != "ada@example.org" {
		t.Errorf("approved %+v %+v %v", r, k, err)
	}
	if r, err := db.Decline(ctx, 2); err != nil || r.State != control.Declined || r.KeyID != nil || r.DecidedAt == nil {
		t.Errorf("declined %+v %v", r, err)
	}
	if _, _, err := db.Approve(ctx, 2, hash(2), "free"); !errors.Is(err, control.ErrConflict) {
		t.Errorf("approve a declined one: %v", err)
	}
	if _, _, err := db.Approve(ctx, 3, hash(1), "free"); !errors.Is(err, control.ErrConflict) {
		t.Errorf("a key id that is taken: %v", err)
	}
	if _, err := db.Decline(ctx, 9); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("decline an unknown request: %v", err)
	}
	waiting, err := db.ListRequests(ctx, control.Waiting)
	if err != nil || len(waiting) != 1 || waiting[0].ID != 3 {
		t.Errorf("waiting %+v %v", waiting, err)
	}
	if all, err := db.ListRequests(ctx, ""); err != nil || len(all) != 3 {
		t.Errorf("all %+v %v", all, err)
	}
}

// Two handles are like two processes: neither sees the other's memory.
func TestTwoProcessesAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	const each = 25
	var all sync.WaitGroup
	for p := range 2 {
		all.Go(func() {
			db, err := control.Open(context.Background(), path, time.Now)
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			for i := range each {
				if _, err := db.IssueKey(context.Background(), hash(p*each+i), "free", "x"); err != nil {
					t.Error(err)
				}
				if _, err := db.Keys(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	one, two := open(t, path), open(t, path)
	before, err := one.Revision(t.Context())
	if err != nil || before != 2*each {
		t.Errorf("revision %d, %v", before, err)
	}
	if _, err := two.IssueKey(t.Context(), hash(1000), "free", "x"); err != nil {
		t.Fatal(err)
	}
	if after, err := one.Revision(t.Context()); err != nil || after != before+1 {
		t.Errorf("the other handle's change is not seen: after = %d, err = %v", after, err)
	}
}

func TestANewerFileIsRefusedWithAHint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	db, err := control.Open(t.Context(), path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = raw.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = control.Open(t.Context(), path, time.Now)
	if !errors.Is(err, control.ErrNewer) || !strings.Contains(err.Error(), "run the newer pmx") {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatIsNoDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "control.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Open(t.Context(), path, time.Now); err == nil {
		t.Error("a file that is not a database was opened")
	}
}
