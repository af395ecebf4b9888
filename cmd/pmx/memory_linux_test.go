package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/guard"
)

// residentOf returns the resident memory of a process, without pages of files.
func residentOf(pid int) (bytes int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && (f[0] == "RssAnon:" || f[0] == "RssShmem:") {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			bytes += n * 1024
		}
	}
	return bytes
}

// A server with the least allowed memory stays below it while it imports, rebuilds and verifies.
func TestAServerKeepsToItsMemory(t *testing.T) {
	testfiles.InLong(t, "TestMarketsOfAFileAreBounded limits the memory of an import of markets")
	const fills = 200_000
	dir := t.TempDir()
	files := filepath.Join(t.TempDir(), "sample")
	if _, err := sample.Write(t.Context(), sample.Config{Fills: fills}, files, nil); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("pmx", "serve", "--listen", "127.0.0.1:0", "--data-dir", dir, "--memory", fmt.Sprintf("%dB", engine.LeastMemory), "--log", filepath.Join(dir, "log"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 200)); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	peak := int64(0)
	watched := guard.Start(func() error {
		for guard.Sleep(ctx, 5*time.Millisecond) == nil {
			peak = max(peak, residentOf(cmd.Process.Pid))
		}
		return nil
	})
	w := &replicaWriter{t: t, dir: dir}
	for _, args := range [][]string{{"import", files}, {"rebuild"}, {"verify"}, {"status"}} {
		said := w.must(args...)
		if args[0] == "status" && !strings.Contains(said, "512 MB at most") {
			t.Errorf("pmx status does not say what the server may take:\n%s", said)
		}
	}
	stop()
	if err := <-watched; err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d fills: %d MB at most", fills, peak/1e6)
	if peak == 0 || peak > engine.LeastMemory {
		t.Errorf("%d bytes were taken, %d are allowed", peak, engine.LeastMemory)
	}
}
