//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"pmx/cmd/bench/load"
	"pmx/engine/guard"
)

// jumps are offsets from the machine's clock: in each pair, the clock jumps to the first under
// load, and to the second while nothing is imported.
var jumps = [][2]time.Duration{
	{3 * time.Hour, -20 * time.Minute},
	{400 * 24 * time.Hour, time.Hour},
	{-48 * time.Hour, beforeFills},
	{30 * time.Hour, 0},
}

// beforeFills is so far back that fills are ahead of the clock.
const beforeFills = -45 * 24 * time.Hour

// lifetime is how long the key of a clock round is valid.
const lifetime = 12 * time.Hour

const jumpsOfTheClock = "jumps of the clock"

// clocked is a round in which the clock is set: one server gets requests and imports, and backs up
// by a schedule of the wall clock; another follows a venue.
type clocked struct {
	*venue
	clock    *wallClock
	server   *server
	follower *server
	short    issued    // a key that expires
	expires  time.Time // when it does, by the clock
	few      issued    // a key of the plan free
}

// clock sets the clock ahead and back under running servers: nothing acknowledged is lost,
// responses do not change, schedules and the follower continue, and limits and keys follow the
// clock.
func (c *runCmd) clock(ctx context.Context, h *harness, r *rand.Rand) error {
	shifted, clock, err := h.withClock(ctx)
	if err != nil {
		return err
	}
	v, err := c.venue(ctx, shifted, r, "")
	if err != nil {
		return err
	}
	player, err := h.play(ctx)
	if err != nil {
		return err
	}
	defer player.kill()
	t := &clocked{venue: v, clock: clock}
	if err := t.begin(ctx, player); err != nil {
		return err
	}
	for _, pair := range jumps {
		if err := t.underLoad(ctx, pair[0], c.Rate); err != nil {
			return err
		}
		if err := t.atRest(ctx, pair[1]); err != nil {
			return err
		}
		if err := t.again(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(t.follower.stop(), t.server.stop(), clock.set(0)); err != nil {
		h.fail("%v", err)
	}
	v.verified(ctx, t.follower.dir)
	return v.wholeInTheEnd(ctx)
}

// begin starts the servers and issues the keys.
func (t *clocked) begin(ctx context.Context, player *server) (err error) {
	if t.server, err = t.scheduled(ctx); err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(t.events), "followed")
	if t.follower, err = t.serve(ctx, dir, 0, "--sync", "polymarket", "--sync-at", "http://"+player.addr, "--sync-contact", "soak", "--sync-rpc-rate", "20",
		"--sync-only", "chain", "--refresh-cron", "@every 2s"); err != nil {
		return err
	}
	t.expires = t.clock.now().Add(lifetime)
	if t.short, err = t.issueAs(ctx, "explorer", "--expires", "12h"); err != nil {
		return err
	}
	t.few, err = t.issueAs(ctx, "free")
	return err
}

// scheduled starts the server that is loaded.
func (t *clocked) scheduled(ctx context.Context) (*server, error) {
	return t.serve(ctx, t.dir, 0, "--refresh-cron", "@every 2s", "--backup-dir", t.backups, "--backup-cron", "* * * * *", "--backup-keep", "3")
}

// issueAs issues a key that is not among those of the venue.
func (v *venue) issueAs(ctx context.Context, tier string, more ...string) (k issued, err error) {
	out, err := v.run(ctx, v.dir, append([]string{"keys", "issue", "--tier", tier, "--label", "clock", "--json"}, more...)...)
	if err == nil {
		err = json.Unmarshal(out, &k)
	}
	return k, err
}

// play starts the simulation of a venue to follow. It keeps the machine's time, as other hosts do.
func (h *harness) play(ctx context.Context) (*server, error) {
	s, out, err := h.prepare(ctx, h.pmx, "replay", "--listen", "127.0.0.1:0", "--fills", "100000")
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	return s, s.await(out, func(line string) (string, bool) {
		_, rest, found := strings.Cut(line, " at http://")
		addr, _, _ := strings.Cut(rest, ",")
		return addr, found
	})
}

// underLoad lets the clock jump while the server gets requests and imports.
func (t *clocked) underLoad(ctx context.Context, to time.Duration, rate int) error {
	const conns, before, after = 4, 3 * time.Second, 5 * time.Second
	busy, stop := context.WithCancel(ctx)
	defer stop()
	var beside sync.WaitGroup
	t.repeat(busy, &beside, time.Second, t.importNext)
	t.repeat(busy, &beside, 3*time.Second, t.issue)
	for _, d := range []time.Duration{before, after} {
		res, err := load.Run(ctx, load.Config{Addr: t.server.addr, Paths: readPaths(), Keys: t.secrets(), Conns: conns, Duration: d, Pause: time.Second * conns / time.Duration(rate)})
		if err != nil {
			return err
		}
		t.count(requestsAnswered, res.Requests)
		if res.Errors > 0 {
			t.fail("%d of %d requests failed around a jump of the clock to %s, the last one with %s", res.Errors, res.Requests+res.Errors, to, res.LastError)
		}
		if d == before {
			if err := t.jump(to); err != nil {
				return err
			}
		}
	}
	stop()
	beside.Wait()
	return t.goesOn(ctx)
}

// jump sets the clock.
func (t *clocked) jump(to time.Duration) error {
	before := t.clock.now()
	if err := t.clock.jump(to); err != nil {
		return err
	}
	t.count(jumpsOfTheClock, 1)
	if t.clock.now().Before(before) {
		t.count("  of them back", 1)
	}
	t.say("the clock is set to %s", t.clock.now().UTC().Format(time.RFC3339))
	return nil
}

// atRest makes the clock jump while nothing is imported: what is served must be the same before and
// after.
func (t *clocked) atRest(ctx context.Context, to time.Duration) error {
	if err := t.useUp(ctx); err != nil {
		return err
	}
	before, err := t.answers(ctx)
	if err != nil {
		return err
	}
	if err := t.jump(to); err != nil {
		return err
	}
	after, err := t.answers(ctx)
	if err != nil {
		return err
	}
	for path, text := range before {
		if after[path] != text {
			t.fail("the clock was set, and the response to %s differs:\n%s\n%s", path, tail(text), tail(after[path]))
		}
		t.count("responses compared before and after a jump", 1)
	}
	t.awaited(ctx, "a key that was at its limit", func() bool {
		code, _, err := t.server.get(ctx, "/stats", t.few.Key)
		return err == nil && code == http.StatusOK
	})
	if _, err := t.exportJob(ctx, t.server); err != nil {
		t.fail("after a jump of the clock: %v", err)
	}
	if err := t.goesOn(ctx); err != nil || to != beforeFills {
		return err
	}
	if err := t.importNext(ctx); status(err) != 1 || !strings.Contains(err.Error(), "rejected") {
		t.fail("fills that are ahead of the clock are not refused: %v", err)
	}
	t.count("imports of fills ahead of the clock that were refused", 1)
	if err := t.jump(5 * time.Minute); err != nil { // and accepted now
		return err
	}
	return t.goesOn(ctx)
}

// useUp sends requests with the key of the plan free until it reaches its limit. The plan has 30
// requests a minute, and a minute may end in the meantime.
func (t *clocked) useUp(ctx context.Context) error {
	for range 100 {
		code, text, err := t.server.get(ctx, "/stats", t.few.Key)
		switch {
		case err != nil:
			return err
		case code == http.StatusTooManyRequests:
			return nil
		case code != http.StatusOK:
			return fmt.Errorf("a request with a free key: status %d: %s", code, tail(text))
		}
	}
	return errors.New("a key of the plan free is not at its limit after 100 requests")
}

// answers requests what does not depend on the clock, and checks that its ETag is known.
func (t *clocked) answers(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, path := range []string{"/leaderboard/traders?period=7d", "/leaderboard/markets?period=30d&limit=20", "/stats", "/stats/daily?days=7", "/whales?period=30d", "/pmx-index"} {
		code, text, etag, err := t.server.ask(ctx, path, t.secrets()[0], "")
		if err != nil {
			return nil, err
		}
		if code != http.StatusOK || etag == "" {
			t.fail("%s: status %d: %s", path, code, tail(text))
		}
		all[path] = text
		if code, again, _, err := t.server.ask(ctx, path, t.secrets()[0], etag); err != nil || code != http.StatusNotModified && again != text {
			t.fail("%s with its ETag: status %d (%v)", path, code, err)
		}
	}
	return all, nil
}

// goesOn checks that everything continues within minutes after a jump, however far it was: a
// scheduled backup, refreshes, the follower; and that keys are valid according to the clock.
func (t *clocked) goesOn(ctx context.Context) error {
	backup, noBackup := grows(ctx, t.newestBackup)
	refresh, noRefresh := grows(ctx, t.refreshes)
	follows, noFollower := grows(ctx, t.followed)
	if err := errors.Join(noBackup, noRefresh, noFollower); err != nil {
		return err
	}
	t.awaited(ctx, "a backup of the schedule", backup)
	t.awaited(ctx, "a refresh", refresh)
	t.awaited(ctx, "who follows a venue", follows)
	for _, path := range []string{"/health", "/status/public", "/status/history"} {
		if code, text, err := t.server.get(ctx, path, ""); err != nil || code != http.StatusOK {
			t.fail("%s after a jump of the clock: status %d: %s (%v)", path, code, tail(text), err)
		}
	}
	if err := t.expiry(ctx); err != nil {
		return err
	}
	return errors.Join(t.held(ctx, t.server), t.server.alive(), t.follower.alive())
}

// grows reads a figure, and returns a function that reports whether it has grown since. A figure
// that cannot be read later has not grown.
func grows[T cmp.Ordered](ctx context.Context, figure func(context.Context) (T, error)) (func() bool, error) {
	was, err := figure(ctx)
	return func() bool {
		is, err := figure(ctx)
		return err == nil && is > was
	}, err
}

// awaited waits until something continues after a jump.
func (t *clocked) awaited(ctx context.Context, what string, done func() bool) {
	if !within(ctx, startWithin, done) {
		t.fail("%s does not continue: the clock is %s ahead of the machine's", what, time.Duration(t.clock.ahead)*time.Second)
	}
	t.count("schedules, sources and limits that continued after a jump", 1)
}

// expiry checks that the key that expires is accepted before its end and not afterwards.
func (t *clocked) expiry(ctx context.Context) error {
	code, text, err := t.server.get(ctx, "/me", t.short.Key)
	if err != nil {
		return err
	}
	if left := t.expires.Sub(t.clock.now()); left > 0 && code != http.StatusOK || left < 0 && (code != http.StatusUnauthorized || !strings.Contains(text, "expired_api_key")) {
		t.fail("a key that is valid for another %s: status %d: %s", left, code, tail(text))
	}
	t.count("uses of a key that expires", 1)
	return nil
}

// again kills the server, and starts the next one with the current clock.
func (t *clocked) again(ctx context.Context) (err error) {
	t.server.kill()
	t.count(killsOfServers, 1)
	if t.server, err = t.scheduled(ctx); err != nil {
		return err
	}
	return t.held(ctx, t.server)
}

// newestBackup is the number of the newest backup, as text; "" before the first.
func (t *clocked) newestBackup(context.Context) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.backups, "CURRENT"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	number, _, _ := strings.Cut(string(text), "-")
	return number, nil
}

