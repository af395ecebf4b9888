package schema

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/pressly/goose/v3/database"
)

func opened(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", filepath.Join(t.TempDir(), "x.duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func number(t *testing.T, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestMigrationsAreAppliedOnce: a new file gets every migration and has the newest version; a
// second start applies none. Every migration has its own number.
func TestMigrationsAreAppliedOnce(t *testing.T) {
	db := opened(t)
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	newest := int64(0)
	for _, f := range files { // sorted by name
		var number int64
		if _, err := fmt.Sscanf(f.Name(), "%05d_", &number); err != nil || number <= newest {
			t.Errorf("%s comes after number %d: %v", f.Name(), newest, err)
		}
		newest = number
	}
	for start, want := range []bool{true, false} {
		if changed, err := Migrate(t.Context(), db, nil); err != nil || changed != want {
			t.Fatalf("start %d: changed is %v, %v", start+1, changed, err)
		}
		if n := number(t, db, "SELECT count(*) FROM schema_version WHERE version > 0"); n != int64(len(files)) {
			t.Errorf("start %d: %d versions of %d migrations", start+1, n, len(files))
		}
	}
	if at, err := (store{}).GetLatestVersion(t.Context(), db); err != nil || at != newest {
		t.Errorf("version %d of %d, %v", at, newest, err)
	}
	if n := number(t, db, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('fills', 'markets', 'batches', 'position', 'weather_report')"); n != 5 {
		t.Errorf("%d of five tables are there", n)
	}
}

// TestANewerDatabaseIsLeftAsItIs.
func TestANewerDatabaseIsLeftAsItIs(t *testing.T) {
	db := opened(t)
	if _, err := Migrate(t.Context(), db, nil); err != nil {
		t.Fatal(err)
	}
	newer := number(t, db, "SELECT max(version) + 1 FROM schema_version")
	if err := (store{}).Insert(t.Context(), db, database.InsertRequest{Version: newer}); err != nil {
		t.Fatal(err)
	}
	before := number(t, db, "SELECT count(*) FROM duckdb_columns()")
	if changed, err := Migrate(t.Context(), db, nil); !errors.Is(err, ErrNewer) || changed {
		t.Errorf("changed is %v, %v", changed, err)
	}
	if after := number(t, db, "SELECT count(*) FROM duckdb_columns()"); after != before {
		t.Errorf("%d columns, then %d", before, after)
	}
}

// TestTheVersionTable: what goose reads from it, in a file without versions and in one with some.
func TestTheVersionTable(t *testing.T) {
	db, s := opened(t), store{}
	ctx := t.Context()
	if err := s.CreateVersionTable(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, err := s.GetLatestVersion(ctx, db); !errors.Is(err, database.ErrVersionNotFound) {
		t.Errorf("the newest of none: %v", err)
	}
	for _, v := range []int64{0, 2, 1} {
		if err := s.Insert(ctx, db, database.InsertRequest{Version: v}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, db, 0); err != nil {
		t.Fatal(err)
	}
	list, err := s.ListMigrations(ctx, db)
	if err != nil || len(list) != 2 || list[0].Version != 2 || list[1].Version != 1 || !list[0].IsApplied {
		t.Errorf("list = %+v, err = %v", list, err)
	}
	if m, err := s.GetMigration(ctx, db, 2); err != nil || m.Timestamp.IsZero() || !m.IsApplied {
		t.Errorf("m = %+v, err = %v", m, err)
	}
	if _, err := s.GetMigration(ctx, db, 3); !errors.Is(err, database.ErrVersionNotFound) {
		t.Errorf("one that was never applied: %v", err)
	}
}
