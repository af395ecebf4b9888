package feeds_test

import (
	"errors"
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/feeds"
)

// TestOnlyRegularFilesAreRead: a pipe without a writer, a socket and a device are
// refused at once.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "s")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Skipf("pipes are not supported here: %v", err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{fifo, socket, "/dev/zero", dir} {
		done := make(chan error, 1)
		go func() { _, err := feeds.ReadHead(path); done <- err }()
		select {
		case err := <-done:
			if err == nil || !errors.Is(err, data.ErrNotRegular) {
				t.Errorf("%s: %v", path, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: still waiting", path)
		}
	}
}