// refreshes is how many refreshes the server has done.
func (t *clocked) refreshes(ctx context.Context) (float64, error) {
	m, err := t.server.metrics(ctx)
	return m[`pmx_work_total{result="ok",work="refresh"}`], err
}

// followed returns up to which time the follower has everything, as text; "" while it has nothing.
func (t *clocked) followed(ctx context.Context) (string, error) {
	code, text, err := t.follower.get(ctx, "/status/public", "")
	if err != nil {
		return "", err
	}
	var status struct {
		Data struct {
			Sources []struct {
				Name string `json:"name"`
				AsOf string `json:"as_of"`
			} `json:"sources"`
		} `json:"data"`
	}
	if code != http.StatusOK {
		return "", fmt.Errorf("/status/public: status %d: %s", code, tail(text))
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		return "", fmt.Errorf("/status/public: %s: %w", tail(text), err)
	}
	for _, s := range status.Data.Sources {
		if s.Name == "chain" {
			return s.AsOf, nil
		}
	}
	return "", nil
}

// within waits until something is done; false if it is not within that time.
func within(ctx context.Context, most time.Duration, done func() bool) bool {
	for began := time.Now(); ctx.Err() == nil && time.Since(began) < most; {
		if done() {
			return true
		}
		_ = guard.Sleep(ctx, 200*time.Millisecond)
	}
	return ctx.Err() != nil || done()
}
