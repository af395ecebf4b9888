package engine_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"pmx/data"
	"pmx/engine"
	"pmx/engine/export"
)

func TestBootSettingsHoldOnEveryConnection(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db := open(t, dir)
	for name, want := range map[string]string{
		"TimeZone": "UTC", "threads": "2", "lock_configuration": "true", "enable_external_access": "false",
		"autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
		"disabled_optimizers": "late_materialization", "write_buffer_row_group_count": "1", "temp_directory": filepath.Join(dir, "tmp", "spill"),
	} {
		for pool, use := range map[string]func(context.Context, func(*sql.Conn) error) error{"reader": db.Read, "writer": db.Write} {
			var got string
			err := use(ctx, func(conn *sql.Conn) error {
				return conn.QueryRowContext(ctx, "SELECT current_setting('"+name+"')::VARCHAR").Scan(&got)
			})
			if err != nil || got != want {
				t.Errorf("%s: %s is %q, %v; want %q", pool, name, got, err, want)
			}
		}
	}
}

func TestTextWithoutAZoneIsUTC(t *testing.T) {
	ctx, db := context.Background(), open(t, t.TempDir())
	var us int64
	err := db.Read(ctx, func(conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, "SELECT epoch_us('2026-01-01 00:00:00'::TIMESTAMPTZ)").Scan(&us)
	})
	if want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(); err != nil || us != want {
		t.Errorf("%d, %v; want %d", us, err, want)
	}
}

func TestCloseWaitsForReaders(t *testing.T) {
	ctx := context.Background()
	db, err := engine.Open(ctx, engine.Options{Dir: engine.Dir(t.TempDir()), Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	reading, release, closed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	read := make(chan error, 1)
	go func() {
		read <- db.Read(ctx, func(conn *sql.Conn) error {
			close(reading)
			<-release
			var one int
			return conn.QueryRowContext(ctx, "SELECT 1").Scan(&one)
		})
	}()
	<-reading
	go func() { closed <- db.Close() }()
	close(release)
	if err := <-read; err != nil {
		t.Errorf("a reader that started before Close: %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := db.Ping(ctx); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func TestAnExportThatEndsEarlyLeavesNothing(t *testing.T) {
	db := open(t, t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := (&export.Exporter{DB: db}).WriteFacts(ctx, db.Dir().Tmp(), "fills", data.Parquet, nil)
	if err == nil {
		t.Error("a cancelled export gave no error")
	}
	if left, _ := filepath.Glob(filepath.Join(db.Dir().Tmp(), "export-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
