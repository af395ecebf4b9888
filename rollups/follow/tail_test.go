package follow_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"
)

// TestEachStepOfTheTailIsOneRequest where its last block has a log: head, logs and the header of
// the block before come together. What they come to is what the same logs come to as a file.
func TestEachStepOfTheTailIsOneRequest(t *testing.T) {
	h := chainOf(t)
	last := h.lonely(2)
	for name, c := range map[string]struct {
		blocks   []int64
		unproved bool
	}{"proved": {last, false}, "not proved": {last[1:], true}} {
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
			until(t, func() bool { return l.State().Committed == n.head })
			for _, block := range c.blocks {
				for _, head := range []int64{block - 6, block - 3, block} { // which teaches how far it goes
					asked := n.counted()
					n.setHead(head)
					until(t, func() bool { return l.State().Committed == head })
					if got := n.counted() - asked; got != 1 && head == block {
						t.Errorf("logs up to block %d were given %d times", head, got)
					}
				}
			}
			if want := len(c.blocks); !c.unproved && n.proved != want || c.unproved && n.proved > 0 {
				t.Errorf("%d of the %d steps with logs were one request", n.proved, want)
			}
			n.setHead(h.last + 40)
			until(t, func() bool { return l.State().Committed == h.last+40 })
			mustEqual(t, k, h.want(t))
		})
	}
}

// until waits for something that comes.
func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come")
		}
	}
}

// lonely gives the last n blocks with logs that have none in the ten before them.
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

// counted is how often it gave logs.
func (n *node) counted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks
}

// TestANodeThatStandsStillIsNotWaitedFor: one that gives the same final block for ever keeps the
// lane from nothing that another node has.
func TestANodeThatStandsStillIsNotWaitedFor(t *testing.T) {
	h := smallChain(t)
	k := venue(t, t.TempDir())
	stopped, good := h.node("stopped"), h.node("good")
	stopped.head = (h.first + h.last) / 2
	good.head = stopped.head
	o := h.options(k, stopped, good)
	began := time.Now()
	o.Now = func() time.Time { return began.Add(100 * time.Since(began)) }
	l := lane(t, o)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	until(t, func() bool { return l.State().Committed == stopped.head })
	good.setHead(h.last + 40)
	until(t, func() bool { return l.State().Committed == h.last+40 })
	mustEqual(t, k, h.want(t))
}
