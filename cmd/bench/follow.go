package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"pmx/engine"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// unhurried is a venue whose figures are computed only when requested, so that their cost can be
// measured separately.
type unhurried struct{ *keeper.Keeper }

// Commit commits rows as if the lane had not caught up.
func (v unhurried) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	coming.Fills = max(coming.Fills, 1)
	return v.Keeper.Commit(ctx, rows, coming)
}

// catchUp measures following a venue from its first block, with an empty database, until the
// figures of all fills are served.
func (b *bench) catchUp() error {
	n, err := startNode(b.ctx, nodeConfig{Fills: b.Behind, Kept: true})
	if err != nil {
		return err
	}
	defer func() { _ = n.stop() }()
	dir := b.path("followed")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	k, err := open(b.ctx, dir, true)
	if err != nil {
		return err
	}
	err = b.catchUpTo(n, k)
	return errors.Join(err, k.Close(), os.RemoveAll(dir))
}

func (b *bench) catchUpTo(n *node, k *keeper.Keeper) error {
	c, done, err := n.follow(unhurried{k}, n.First, func(n follow.Node) follow.Node { return n })
	if err != nil {
		return err
	}
	defer done()
	quiet, resting := restingMemory(), anonymousMemory()
	worked, sampled := processorTime(), sampleMemory()
	facts, err := timed(func() error { return c.Once(b.ctx) })
	ofFacts := sampled()
	if err != nil {
		return err
	}
	if got := c.Status().Fills; got != b.Behind {
		return fmt.Errorf("%d of %d fills were imported", got, b.Behind)
	}
	peak, forFacts := peakMemory()-quiet, processorTime()-worked
	sampled = sampleMemory()
	rebuild, err := untilServed(b.ctx, k)
	k.Settle() // what runs after the figures are served is part of the work, but not of the wait
	ofFigures := sampled()
	if err != nil {
		return err
	}
	all, processor := facts+rebuild, processorTime()-worked
	theirs, err := n.worked()
	if err != nil {
		return err
	}
	b.add("catch up "+count(b.Behind)+" fills with a node's chain, to figures that are served", perSecond(b.Behind, all),
		fmt.Sprintf("%s, of which the figures %s; %s of processor time, of which %s; the node's own %s", tenths(all), tenths(rebuild),
			tenths(processor), tenths(processor-forFacts), tenths(theirs)),
		"", "≥ 150k/s")
	b.add("memory in addition to serving, while catching up", mega(peak), "with the figures "+mega(peakMemory()-quiet), "", "≤ 512 MB")
	b.add("the same without pages of files", mega(ofFacts.most-resting), fmt.Sprintf("with the figures %s; medians %s and %s",
		mega(max(ofFacts.most, ofFigures.most)-resting), mega(ofFacts.median-resting), mega(ofFigures.median-resting)), "", "≤ 512 MB")
	return nil
}

// untilServed rebuilds the figures and returns how long that took until they were served; the
// checkpoint comes afterwards.
func untilServed(ctx context.Context, k *keeper.Keeper) (time.Duration, error) {
	began, served := time.Now(), time.Duration(0)
	k.OnPublish(func(*serving.Snapshot) { served = time.Since(began) })
	err := k.Refresh(ctx, nil)
	if err == nil && served == 0 {
		err = errors.New("no figures are served after a rebuild")
	}
	return served, err
}

// restingMemory returns the resident size after everything that is not needed was released,
// including the memory that DuckDB's allocator keeps. It also resets the peak.
func restingMemory() int64 {
	engine.ReturnMemory()
	resetPeak()
	return peakMemory()
}

// processorTime returns the processor time of this process over all cores, including system time.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func tenths(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func mega(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// percentiles returns the median and the 99th percentile; for few values that is the largest.
func percentiles(d []time.Duration) string {
	d = slices.Clone(d)
	slices.Sort(d)
	return fmt.Sprintf("p50 %s, p99 %s", d[len(d)/2].Round(time.Millisecond), d[(len(d)*99+99)/100-1].Round(time.Millisecond))
}
