package engine_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pmx/engine"
)

func open(t *testing.T, dir string) *engine.DB {
	t.Helper()
	db, err := engine.Open(context.Background(), engine.Options{Dir: engine.Dir(dir), Threads: 2, MemoryLimit: "1GB"})
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

func write(ctx context.Context, db *engine.DB, query string) error {
	return db.Write(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, query)
		return err
	})
}

func TestOpenMigratesOnceAndKeepsData(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	if err := write(ctx, db, "INSERT INTO wallets VALUES (0, '\\x01'::BLOB)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	seen := 0
	err := again.Read(ctx, func(conn *sql.Conn) error {
		return engine.Each(ctx, conn, "SELECT wallet, address FROM wallets", func([]driver.Value) error {
			seen++
			return nil
		})
	})
	if err != nil || seen != 1 {
		t.Fatalf("after reopening: %d wallets, %v; want 1", seen, err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	if err := write(ctx, db, "INSERT INTO schema_version VALUES (999, now()::TIMESTAMP)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(dir)})
	if !errors.Is(err, engine.ErrNewerSchema) || !strings.Contains(err.Error(), "backup") {
		t.Fatalf("opening a newer file: %v; want ErrNewerSchema with a hint", err)
	}
	// A replica does the same, with a newer file and with an older one.
	for version, want := range map[string]string{"999": "run that version here", "1": "upgrade the writer first"} {
		replica, from := t.TempDir(), t.TempDir()
		db := open(t, from)
		if err := errors.Join(write(ctx, db, "DELETE FROM schema_version; INSERT INTO schema_version VALUES ("+version+", now()::TIMESTAMP)"), db.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := engine.OpenReplica(ctx, engine.Options{Dir: engine.Dir(replica)}, engine.Dir(from).Database()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a replica of version %s: %v", version, err)
		}
	}
}

func TestNothingOutsideTheDataDirectoryCanBeRead(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	outside := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(outside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "tmp", "link.csv")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"SELECT * FROM read_csv('" + outside + "')",
		"SELECT * FROM read_csv('" + link + "')",
		"COPY (SELECT 1) TO '" + filepath.Join(t.TempDir(), "out.csv") + "'",
		"SET enable_external_access = true",
		"SET memory_limit = '1TB'",
		"SET\n Memory_Limit = '1TB'",
		`SET GLOBAL	"max_memory" = '1TB'`,
		"SELECT 1; RESET memory_limit",
		"INSTALL httpfs",
		"ATTACH '" + filepath.Join(t.TempDir(), "x.duckdb") + "'",
	} {
		if err := write(ctx, db, query); err == nil {
			t.Errorf("%s was allowed", query)
		}
	}
	inside := filepath.Join(dir, "tmp", "in.csv")
	if err := os.WriteFile(inside, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write(ctx, db, "SELECT * FROM read_csv('"+inside+"')"); err != nil {
		t.Errorf("a file in the data directory: %v", err)
	}
}

func TestSweepEmptiesTmpAtStart(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, "tmp", "import-1", "x.csv")
	if err := os.MkdirAll(filepath.Dir(left), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a leftover in tmp survived: %v", err)
	}
}

func TestReadersDoNotSeeAnOpenTransaction(t *testing.T) {
	ctx := context.Background()
	db := open(t, t.TempDir())
	count := func() (n int) {
		err := db.Read(ctx, func(conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, "SELECT count(*) FROM wallets").Scan(&n)
		})
		if err != nil {
			t.Error(err)
		}
		return n
	}
	stop := errors.New("stop")
	err := db.Write(ctx, func(conn *sql.Conn) error {
		return engine.InTx(ctx, conn, func() error {
			if _, err := conn.ExecContext(ctx, "INSERT INTO wallets VALUES (0, '\\x01'::BLOB)"); err != nil {
				return err
			}
			if n := count(); n != 0 {
				t.Errorf("a reader sees %d uncommitted rows", n)
			}
			return stop
		})
	})
	if !errors.Is(err, stop) || count() != 0 {
		t.Errorf("after a failed transaction: %v, %d rows; want the error and 0", err, count())
	}
}

// A second process is needed to hold the lock: within a process, DuckDB shares a file.
func TestLockedFileNamesTheProcess(t *testing.T) {
	if dir := os.Getenv("PMX_TEST_LOCK_DIR"); dir != "" {
		_, err := engine.Open(context.Background(), engine.Options{Dir: engine.Dir(dir)})
		if errors.Is(err, engine.ErrLocked) && strings.Contains(err.Error(), "process ") {
			os.Exit(7)
		}
		os.Exit(1)
	}
	dir := t.TempDir()
	open(t, dir)
	cmd := exec.Command(os.Args[0], "-test.run=TestLockedFileNamesTheProcess")
	cmd.Env = append(os.Environ(), "PMX_TEST_LOCK_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("second process: %v\n%s\nwant ErrLocked naming the holder", err, out)
	}
}

// The reason why a file cannot be opened is reported once, and not in the driver's words.
func TestAFileThatIsNotADatabaseIsReportedAsSuch(t *testing.T) {
	dir := engine.Dir(t.TempDir())
	if err := os.WriteFile(dir.Database(), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(t.Context(), engine.Options{Dir: dir, Threads: 1, MemoryLimit: "1GB"})
	if err == nil {
		t.Fatal("a file that is not a database was opened", db.Close())
	}
	if text := err.Error(); strings.Contains(text, "driver") || strings.Count(text, dir.Database()) != 1 || !strings.Contains(text, "not a valid") {
		t.Errorf("text = %s", text)
	}
}

// Permissions of others are removed from all files in the directory, but not from targets of links.
// A folder that all users can write to is refused.
func TestADirectoryIsPrivate(t *testing.T) {
	dir, other := engine.Dir(t.TempDir()), filepath.Join(t.TempDir(), "other")
	deep := filepath.Join(dir.Rejected(), "a", "b.ndjson")
	for _, path := range []string{deep, other, dir.Control()} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(other, filepath.Join(string(dir), "link")), os.Chmod(string(dir), 0o755), dir.Create()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{string(dir): 0o700, dir.Inbox(): 0o700, dir.Segments(): 0o700, filepath.Dir(deep): 0o700, deep: 0o600,
		dir.Control(): 0o600, other: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: info.Mode() = %v, err = %v, want %s", path, info.Mode(), err, want)
		}
	}
	shared := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(shared, "of somebody"), nil, 0o600), os.Chmod(shared, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	if err := engine.Dir(shared).Create(); err == nil || !strings.Contains(err.Error(), "shared") {
		t.Errorf("a folder of all users: %v", err)
	}
}
