package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/engine"
)

// stoppedReplica returns a data directory that follows /srv/states, written by vm:/srv/pmx.
func stoppedReplica(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	folder := engine.Dir(dir).Replica()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "follows.json"), []byte(`{"dir":"/srv/states","writer":"vm:/srv/pmx"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What a replica cannot do is refused with what it is and where to do it.
func TestCommandsOnAReplicaSayWhatToDo(t *testing.T) {
	keepUmask(t)
	dir := stoppedReplica(t)
	const follows = "this data directory follows the backups in /srv/states, which vm:/srv/pmx writes"
	for _, c := range []struct{ words, want string }{
		{"sync", "pmx sync is refused: " + follows + "; follow the venue there, with pmx serve --sync polymarket"},
		{"sync --rpc http://127.0.0.1:1 --contact ann --once", "pmx sync is refused: " + follows + "; follow the venue there, with pmx serve --sync polymarket"},
		{"sync status", follows + ", and no venue: run pmx sync status there; pmx status shows how far this replica is"},
		{"waitlist add bob --use-case x", "pmx waitlist add is refused: " + follows + "; do it there"},
		{"waitlist list", "pmx waitlist list is refused: " + follows + "; do it there"},
		{"waitlist approve 1", "pmx waitlist approve is refused: " + follows + "; do it there"},
		{"waitlist decline 1", "pmx waitlist decline is refused: " + follows + "; do it there"},
		{"keys issue --label x", "pmx keys issue is refused: " + follows + "; do it there"},
		{"keys set-tier x alpha", "pmx keys set-tier is refused: " + follows + "; do it there"},
		{"keys limit x tier", "pmx keys limit is refused: " + follows + "; do it there"},
		{"keys expire x never", "pmx keys expire is refused: " + follows + "; do it there"},
		{"keys rotate x", "pmx keys rotate is refused: " + follows + "; do it there"},
		{"keys revoke x", "pmx keys revoke is refused: " + follows + "; do it there"},
		{"serve --listen 127.0.0.1:0", "pmx serve without --follow is refused: " + follows + "; start it with pmx serve --follow /srv/states"},
	} {
		var out, errs bytes.Buffer
		status := run(append(strings.Fields(c.words), "--data-dir", dir), stdio{in: strings.NewReader(""), out: &out, err: &errs})
		if want := "pmx: " + c.want + "\n"; status != 1 || out.String() != "" || errs.String() != want {
			t.Errorf("pmx %s: status = %d, out = %q, errs = %q, want %q", c.words, status, out.String(), errs.String(), want)
		}
	}
}
