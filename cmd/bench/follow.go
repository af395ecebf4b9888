package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/data/sample"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// unhurried is a venue whose figures wait until they are asked for, so that what they take is
// seen apart.
type unhurried struct{ *keeper.Keeper }

// Commit commits rows as of one who has not caught up.
func (v unhurried) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	coming.Fills = max(coming.Fills, 1)
	return v.Keeper.Commit(ctx, rows, coming)
}

// catchUp measures following a venue from its first block, with an empty database, until the
// figures of all fills are served.
func (b *bench) catchUp() error {
	n, err := startNode(b.ctx, played{Fills: b.Behind, Kept: true})
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
	quiet := restingMemory()
	worked := processorTime()
	facts, err := timed(func() error { return c.Once(b.ctx) })
	if err != nil {
		return err
	}
	if got := c.State().Fills; got != b.Behind {
		return fmt.Errorf("%d fills of %d came in", got, b.Behind)
	}
	peak, forFacts := peakMemory()-quiet, processorTime()-worked
	rebuild, err := timed(func() error { return k.Refresh(b.ctx, nil) })
	if err != nil {
		return err
	}
	k.Settle() // what goes on behind the figures is a part of the work, not of the wait
	all, processor := facts+rebuild, processorTime()-worked
	theirs, err := n.worked()
	if err != nil {
		return err
	}
	b.add("catch up "+count(b.Behind)+" fills with a node's chain, to figures that are served", perSecond(b.Behind, all),
		fmt.Sprintf("%s, of which the figures %s; %s of processor time, of which %s; the node's own %s", tenths(all), tenths(rebuild),
			tenths(processor), tenths(processor-forFacts), tenths(theirs)),
		"", "≥ 150k/s")
	b.add("memory beside serving while catching up", mega(peak), "with the figures "+mega(peakMemory()-quiet), "", "≤ 512 MB")
	return nil
}

// How the tail is measured: how often, and how many fills each time. What is new at first has
// the server read what it does later from memory, and does not count.
const (
	tailSteps = 30
	tailFirst = 2
	tailFills = 300
	tailRows  = 2 * (tailSteps + tailFirst) * tailFills // that the history lacks
)

// tail measures from when fills are final to the first response with them, in a server that
// follows, and what it takes beside serving.
func (b *bench) tail() (err error) {
	if err := b.tailVenue(); err != nil {
		return err
	}
	n, err := startNode(b.ctx, played{Fills: b.History, From: b.History - tailRows, Steps: tailFirst + tailSteps, Each: tailFills})
	if err != nil {
		return err
	}
	defer func() { _ = n.stop() }()
	s, err := b.serve("tail")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.keeper.Settle()
	quiet := restingMemory()
	asked := &askedNode{}
	c, done, err := n.follow(s.keeper, n.Steps[0].First, func(n follow.Node) follow.Node { asked.Node = n; return asked })
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	var took, own []time.Duration
	for i, step := range n.Steps {
		time.Sleep(rand.N(2 * time.Second)) // wherever between two looks for new blocks
		began := time.Now()
		if err := n.at(b.ctx, step.Clock); err != nil {
			return err
		}
		seen, err := s.waitFor(b.ctx, step.Newest)
		if err != nil {
			return fmt.Errorf("%w: %s", err, c.State().Error)
		}
		if i >= tailFirst {
			took, own = append(took, seen.Sub(began)), append(own, seen.Sub(asked.last()))
		}
	}
	fmt.Fprintf(os.Stderr, "  %v\n  %v\n", took, own)
	b.add(fmt.Sprintf("%d fills final to the first response with them, at %s", tailFills, count(b.History)), percentiles(took),
		"from when the node is asked: "+percentiles(own), "", "p99 ≤ 1 s")
	b.add("memory beside serving while following", mega(peakMemory()-quiet), "the server at rest "+mega(quiet), "", "≤ 64 MB")
	return nil
}

// tailVenue makes a venue that a chain could hold, without its newest fills.
func (b *bench) tailVenue() error {
	dir, files := b.path("tail"), b.path("tail-files")
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(files)); err != nil {
		return err
	}
	if b.History <= 2*tailRows {
		return fmt.Errorf("--history %d: must be above %d", b.History, 2*tailRows)
	}
	if _, err := sample.Write(b.ctx, sample.Config{Fills: b.History, PartRows: b.History - tailRows, Chain: true}, files, nil); err != nil {
		return err
	}
	parts, err := filepath.Glob(filepath.Join(files, "orderFilled*.csv"))
	if err != nil {
		return err
	}
	slices.Sort(parts)
	for _, newest := range parts[1:] {
		if err := os.Remove(newest); err != nil {
			return err
		}
	}
	k, err := open(b.ctx, dir, false)
	if err != nil {
		return err
	}
	return errors.Join(b.importParts(k, files), k.Close())
}

// askedNode notes when it was asked for logs last.
type askedNode struct {
	follow.Node
	mu sync.Mutex
	at time.Time
}

// Logs asks the node.
func (n *askedNode) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Answer, error) {
	n.mu.Lock()
	n.at = time.Now()
	n.mu.Unlock()
	return n.Node.Logs(ctx, from, to, addresses, topics)
}

func (n *askedNode) last() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.at
}

// longestTail is after how long it is given up to wait for fills.
const longestTail = 30 * time.Second

// waitFor asks for a leaderboard until it is of a time, and gives when it was.
func (s *service) waitFor(ctx context.Context, newest time.Time) (time.Time, error) {
	req, res := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(res)
	req.SetRequestURI("http://" + s.addr + "/api/v3/leaderboard/traders")
	want := newest.Format(time.RFC3339)
	for began, i := time.Now(), 0; time.Since(began) < longestTail; i++ {
		req.Header.Set("X-API-Key", s.keys[i%len(s.keys)])
		if err := fasthttp.Do(req, res); err != nil {
			return time.Time{}, err
		}
		if res.StatusCode() == http.StatusOK && strings.Contains(string(res.Body()), want) {
			return time.Now(), ctx.Err()
		}
		time.Sleep(5 * time.Millisecond)
	}
	return time.Time{}, fmt.Errorf("no response (%d) has the fills of %s", res.StatusCode(), want)
}

// restingMemory is the resident size once all that is not needed was given back; from then on
// the peak is counted anew.
func restingMemory() int64 {
	debug.FreeOSMemory()
	resetPeak()
	return peakMemory()
}

// processorTime is what this process has used, of all cores, the system's part with it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func tenths(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func mega(n int64) string { return fmt.Sprintf("%d MB", n>>20) }

// percentiles gives the median and the 99th percentile, which of few is the longest.
func percentiles(d []time.Duration) string {
	d = slices.Clone(d)
	slices.Sort(d)
	return fmt.Sprintf("p50 %s, p99 %s", d[len(d)/2].Round(time.Millisecond), d[(len(d)*99+99)/100-1].Round(time.Millisecond))
}
