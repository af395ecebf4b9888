package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/engine"
	"pmx/engine/control"
	"pmx/engine/enginetest"
)

// nobody is the number of a user and a group without rights.
const nobody = 65534

// asNobody runs pmx as a user without rights, and returns its output and its exit status.
func asNobody(t *testing.T, words ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", words...) // the folder of the test's program may be closed to others
	cmd.Args[0], cmd.Dir = "pmx", "/"
	cmd.Env = append(os.Environ(), "PMX_THREADS=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// Messages to another user than the owner say that, and nothing else: not that keys or the database are
// damaged, that no server is running, or that a file cannot be opened.
func TestAnotherUsersDataDirectoryIsNotJudged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	root, err := os.MkdirTemp("/tmp", "pmx-foreign-") // a folder that everybody may search, which TMPDIR need not be
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	dir, inner := filepath.Join(root, "data"), filepath.Join(root, "closed", "data")
	if err := errors.Join(os.Chmod(root, 0o755), os.MkdirAll(inner, 0o755), os.Chmod(filepath.Dir(inner), 0o700), enginetest.Create(dir)); err != nil {
		t.Fatal(err)
	}
	keys, err := control.Open(t.Context(), engine.Dir(dir).Control(), time.Now)
	if err := errors.Join(err, engine.Dir(dir).Create()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(keys.Close(), os.WriteFile(filepath.Join(dir, venueWalletsName), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	this := strconv.Itoa(nobody)
	if u, err := user.LookupId(this); err == nil {
		this = u.Username
	}
	says := fmt.Sprintf("pmx: %s belongs to user root, and this is %s: run pmx as user root\n", dir, this)
	for _, words := range []string{"status", "keys list", "keys issue --label c", "waitlist list", "verify", "refresh", "rebuild", "import /etc/passwd", "import -", "export fills --out /dev/null",
		"backup /tmp/nowhere", "restore /tmp/nowhere", "sync status", "sync --contact c@example.org", "serve --listen 127.0.0.1:0"} {
		if out, code := asNobody(t, append(strings.Fields(words), "--data-dir", dir)...); code != 1 || out != says {
			t.Errorf("%s: status %d, %q", words, code, out)
		}
	}
	if out, code := asNobody(t, "status", "--data-dir", inner); code != 1 || !strings.Contains(out, inner+" is in "+filepath.Dir(inner)+", which belongs to user root") {
		t.Errorf("in a closed folder: status %d, %q", code, out)
	}
	out, code := asNobody(t, "doctor", "--data-dir", dir)
	if code != 1 || !strings.Contains(out, "belongs to user root") || !strings.Contains(out, "was not checked") {
		t.Errorf("doctor: status %d, %q", code, out)
	}
	for _, wrong := range []string{"control.db", "restore", "no server is running", "database:", "permission denied"} {
		if strings.Contains(out, wrong) {
			t.Errorf("doctor says %q: %q", wrong, out)
		}
	}

	// Own directory, files of another user in it.
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	out, code = asNobody(t, "doctor", "--data-dir", dir)
	if code != 1 || strings.Count(out, "permission denied: it was not checked") != 2 || strings.Contains(out, "restore") {
		t.Errorf("doctor of files of another user: status %d, %q", code, out)
	}
}
