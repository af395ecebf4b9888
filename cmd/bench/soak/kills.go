//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pmx/engine/guard"
)

const (
	killsOfServers  = "kills of a server (SIGKILL)"
	killsOfCommands = "kills of a command (SIGKILL)"
)

// kills kills servers of one data directory repeatedly: while they start, and while they import,
// back up, export and answer requests. After each, the next server must have everything that was
// acknowledged.
func (c *runCmd) kills(ctx context.Context, h *harness, r *rand.Rand) error {
	v, err := c.venue(ctx, h, r, "")
	if err != nil {
		return err
	}
	for n := range c.Kills {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n%6 == 5 {
			if err := v.killStart(ctx, between(r, 0, 700*time.Millisecond)); err != nil {
				return err
			}
		}
		s, err := h.serve(ctx, v.dir, 0, "--refresh-cron", "@every 1s")
		if err != nil {
			return err
		}
		if err := v.held(ctx, s); err != nil {
			return err
		}
		busy, stop := context.WithCancel(ctx)
		wait := v.keepBusy(busy, s, n)
		_ = guard.Sleep(ctx, between(r, 50*time.Millisecond, 1800*time.Millisecond))
		err = s.alive()
		s.kill()
		h.count(killsOfServers, 1)
		stop()
		wait()
		if err != nil {
			return err
		}
		if n%20 == 19 {
			v.verified(ctx, v.dir)
		}
	}
	return v.wholeInTheEnd(ctx)
}

// killStart kills a server that is starting.
func (v *venue) killStart(ctx context.Context, after time.Duration) error {
	s, out, err := v.launch(ctx, v.dir, 0)
	if err != nil {
		return err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			continue
		}
		s.ended <- s.cmd.Wait()
	}()
	_ = guard.Sleep(ctx, after)
	s.kill()
	v.count(killsOfServers, 1)
	v.count("  of them while it started", 1)
	return nil
}

// keepBusy imports, issues keys, sends requests, and sometimes also backs up and exports, until ctx
// ends; wait waits for that. Commands that fail because their server was killed are counted.
func (v *venue) keepBusy(ctx context.Context, s *server, n int) (wait func()) {
	var all sync.WaitGroup
	until := func(name string, pause time.Duration, f func() error) {
		all.Add(1)
		go func() {
			defer all.Done()
			for ctx.Err() == nil {
				if err := f(); err != nil {
					v.count(name+" that the kill cut short", 1)
					return
				}
				_ = guard.Sleep(ctx, pause)
			}
		}()
	}
	// A command outlives the server for a moment: it is not ended from here.
	commands := context.WithoutCancel(ctx)
	until("imports", 0, func() error { return v.importNext(commands) })
	until("requests", 20*time.Millisecond, func() error {
		code, _, err := s.get(commands, "/leaderboard/traders?period=30d", v.secrets()[0])
		if err == nil && code != 200 {
			v.fail("a request during imports: status %d", code)
		}
		return err
	})
	switch n % 3 {
	case 0:
		until("keys", 300*time.Millisecond, func() error { return v.issue(commands) })
	case 1:
		until("backups", 100*time.Millisecond, func() error {
			_, err := v.run(commands, v.dir, "backup", v.backups, "--keep", "3")
			if err == nil {
				v.count("backups made", 1)
			}
			return err
		})
	case 2:
		until("export jobs", 300*time.Millisecond, func() error {
			code, text, err := s.send(commands, "POST", "/research/export-jobs", v.secrets()[0], fmt.Sprintf(`{"dataset":%q,"format":"csv","period":"all"}`, []string{"wallet_pnl", "markets"}[n/3%2]))
			if err == nil && code != 200 && code != 202 && code != 429 && code != 409 {
				v.fail("an export job: status %d: %s", code, text)
			}
			return err
		})
	}
	return all.Wait
}

