package control

import (
	"context"
	"database/sql"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

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

// takeFrom takes over the keys of from by a copy like that of a backup, and fails the test on an
// error.
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
		t.Errorf("the secret was not used: %v", err)
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
		t.Errorf("the same keys were taken over, but the revision went from %d to %d: %v", before, after, err)
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
		t.Errorf("the usage of the key on this server is lost: account = %+v, err = %v", account, err)
	}
	if err := here.TakeKeys(ctx, ""); err != nil {
		t.Fatal(err)
	}
	got, err = here.Keys(ctx)
	if err != nil || slices.ContainsFunc(got, func(k record.Key) bool { return !k.Revoked }) {
		t.Errorf("a backup without keys left some valid: got %+v, err = %v", got, err)
	}
}

// A server that follows another shows the other's history: its own other entries are removed, equal
// ones are kept.
func TestTheStatusHistoryIsThatOfTheOtherFile(t *testing.T) {
	ctx, at := t.Context(), time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	writer, here := keysOf(t, "writer.db"), keysOf(t, "here.db")
	of := record.StatusChange{
		Days:   []record.StatusDay{{Day: "2026-03-13", Subsystem: "trades", Minutes: [5]int64{7, 0, 0, 1, 2}, LagMax: 90}, {Day: "2026-03-14", Subsystem: "trades", LagMax: -1}},
		Events: []record.StatusEvent{{At: at, Until: at.Add(time.Minute), Kind: "grade", Subsystem: "trades", Grade: 'D', Text: "late"}, {At: at, Kind: "start", Text: "started"}},
	}
	own := record.StatusChange{Days: []record.StatusDay{{Day: "2026-03-13", Subsystem: "trades", Minutes: [5]int64{1}}, {Day: "2026-03-13", Subsystem: "markets"}},
		Events: []record.StatusEvent{{At: at, Kind: "stop", Text: "stopped"}}}
	for db, change := range map[*DB]record.StatusChange{writer: of, here: own} {
		if err := db.AddStatusChange(ctx, change); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		takeFrom(t, here, writer)
		got, err := here.StatusDays(ctx, at.AddDate(0, 0, -1), 100)
		if err != nil || !cmp.Equal(got, of) {
			t.Errorf("%v\n%s", err, cmp.Diff(of, got))
		}
	}
}

// For each new table it must be decided whether servers that follow take it over.
func TestEveryTableIsCopiedOrLocal(t *testing.T) {
	rows, err := keysOf(t, "all.db").sql.QueryContext(context.Background(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	known := slices.Clone(ownTables)
	for _, table := range takenTables {
		known = append(known, table.name)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known, name) {
			t.Errorf("the table %s is neither taken over by servers that follow another nor kept by them: add it to one of the lists", name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Error(err)
	}
}

// When a server is upgraded, the samples of the last week become the beginning of the daily
// history.
func TestAnUpgradeSumsExistingSamples(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "control.db")
	connect, err := newConnector(path)
	if err != nil {
		t.Fatal(err)
	}
	handle := sql.OpenDB(connect)
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, handle, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(ctx, 9); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{ // two minutes of the 13th, and the first one of the 14th
		`(1773446280, 'ABF', 5, 90, NULL, NULL)`, `(1773446340, 'ADF', 4, 70, NULL, '{"chain":{"grade":"C","lag":12},"audits":{"grade":"F"}}')`,
		`(1773446400, 'FFF', 9, 9, 9, '{"chain":{"grade":"A","lag":3}}')`,
	} {
		if _, err := handle.ExecContext(ctx, `INSERT INTO status_samples (at, grades, serving_lag, trades_lag, markets_lag, sources) VALUES `+row); err != nil {
			t.Fatal(err)
		}
	}
	if err := handle.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(ctx, path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	got, err := db.StatusDays(ctx, time.Date(2026, 3, 13, 0, 0, 0, 0, time.UTC), 1)
	want := []record.StatusDay{
		{Day: "2026-03-13", Subsystem: "markets", Minutes: [5]int64{0, 0, 0, 0, 2}, LagMax: -1},
		{Day: "2026-03-13", Subsystem: "serving_tables", Minutes: [5]int64{2}, LagMax: 5},
		{Day: "2026-03-13", Subsystem: "source:audits", Minutes: [5]int64{4: 1}, LagMax: -1},
		{Day: "2026-03-13", Subsystem: "source:chain", Minutes: [5]int64{2: 1}, LagMax: 12},
		{Day: "2026-03-13", Subsystem: "trades", Minutes: [5]int64{1: 1, 3: 1}, LagMax: 90},
		{Day: "2026-03-14", Subsystem: "markets", Minutes: [5]int64{4: 1}, LagMax: 9},
		{Day: "2026-03-14", Subsystem: "serving_tables", Minutes: [5]int64{4: 1}, LagMax: 9},
		{Day: "2026-03-14", Subsystem: "source:chain", Minutes: [5]int64{1}, LagMax: 3},
		{Day: "2026-03-14", Subsystem: "trades", Minutes: [5]int64{4: 1}, LagMax: 9},
	}
	if err != nil || !cmp.Equal(got.Days, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got.Days))
	}
}
