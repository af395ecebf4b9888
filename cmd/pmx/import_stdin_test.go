package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"pmx/engine"
)

func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, len(args) > 1, "interrupt N WORDS...")
	cmd := exec.Command("pmx", args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	in, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	spools := ts.MkAbs("pmx-data/inbox/.stdin-*")
	until(ts, 20*time.Millisecond, func() bool {
		found, err := filepath.Glob(spools)
		ts.Check(err)
		return len(found) > 0
	}, func() string { return "standard input is not read" })
	ts.Check(cmd.Process.Signal(syscall.SIGINT))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		ts.Logf("the command is killed: %v", cmd.Process.Kill())
		<-ended
	}
	_ = in.Close() // it was open until here
	if got := cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[0] {
		ts.Fatalf("status %d, want %s", got, args[0])
	}
	if left, err := filepath.Glob(spools); err != nil || len(left) > 0 {
		ts.Fatalf("left over: %v, %v", left, err)
	}
}

// The file of standard input of a running command is not removed.
func TestStdinFileInUseIsKept(t *testing.T) {
	dir := engine.Dir(t.TempDir())
	used, err := newStdinFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer used.remove()
	if _, err := io.WriteString(used.file, "half"); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(dir.Inbox(), stdinPrefix+"left")
	other := filepath.Join(dir.Inbox(), ".hidden")
	for _, path := range []string{left, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removeStaleStdin(dir)
	for path, stays := range map[string]bool{used.path(): true, other: true, left: false} {
		if _, err := os.Lstat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}
