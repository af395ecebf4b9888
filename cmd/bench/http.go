package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net"
	"os"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"pmx/cmd/bench/load"
	"pmx/data"
	"pmx/engine"
	"pmx/engine/control"
	"pmx/http/access"
	"pmx/http/api"
	"pmx/http/server"
	"pmx/rollups/keeper"
)

const (
	lasting = 5 * time.Second
	keyRing = 64 // alpha keys, enough to stay below the rate limit
)

// service is the whole server on a loopback address.
type service struct {
	keeper *keeper.Keeper
	keys   []string
	addr   string
	conns  int
	stop   context.CancelFunc
	done   chan error
	ctl    *control.DB
}

func (b *bench) serve(name string) (*service, error) {
	engine.AddSpareProcs()
	s := &service{done: make(chan error, 1), conns: b.Conns}
	var err error
	if s.keeper, err = open(b.ctx, b.path(name), true); err != nil {
		return nil, err
	}
	if s.ctl, err = control.Open(b.ctx, s.keeper.DB().Dir().Control(), time.Now); err != nil {
		return nil, err
	}
	for i := range keyRing {
		secret, hash, err := access.NewSecret(rand.Reader)
		if err != nil {
			return nil, err
		}
		if _, err := s.ctl.IssueKey(b.ctx, hash, "alpha", fmt.Sprint("bench ", i)); err != nil {
			return nil, err
		}
		s.keys = append(s.keys, secret)
	}
	log := zerolog.New(os.Stderr).Level(zerolog.WarnLevel)
	gate, err := access.NewGate(b.ctx, s.ctl, log)
	if err != nil {
		return nil, err
	}
	a, err := api.New(api.Config{Source: s.keeper, Reader: s.keeper.Reader(), Gate: gate, Version: "bench", CursorKey: make([]byte, 32)})
	if err != nil {
		return nil, err
	}
	s.keeper.OnPublish(a.Publish)
	srv, err := server.New(server.Config{API: a, Listen: "127.0.0.1:0", Log: log})
	if err != nil {
		return nil, err
	}
	s.addr = srv.Addr().String()
	ctx, cancel := context.WithCancel(b.ctx)
	s.stop = cancel
	leaderboards := make(chan error, 1)
	go func() { leaderboards <- a.KeepLeaderboards(ctx, api.LeaderboardsPause, zerolog.Nop()) }()
	go func() {
		err := srv.Serve(ctx)
		cancel() // if it ended early
		s.done <- errors.Join(err, <-leaderboards)
	}()
	return s, nil
}

func (s *service) close() error {
	s.stop()
	return errors.Join(<-s.done, s.ctl.Close(), s.keeper.Close())
}

// http measures requests per second in turns with Fiber serving a constant body of the same size.
func (b *bench) http() error {
	s, err := b.serve("large")
	if err != nil {
		return err
	}
	leaderboard := "/api/v3/leaderboard/traders?limit=50"
	stats := walletPaths(s)
	for _, c := range []struct {
		what  string
		paths []string
		bar   string
	}{
		{"leaderboard, 50 rows", []string{leaderboard}, "≥ 0.85"},
		{"leaderboard, 200 rows", []string{"/api/v3/leaderboard/traders?limit=200"}, "≥ 0.85"},
		{"stats of random wallets", stats, "≥ 0.60"},
	} {
		if err := b.compareWithFloor(s, c.what, c.paths, c.bar); err != nil {
			return errors.Join(err, s.close())
		}
	}
	return s.close()
}

// walletPaths returns paths of random wallets.
func walletPaths(s *service) []string {
	snap := s.keeper.Snapshot()
	rng := mrand.New(mrand.NewPCG(1, 2))
	paths := make([]string, 20_000)
	for i := range paths {
		paths[i] = "/api/v3/trader/" + snap.WalletAt(data.WalletID(rng.IntN(snap.Wallets()))).String() + "/stats"
	}
	return paths
}

func (b *bench) compareWithFloor(s *service, what string, paths []string, bar string) error {
	ours, floor, err := b.alternate(s, paths, lasting)
	if err != nil {
		return err
	}
	b.add(what, fmt.Sprintf("%s/s, p50 %s, p99 %s", count(int64(ours.PerSecond)), short(ours.P50), short(ours.P99)),
		"Fiber's constant body "+count(int64(floor.PerSecond))+"/s", ratio(ours.PerSecond, floor.PerSecond), bar)
	return nil
}

// alternate requests paths from s and from Fiber's constant body of the same size, three times each
// in turns, and returns the median run of each.
func (b *bench) alternate(s *service, paths []string, each time.Duration) (ours, floor load.Result, err error) {
	run := func(addr string) (load.Result, error) {
		return ask(b.ctx, load.Config{Addr: addr, Paths: paths, Keys: s.keys, Conns: b.Conns, Duration: each})
	}
	var mine, theirs []load.Result
	var at string
	for range 3 {
		o, err := run(s.addr)
		if err != nil {
			return ours, floor, err
		}
		if at == "" {
			addr, stop, err := constant(int(o.Bytes / max(o.Requests, 1)))
			if err != nil {
				return ours, floor, err
			}
			defer stop()
			at = addr
		}
		f, err := run(at)
		if err != nil {
			return ours, floor, err
		}
		mine, theirs = append(mine, o), append(theirs, f)
	}
	byRate := func(x, y load.Result) int { return cmp.Compare(x.PerSecond, y.PerSecond) }
	slices.SortFunc(mine, byRate)
	slices.SortFunc(theirs, byRate)
	return mine[1], theirs[1], nil
}

func middle(v []float64) float64 {
	a, b, c := v[0], v[1], v[2]
	return max(min(a, b), min(max(a, b), c))
}

// constant serves only a body of size bytes, at every path: it gets the same requests as pmx,
// including the key, so that they cost the same.
func constant(size int) (addr string, stop func(), err error) {
	body := bytes.Repeat([]byte("x"), size)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/*", func(c *fiber.Ctx) error { return c.Send(body) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = app.Listener(l) }()
	return l.Addr().String(), func() { _ = app.Shutdown(); <-done }, nil
}
