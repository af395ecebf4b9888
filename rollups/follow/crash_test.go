package follow_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// followAloud follows the chain into a folder, a few events a commit, and tells of each.
func followAloud(dir string) {
	h, err := played()
	if err != nil {
		fmt.Println("end", err)
		return
	}
	k, err := keeper.Open(context.Background(), keeper.Config{Engine: engine.Options{Dir: engine.Dir(dir), Threads: 1, MemoryLimit: "1GB"}, Feeds: feeds.Catalog{}, Log: zerolog.Nop()})
	if err != nil {
		fmt.Println("end", err)
		return
	}
	n := h.node("a")
	n.most = 2_000
	o := h.options(k, n, h.node("b"))
	o.Batch = 60
	o.Progress = func(s follow.ChainState) { fmt.Println("commit", s.Commits) }
	c, err := follow.NewChain(o)
	if err == nil {
		err = c.Once(context.Background())
	}
	fmt.Println("end", err, k.Close())
}

// TestAKilledFollowerLosesAndDoublesNothing: whatever moment the process is killed at, the next
// goes on, and what there is in the end is what the file has.
func TestAKilledFollowerLosesAndDoublesNothing(t *testing.T) {
	h := chainOf(t)
	want := h.want(t)
	for range testfiles.Cases(1, 10) {
		dir := t.TempDir()
		if err := venue(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		kills := 0
		for ended := false; !ended; kills++ {
			ended = followAndKill(t, dir, 1+rand.IntN(6), time.Duration(rand.IntN(40))*time.Millisecond)
		}
		if kills < 3 {
			t.Errorf("it was killed %d times", kills-1)
		}
		k := venue(t, dir)
		if err := k.Refresh(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, k, want)
		mustVerify(t, k)
		s, err := follow.StoredChain(t.Context(), k, h.options(k).Contracts, time.Now())
		if err != nil || s.GapBlocks != 0 || s.Committed != h.last+40 || s.Fills != int64(len(want["fills"])) {
			t.Errorf("%v %+v", err, s)
		}
	}
}

// followAndKill follows in another process, which is killed a while behind a commit; true where
// it came to the end before.
func followAndKill(t *testing.T, dir string, commits int, behind time.Duration) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PMX_TEST_FOLLOW_INTO="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end := ""
	seen := 0
	for lines := bufio.NewScanner(out); end == "" && seen < commits && lines.Scan(); {
		if text := lines.Text(); text[:3] == "end" {
			end = text
		}
		seen++
	}
	if end == "" {
		time.Sleep(behind)
	}
	if err := cmd.Process.Kill(); err != nil && end == "" {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if end != "" && end != "end <nil> <nil>" {
		t.Fatal(end)
	}
	return end != ""
}