// wholeInTheEnd starts a server once more, completes what was in doubt, verifies the data
// directory, and restores the last backup.
func (v *venue) wholeInTheEnd(ctx context.Context) error {
	s, err := v.serve(ctx, v.dir, 0)
	if err != nil {
		return err
	}
	if err := v.held(ctx, s); err != nil {
		return err
	}
	if err := v.importNext(ctx); err != nil {
		return err
	}
	if err := v.held(ctx, s); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	v.verified(ctx, v.dir)
	if exists(filepath.Join(v.backups, "CURRENT")) {
		v.restored(ctx)
	}
	return v.discard()
}

// restored checks the folder of backups, and restores the newest.
func (v *venue) restored(ctx context.Context) {
	if out, err := v.run(ctx, v.dir, "backup", v.backups, "--verify"); err != nil {
		v.fail("%v: %s", err, out)
		return
	}
	to := filepath.Join(filepath.Dir(v.events), "restored")
	out, err := v.run(ctx, to, "restore", v.backups)
	if err != nil {
		v.fail("%v: %s", err, out)
	}
	v.count("backups restored and verified", 1)
	if err := os.RemoveAll(to); err != nil {
		v.fail("%v", err)
	}
}

// commands kills commands on a data directory without a server: imports, backups, exports and
// restores, each at a random moment while it runs.
func (c *runCmd) commands(ctx context.Context, h *harness, r *rand.Rand) error {
	v, err := c.venue(ctx, h, r, "")
	if err != nil {
		return err
	}
	if _, err := v.run(ctx, v.dir, "backup", v.backups); err != nil {
		return err
	}
	out := filepath.Join(filepath.Dir(v.events), "out.parquet")
	to := filepath.Join(filepath.Dir(v.events), "restored")
	for n := range c.Kills {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch n % 4 {
		case 0:
			v.mu.Lock()
			k := v.next
			v.doubt = v.rows[k]
			v.mu.Unlock()
			v.killed(ctx, r, v.dir, "import", "--json", v.slices[k])
			if err := v.importNext(ctx); err != nil {
				return err
			}
		case 1:
			v.killed(ctx, r, v.dir, "backup", v.backups, "--keep", "3")
			if said, err := v.run(ctx, v.dir, "backup", v.backups, "--verify"); err != nil {
				v.fail("after a kill: %v: %s", err, said)
			}
		case 2:
			v.killed(ctx, r, v.dir, "export", "fills", "--out", out)
			v.exported(ctx, out)
		case 3:
			if v.killed(ctx, r, to, "restore", v.backups, "--quick") && exists(to) {
				v.verified(ctx, to)
			}
			if err := os.RemoveAll(to); err != nil {
				return err
			}
		}
	}
	return v.wholeInTheEnd(ctx)
}

// killed runs a command and kills it at a random moment. It returns whether it was killed: it may
// have ended before.
func (v *venue) killed(ctx context.Context, r *rand.Rand, dir string, args ...string) bool {
	cmd := v.command(ctx, v.pmx, append(args, "--data-dir", dir)...)
	if err := cmd.Start(); err != nil {
		v.fail("%v", err)
		return false
	}
	_ = guard.Sleep(ctx, between(r, 20*time.Millisecond, 900*time.Millisecond))
	_ = cmd.Process.Kill()
	killed := status(cmd.Wait()) == -1
	if killed {
		v.count(killsOfCommands, 1)
		v.count("  of them pmx "+args[0], 1)
	}
	return killed
}

// exported checks that there is no file, or a complete one: pmx must read it as its own fills, with
// the right number.
func (v *venue) exported(ctx context.Context, path string) {
	if !exists(path) {
		return
	}
	said, err := v.run(ctx, v.dir, "import", "--dry-run", "--json", path)
	var res result
	if err == nil {
		err = json.Unmarshal(said, &res)
	}
	if err != nil || len(res.Receipts) != 1 || res.Receipts[0].Read != v.fills || res.Receipts[0].AlreadyThere != v.fills {
		v.fail("an export of %d fills that was killed left a file that is read as %s (%v)", v.fills, strings.TrimSpace(string(said)), err)
	}
	if err := os.Remove(path); err != nil {
		v.fail("%v", err)
	}
}
