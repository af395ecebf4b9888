package control

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pmx/engine/control/record"
)

// keysOf opens a new file of keys.
func keysOf(t *testing.T, name string) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), name), time.Now)
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

// takeFrom has to take the keys of from, by a copy as a backup has it.
func takeFrom(t *testing.T, to, from *DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := from.CopyTo(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := to.TakeKeys(t.Context(), path); err != nil {
		t.Fatal(err)
	}
}

func TestTakenKeysAreThoseOfTheOtherFile(t *testing.T) {
	ctx := t.Context()
	writer, here := keysOf(t, "writer.db"), keysOf(t, "here.db")
	a, err := writer.IssueKey(ctx, [32]byte{1}, "trader", "a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := writer.IssueKey(ctx, [32]byte{2}, "free", "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := writer.RotateKey(ctx, b.ID, [32]byte{3}, time.Hour, time.Time{}); err != nil {
		t.Fatal(err)
	}
	secret, err := writer.Secret(ctx, "cursor")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := here.Secret(ctx, "cursor"); err != nil { // another one
		t.Fatal(err)
	}
	if _, err := here.IssueKey(ctx, [32]byte{9}, "alpha", "only here"); err != nil {
		t.Fatal(err)
	}
	takeFrom(t, here, writer)
	if got, err := here.Secret(ctx, "cursor"); err != nil || !slices.Equal(got, secret) {
		t.Errorf("the secret was not taken: %v", err)
	}
	use := []record.Use{{Hash: [32]byte{1}, LastUsed: time.Now(), Endpoint: "GET /x", Requests: 7}}
	if err := here.AddUse(ctx, use); err != nil {
		t.Fatal(err)
	}
	before, err := here.Revision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	takeFrom(t, here, writer)
	if after, err := here.Revision(ctx); err != nil || after != before {
		t.Errorf("the same keys were taken and the revision went from %d to %d: %v", before, after, err)
	}
	if _, err := writer.RevokeKey(ctx, a.ID); err != nil {
		t.Fatal(err)
	}
	takeFrom(t, here, writer)
	if after, err := here.Revision(ctx); err != nil || after == before {
		t.Errorf("a key was revoked and the revision stayed %d: %v", after, err)
	}
	want, err := writer.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, record.Key{Hash: [32]byte{9}, Tier: "alpha", Revoked: true})
	got, err := here.Keys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	byHash := func(x, y record.Key) int { return int(x.Hash[0]) - int(y.Hash[0]) }
	slices.SortFunc(want, byHash)
	slices.SortFunc(got, byHash)
	if !slices.Equal(got, want) {
		t.Errorf("keys %+v\nwant %+v", got, want)
	}
	account, err := here.Account(ctx, [32]byte{1}, "2000-01-01")
	if err != nil || len(account.Usage) != 1 || account.Usage[0].Requests != 7 {
		t.Errorf("what the key was used for here is gone: %+v, %v", account, err)
	}
	if err := here.TakeKeys(ctx, ""); err != nil {
		t.Fatal(err)
	}
	got, err = here.Keys(ctx)
	if err != nil || slices.ContainsFunc(got, func(k record.Key) bool { return !k.Revoked }) {
		t.Errorf("a backup without keys left some valid: %+v, %v", got, err)
	}
}

// Whoever adds a table decides whether servers that follow take it over.
func TestEveryTableIsTakenOrOwn(t *testing.T) {
	rows, err := keysOf(t, "all.db").sql.QueryContext(context.Background(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	known := slices.Concat(takenTables, ownTables)
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known, name) {
			t.Errorf("the table %s is neither taken by servers that follow another, nor their own: add it to one list", name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}
