package follow_test

import (
	"context"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pmx/data/testfiles"
	"pmx/engine/guard"
	"pmx/rollups/follow"
)

// TestEachStepOfTheTailIsOneRequest if its last block has a log: head, logs and the header of the
// block before come together. The result is that of importing the same logs as a file.
func TestEachStepOfTheTailIsOneRequest(t *testing.T) {
	h := chainOf(t)
	last := h.lonely(2)
	for name, c := range map[string]struct {
		blocks   []int64
		unproved bool
	}{"proved": {last, false}, "not proved": {last[1:], true}} {
		if !testfiles.Long() && c.unproved {
			continue // TestNewBlocksAreFollowed asks for ranges
		}
		t.Run(name, func(t *testing.T) {
			k := venue(t, t.TempDir())
			n := h.node("only")
			n.head, n.unproved = c.blocks[0]-7, c.unproved
			l := lane(t, h.options(k, n))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- l.Run(ctx) }()
			defer func() {
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}()
			until(t, func() bool { return l.Status().Committed == n.head })
			for _, block := range c.blocks {
				for _, head := range []int64{block - 6, block - 3, block} { // from which it learns how far the head moves
					asked := n.counted()
					n.setHead(head)
					until(t, func() bool { return l.Status().Committed == head })
					if got := n.counted() - asked; got != 1 && head == block {
						t.Errorf("logs up to block %d were given %d times", head, got)
					}
				}
			}
			if want := len(c.blocks); !c.unproved && n.proved != want || c.unproved && n.proved > 0 {
				t.Errorf("%d of the %d steps with logs were one request", n.proved, want)
			}
			n.setHead(h.last + 40)
			until(t, func() bool { return l.Status().Committed == h.last+40 })
			mustEqual(t, k, h.want(t))
		})
	}
}

// until waits until is returns true.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}

// lonely returns the last n blocks with logs that have none in the ten blocks before.
func (h *history) lonely(n int) (blocks []int64) {
	all := slices.Sorted(maps.Keys(h.logs))
	for i := len(all) - 1; len(blocks) < n; i-- {
		if all[i]-all[i-1] > 10 {
			blocks = append([]int64{all[i]}, blocks...)
		}
	}
	return blocks
}

// setHead makes a block the newest final one.
func (n *node) setHead(block int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.head = block
}

// counted returns how often it returned logs.
func (n *node) counted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks
}

// TestAStuckNodeIsNotWaitedFor: a node that always returns the same final block does not
// keep the lane from blocks of another node.
func TestAStuckNodeIsNotWaitedFor(t *testing.T) {
	h := smallChain(t)
	k := venue(t, t.TempDir())
	stopped, good := h.node("stopped"), h.node("good")
	stopped.head = (h.first + h.last) / 2
	good.head = stopped.head
	o := h.options(k, stopped, good)
	began := time.Now()
	o.Now = func() time.Time { return began.Add(100 * time.Since(began)) }
	l := lane(t, o)
	defer running(t, l)()
	until(t, func() bool { return l.Status().Committed == stopped.head })
	good.setHead(h.last + 40)
	until(t, func() bool { return l.Status().Committed == h.last+40 })
	mustEqual(t, k, h.want(t))
}

// TestANodeThatIsBehindDoesNotSetTheHead: a node that moves but stays behind another does not keep the
// lane from blocks of the other.
func TestANodeThatIsBehindDoesNotSetTheHead(t *testing.T) {
	h := smallChain(t)
	k := venue(t, t.TempDir())
	behind, good := h.node("behind"), h.node("good")
	proved := slices.Sorted(maps.Keys(h.logs)) // a look at one of them has its logs, and no range is requested
	most := len(proved) - 1
	behind.head, good.head = proved[most/2], proved[most/2]
	compared := false
	good.fail = func(from, _ int64) error {
		if compared = compared || from == 0; !compared {
			return errors.New("busy")
		}
		return nil
	}
	o := h.options(k, behind, good)
	began := time.Now()
	o.Now = func() time.Time { return began.Add(100 * time.Since(began)) }
	var compares atomic.Int64 // how often one of the nodes was about to be compared
	o.Sleep = func(ctx context.Context, d time.Duration) error {
		if d != follow.CompareEvery {
			return guard.Sleep(ctx, d/100)
		}
		compares.Add(1)
		return guard.Sleep(ctx, time.Millisecond)
	}
	l := lane(t, o)
	defer running(t, l)()
	until(t, func() bool { return l.Status().Committed >= behind.head })
	good.setHead(h.last + 40)
	for n := most/2 + 1; l.Status().Committed <= proved[n]; n++ { // it always has a newer one
		if n == most {
			t.Fatalf("the lane is where the node is: %+v", l.Status())
		}
		behind.setHead(proved[n])
		until(t, func() bool { return l.Status().Committed >= proved[n] })
		// Everything is committed, and nothing changes until each node was asked once more.
		seen := compares.Load()
		until(t, func() bool { return compares.Load() >= seen+6 })
	}
	until(t, func() bool { return l.Status().Committed == h.last+40 })
	mustEqual(t, k, h.want(t))
}

// TestASilentNodeIsNotWaitedFor: while another is available, a look and a range end without it, and
// if only new blocks are missing it gets no requests.
func TestASilentNodeIsNotWaitedFor(t *testing.T) {
	testfiles.InLong(t, "TestAFailingNodeIsNotAsked stops requests to one")
	h := smallChain(t)
	k := venue(t, t.TempDir())
	silent, good := h.node("silent"), h.node("good")
	blocks := slices.Sorted(maps.Keys(h.logs))
	silent.head, good.head = blocks[len(blocks)/2], blocks[len(blocks)/2]
	o := h.options(k, silent, good)
	o.LookIn = 300 * time.Millisecond
	began := time.Now()
	o.Now = func() time.Time { return began.Add(10 * time.Since(began)) } // its rest is short
	l := lane(t, o)
	defer running(t, l)()
	until(t, func() bool { return l.Status().Committed == good.head })
	asked := func() (n int) {
		silent.mu.Lock()
		defer silent.mu.Unlock()
		return silent.looks + silent.asks
	}
	silent.mu.Lock()
	silent.silent, silent.looks, silent.asks = true, 0, 0
	fell := o.Now()
	silent.mu.Unlock()
	good.mu.Lock()
	good.unproved = true // so that ranges are requested
	good.mu.Unlock()
	for _, head := range append(blocks[len(blocks)-testfiles.Cases(6, 20):], h.last+40) {
		silent.setHead(head)
		good.setHead(head)
		until(t, func() bool { return l.Status().Committed == head })
		time.Sleep(10 * time.Millisecond)
	}
	// Requests in flight when it fell silent, one more of each, and one after each of its rests: the first is a second, each of
	// the next is twice as long, up to a minute.
	seconds := uint64(o.Now().Sub(fell) / time.Second)
	rests := bits.Len64(min(seconds, 63)) + int(seconds/60)
	if n := asked(); n == 0 || n > 4+rests {
		t.Errorf("it was waited for %d times in %d rests", n, rests)
	}
	if n := l.Status().Nodes[0]; n.Errors == 0 || !strings.Contains(n.LastError, "another node") {
		t.Errorf("%+v", n)
	}
	mustEqual(t, k, h.want(t))
}

// running runs a lane until end is called.
func running(t *testing.T, l *follow.Chain) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	return func() {
		cancel()
		<-ended
	}
}
