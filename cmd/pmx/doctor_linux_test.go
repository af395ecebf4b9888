package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/engine"
	"pmx/engine/enginetest"
)

// holdLock names a file whose lock this process, started again by a test, holds until its standard
// input ends.
const holdLock = "PMX_TEST_HOLD_LOCK"

func TestDoctorNamesTheProcessThatHoldsTheDatabase(t *testing.T) {
	if path := os.Getenv(holdLock); path != "" {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err == nil {
			err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK})
		}
		fmt.Printf("locked: %v\n", err)
		_, _ = io.ReadAll(os.Stdin)
		return
	}
	dir := engine.Dir(t.TempDir())
	if err := os.WriteFile(dir.Database(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), holdLock+"="+dir.Database())
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("locked: <nil>"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "locked: <nil>" {
		t.Fatalf("line = %q, err = %v", line, err)
	}
	found, err := checkRunning(t.Context(), dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	last := found[len(found)-1]
	if last.Check != "lock" || last.Level != fails || last.Do == "" || !strings.Contains(last.Detail, fmt.Sprintf("is in use by process %d (", cmd.Process.Pid)) {
		t.Errorf("found = %+v", found)
	}
	var text bytes.Buffer
	cli := CLI{DataDir: string(dir)}
	if err := (&StatusCmd{}).Run(t.Context(), &cli, stdio{out: &text, err: &text}); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "none answers, but a process has the database open") || !strings.Contains(s, fmt.Sprintf("is in use by process %d (", cmd.Process.Pid)) ||
		strings.Contains(s, "no server is running") {
		t.Errorf("status: %s", s)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if pid, _ := dir.Holder(); pid != 0 {
		t.Errorf("process %d still holds it", pid)
	}
}

func TestDoctorChecksTheOwner(t *testing.T) {
	dir := t.TempDir()
	owner := func(dir string) []finding {
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		return checkOwner(engine.Dir(dir), info)
	}
	if found := owner(dir); found != nil {
		t.Errorf("this user's own: %+v", found)
	}
	if os.Geteuid() != 0 { // who may write everywhere, and give folders away
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		if found := owner(dir); len(found) != 1 || found[0].Level != fails || !strings.Contains(found[0].Detail, "cannot be written to") {
			t.Errorf("one that is read-only: %+v", found)
		}
		dir = "/" // root's
	} else if err := os.Chown(dir, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if found := owner(dir); len(found) != 1 || found[0].Level != fails || !strings.Contains(found[0].Detail, fmt.Sprintf("but this is user %d", os.Geteuid())) {
		t.Errorf("another user's: %+v", found)
	}
}

func TestDoctorComparesVersionsOfTheTables(t *testing.T) {
	for _, tc := range []struct {
		change string
		level  severity
		says   string
	}{
		{"SELECT 1", fine, "the newest that this pmx knows"},
		{"INSERT INTO schema_version SELECT max(version) + 3, now()::TIMESTAMP FROM schema_version", fails, "and this pmx knows"},
		{"DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)", warns, "an older pmx cannot read it then"},
		{"DELETE FROM schema_version", fails, "read schema version"},
	} {
		dir := t.TempDir()
		db, err := sql.Open("duckdb", enginetest.Options(t, dir, "1GB").Dir.Database())
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(context.Background(), tc.change)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(dir, "pmx.duckdb"))
		if err != nil {
			t.Fatal(err)
		}
		found := checkDatabase(t.Context(), engine.Dir(dir))
		if found.Check != "database" || found.Level != tc.level || !strings.Contains(found.Detail, tc.says) || (found.Do == "") != (tc.level == fine) {
			t.Errorf("%s: found = %+v", tc.change, found)
		}
		if after, err := os.ReadFile(filepath.Join(dir, "pmx.duckdb")); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file was changed, %v", tc.change, err)
		}
	}
}
