package follow_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"pmx/data/chain"
	"pmx/engine/guard"
)

// TestABlockIsRequestedAgain: payouts, and fills around them, that all nodes omitted from a range
// that looked normal are imported when another source names their block.
func TestABlockIsRequestedAgain(t *testing.T) {
	h := smallChain(t)
	k := venue(t, t.TempDir())
	resolves := int64(0)
	for b, logs := range h.logs {
		for i := range logs {
			if e, err := chain.NewDecoder(chain.Contracts()).Decode(logs[i]); err == nil && e.Kind == chain.Resolved && b > resolves && b < h.last {
				resolves = b
			}
		}
	}
	forgetful, good := h.node("forgetful"), h.node("good")
	all := map[int64]bool{}
	for b := range h.logs {
		all[b] = b == resolves
	}
	lose := func(_, _, block int64, _ int) bool { return all[block] }
	forgetful.lose, good.lose = lose, lose
	s := once(t, h.options(k, forgetful, good))
	want := h.want(t)
	if lost := int64(len(want["fills"])) - s.Fills; resolves == 0 || lost < 0 || len(rowsOf(t, k, "SELECT condition FROM markets WHERE payouts IS NOT NULL")) == 0 || s.GapBlocks != 0 {
		t.Fatalf("block %d, %d fills are lost: %+v", resolves, lost, s)
	}
	good.lose = nil
	c := lane(t, h.options(k, forgetful, good))
	c.Recheck(resolves, h.last+1_000_000) // the other block is not final yet
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := guard.Start(func() error { return c.Run(ctx) })
	for ctx.Err() == nil && c.Status().Rechecked == 0 {
		_ = guard.Sleep(ctx, 5*time.Millisecond)
	}
	cancel()
	<-ended
	if s := c.Status(); s.Rechecked != 1 || s.AuditDiffers != 1 {
		t.Errorf("%+v", s)
	}
	mustEqual(t, k, want)
}

// TestABlockThatANodeDoesNotReturnIsRequestedAgain: the response of the other node does not count.
func TestABlockThatANodeDoesNotReturnIsRequestedAgain(t *testing.T) {
	h := smallChain(t)
	k := venue(t, t.TempDir())
	block := slices.Sorted(maps.Keys(h.logs))[len(h.logs)/2]
	forgetful, good := h.node("forgetful"), h.node("good")
	lose := func(_, _, b int64, _ int) bool { return b == block }
	forgetful.lose, good.lose = lose, lose
	once(t, h.options(k, forgetful, good))
	good.lose = nil
	refusals := 0
	good.fail = func(from, to int64) error { // three times it does not answer for the block
		if from == block && to == block && refusals < 3 {
			refusals++
			return errors.New("busy")
		}
		return nil
	}
	o := h.options(k, forgetful, good)
	began := time.Now()
	o.Now = func() time.Time { return began.Add(1000 * time.Since(began)) }
	c := lane(t, o)
	c.Recheck(block)
	defer running(t, c)()
	until(t, func() bool { return c.Status().Rechecked == 1 })
	if s := c.Status(); s.AuditDiffers != 1 || refusals != 3 {
		t.Errorf("%d refusals: %+v", refusals, s)
	}
	mustEqual(t, k, h.want(t))
}
