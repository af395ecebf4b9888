package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
)

// A server publishes what is committed and changes of keys, without a request for a backup.
func TestAReplicaOfAServerThatPublishes(t *testing.T) {
	testfiles.InLong(t, "TestAReplicaTakesWholeBackupsOnly follows backups")
	w := newReplicaWriter(t)
	out := w.must("keys", "issue", "--tier", "alpha", "--label", "leaves", "--json")
	leaves, id := fieldOf(t, out, "key"), fieldOf(t, out, "id")
	key := fieldOf(t, w.must("keys", "issue", "--tier", "alpha", "--label", "stays", "--json"), "key")
	w.importOne()
	published := filepath.Join(t.TempDir(), "published")
	writer := serveHere(t, w.dir, "--publish-dir", published)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(published, "CURRENT")); err == nil || time.Now().After(end) {
			break
		}
	}
	s := serveHere(t, t.TempDir(), "--follow", published)
	for range testfiles.Cases(3, 16) { // more than are kept
		w.importOne()
		for _, at := range []*replicaServer{writer, s} {
			becomes(t, at.base, replicaStats, key, 200, tradesOf(w.fills))
		}
	}
	becomes(t, s.base, replicaStats, leaves, 200, "")
	// A file of the operator's that a replica cannot read keeps the new state from it, but no key valid.
	if err := os.WriteFile(filepath.Join(w.dir, "cities.csv"), []byte("slug\nhalf,a,row\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("keys", "revoke", id)
	becomes(t, s.base, replicaStats, leaves, 401, "revoked")
	for _, backups := range []string{published, filepath.Dir(published), filepath.Join(published, "backups")} {
		status, _, errs := w.pmx(t.TempDir(), "config", "check", "--publish-dir", published, "--backup-dir", backups)
		if status != 1 || !strings.Contains(errs, "--publish-dir: this is the folder of --backup-dir, or one of the two is within the other: ") {
			t.Errorf("backups in %s: status = %d, errs = %s", backups, status, errs)
		}
	}
}

// A replica that is killed while it copies a backup serves a complete one after the next start.
func TestAKilledReplicaServesAWholeBackup(t *testing.T) {
	if !testfiles.Long() { // TestAnInterruptedCopyIsCompleted stops a copy at every block
		t.Skip("processes are killed in a long run")
	}
	w := newReplicaWriter(t)
	key := fieldOf(t, w.must("keys", "issue", "--tier", "alpha", "--label", "reader", "--json"), "key")
	w.trade()
	w.carry(nil)
	dir := t.TempDir()
	for range 12 {
		cmd := exec.Command("pmx", "serve", "--listen", "127.0.0.1:0", "--threads", "1", "--data-dir", dir, "--follow", w.carried, "--log", filepath.Join(dir, "log"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 200)
		n, err := out.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		base := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "ready ")), "/api/v3")
		becomes(t, base, replicaStats, key, 200, tradesOf(w.fills))
		w.trade()
		w.carry(nil)
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
	}
}
