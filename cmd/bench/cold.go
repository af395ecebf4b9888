package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// errNotDropped means that the system's cache of files cannot be emptied by this user.
var errNotDropped = errors.New("only root on Linux can empty the system's cache of files")

// dropCache empties the system's cache of files: what both servers read next comes from the disk.
func dropCache() error {
	syscall.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0o200); err != nil {
		return fmt.Errorf("%w: %w", errNotDropped, err)
	}
	return nil
}

// turn is one of several measurements in turns.
type turn struct {
	rate     float64 // requests a second
	p50, p99 time.Duration
}

// middleOf returns the turn with the middle rate.
func middleOf(turns []turn) turn {
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.rate, b.rate) })
	return turns[len(turns)/2]
}

// cold measures the endpoints of random wallets just after a start and with nothing in the cache of files, compared with PostgreSQL in
// the same condition, in turns.
func (b *bench) cold() error {
	what := "just after a start, nothing in the cache of files: "
	if err := dropCache(); err != nil {
		b.add(what+"one wallet", "", "skipped: "+err.Error(), "", "≥ 2.00")
		return nil
	}
	rival, err := b.rivalWallets()
	if errors.Is(err, errNoPostgres) {
		b.add(what+"one wallet", "", "skipped: "+err.Error(), "", "≥ 2.00")
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = rival.stop() }()
	for _, r := range walletReads {
		var ours, theirs []turn
		for round := range uint64(3) {
			o, wallets, err := b.coldReads(r.path, round)
			if err != nil {
				return err
			}
			ours = append(ours, o)
			if err := errors.Join(rival.restart(b.ctx), dropCache()); err != nil {
				return err
			}
			rate, p50, p99, err := rival.ask(b.ctx, r.rival, b.Conns, wallets)
			if err != nil {
				return err
			}
			theirs = append(theirs, turn{rate, p50, p99})
		}
		o, t := middleOf(ours), middleOf(theirs)
		b.add(what+r.what, count(int64(o.rate))+"/s, p50 "+short(o.p50).String()+", p99 "+short(o.p99).String(), "PostgreSQL "+count(int64(t.rate))+"/s, p50 "+short(t.p50).String()+", p99 "+short(t.p99).String(),
			ratio(o.rate, t.rate), "≥ 2.00")
	}
	return nil
}

// coldReads measures one endpoint of a server that has just started. It also returns the number of wallets.
func (b *bench) coldReads(path string, seed uint64) (t turn, wallets int, err error) {
	s, err := b.serve("large")
	if err != nil {
		return t, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.keeper.Settle()
	snap := s.keeper.Snapshot()
	paths := randomWallets(snap, path, seed)
	if err := dropCache(); err != nil {
		return t, 0, err
	}
	o, err := s.ask(b.ctx, paths)
	return turn{o.PerSecond, o.P50, o.P99}, snap.Wallets(), err
}
