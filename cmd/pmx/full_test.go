package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/data/testfiles"
)

// refused runs pmx, which must exit with status 1, and returns its output.
func (in *installation) refused(args ...string) string {
	in.t.Helper()
	cmd := exec.Command("pmx", args...)
	cmd.Dir = in.dir
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 1 {
		in.t.Errorf("pmx %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A server starts on a full disk, after a clean stop and after a crash, serves what it has and says
// so, refuses new data, and continues automatically once there is space.
func TestAServerStartsOnAFullDisk(t *testing.T) {
	testfiles.InLong(t, "TestAFirstStartOnAFullDiskSaysWhatToDo is refused on one")
	in := &installation{t: t, dir: testfiles.Disk(t, "size=160m")}
	venue := filepath.Join(t.TempDir(), "venue")
	in.run("sample", "--fills", "2000", "--out", venue)
	files := []string{"import", filepath.Join(venue, sample.EventsName), filepath.Join(venue, sample.FillsName)}
	in.serve()
	in.run(files...)
	want := in.get("/leaderboard/traders")
	filler := filepath.Join(in.dir, "filler")
	for _, killed := range []bool{false, true, false}[:testfiles.Cases(2, 3)] {
		if killed {
			_, _ = in.server.Process.Kill(), in.server.Wait()
			in.server = nil
		} else {
			in.shutdown()
		}
		testfiles.Fill(t, filler)
		in.serve()
		if got := in.get("/leaderboard/traders"); got != want || !strings.HasPrefix(got, "200 ") {
			t.Errorf("after a start on a full disk: %.200s", got)
		}
		if got := in.get("/status/public"); !strings.Contains(got, "disk") {
			t.Errorf("the status does not say so: %s", got)
		}
		for _, args := range [][]string{files, {"keys", "issue", "--tier", "alpha", "--label", strings.Repeat("x", 100)}} {
			if said := in.refused(args...); !strings.Contains(said, "is full") || !strings.Contains(said, "free some space") {
				t.Errorf("pmx %s says %s", args[0], said)
			}
		}
		if got := string(in.run("keys", "list")); !strings.Contains(got, "alpha") {
			t.Errorf("keys list: %s", got)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		in.run(files...)
		in.run("keys", "issue", "--tier", "alpha", "--label", "with room")
	}
	in.shutdown()
}

// If there is nothing to serve yet, starting fails with advice.
func TestAFirstStartOnAFullDiskSaysWhatToDo(t *testing.T) {
	for _, room := range []int64{0, 64 << 10} {
		in := &installation{t: t, dir: testfiles.Disk(t, "size=64m")}
		filler := filepath.Join(in.dir, "filler")
		testfiles.Fill(t, filler)
		info, err := os.Stat(filler)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filler, info.Size()-room); err != nil {
			t.Fatal(err)
		}
		said := in.refused("serve", "--listen", "127.0.0.1:0")
		if last := said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]; !strings.Contains(last, "is full") || !strings.Contains(last, "free some space") {
			t.Errorf("with %d bytes of free space: %s", room, said)
		}
	}
}
