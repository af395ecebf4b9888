package follow_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/testfiles"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
)

// TestFollowingIsImporting: following gives the same tables as importing the same logs as a file,
// and following again adds nothing.
func TestFollowingIsImporting(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir(), served)
	s := once(t, h.options(k, h.node("a"), h.node("b")))
	mustEqual(t, k, h.want(t))
	alsoVerify(t, k)
	if s.GapBlocks != 0 || s.Answered != 0 || s.Committed != h.last+40 || s.Logs != int64(h.count) || s.Phase != "IDLE" || s.AsOf.IsZero() {
		t.Errorf("%+v", s)
	}
	if s := once(t, h.options(k, h.node("a"))); s.Fills != 0 || s.Ranges != 0 || s.Committed != h.last+40 {
		t.Errorf("once more: %+v", s)
	}
	mustEqual(t, k, h.want(t))
}

// TestLostLogsAreNoticedAndRepaired: one node omits logs without an error; the other has them.
func TestLostLogsAreNoticedAndRepaired(t *testing.T) {
	h := chainOf(t)
	for name, lose := range map[string]func(from, to, block int64, nth int) bool{
		"the first log of a match": func(_, _, block int64, nth int) bool { return nth == 0 && block%3 == 0 && h.isFill(block, nth) },
		"single logs":              func(_, _, block int64, nth int) bool { return (block+int64(nth))%7 == 0 && h.isFill(block, nth) },
		"whole answers":            func(from, to, _ int64, _ int) bool { return to-from > 20 },
	} {
		t.Run(name, func(t *testing.T) {
			k := venue(t, t.TempDir())
			bad, good := h.node("bad"), h.node("good")
			lost := make(chan struct{})
			first := sync.OnceFunc(func() { close(lost) })
			bad.lose = func(from, to, block int64, nth int) bool {
				if !lose(from, to, block, nth) {
					return false
				}
				first()
				return true
			}
			var log bytes.Buffer
			o := h.options(k, bad, good)
			// However the nodes are scheduled, the first range that matters is the bad one's.
			o.Nodes[1], o.InFlight = &second{node: good, lose: lose, until: lost}, 1
			o.Log = zerolog.New(zerolog.SyncWriter(&log)) // several goroutines log at once
			s := once(t, o)
			mustEqual(t, k, h.want(t))
			if s.Suspect == 0 || s.Disagreed == 0 || s.Nodes[0].Lied == 0 || s.Nodes[1].Lied != 0 {
				t.Errorf("%+v", s)
			}
			for line := range strings.Lines(log.String()) { // an operator replaces the node that it names
				if strings.Contains(line, "different logs") && !strings.Contains(line, `"node":"bad","believed":"good"`) {
					t.Error(line)
				}
			}
			if n := strings.Count(log.String(), "different logs"); int64(n) != s.Disagreed {
				t.Errorf("%d of %d are logged", n, s.Disagreed)
			}
		})
	}
}

// second is a node that answers for a range in which another would lose logs only after that one
// has lost some.
type second struct {
	*node
	lose  func(from, to, block int64, nth int) bool
	until <-chan struct{}
}

func (s *second) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Answer, error) {
	if s.loses(from, to) {
		select {
		case <-s.until:
		case <-ctx.Done():
			return follow.Answer{}, context.Cause(ctx)
		}
	}
	return s.node.Logs(ctx, from, to, addresses, topics)
}

func (s *second) loses(from, to int64) bool {
	for b := max(from, s.first); b <= min(to, s.last); b++ {
		for i := range s.logs[b] {
			if s.lose(from, to, b, i) {
				return true
			}
		}
	}
	return false
}

// TestMatchesThatAreNotWholeAreNotCommitted: with one node they are requested repeatedly and
// reported; everything else is committed.
func TestMatchesThatAreNotWholeAreNotCommitted(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	n := h.node("only")
	broken := h.first
	for len(h.logs[broken]) < 2 {
		broken++
	}
	n.lose = func(_, _, block int64, nth int) bool { return block == broken && nth == 0 }
	now := newClock()
	o := h.options(k, n)
	o.Now = now.time
	now.pace(t, 50)
	c := lane(t, o)
	err := c.Once(t.Context())
	s := c.Status()
	if err == nil || len(s.Held) != 1 || s.Held[0].From > broken || s.Held[0].To < broken || s.Phase != follow.Quarantine || s.NotWhole == 0 || s.Committed >= broken {
		t.Fatalf("err = %v, s = %+v", err, s)
	}
	if s.GapBlocks != s.Held[0].To-s.Held[0].From+1 {
		t.Errorf("%d blocks are missing, held back are %+v", s.GapBlocks, s.Held)
	}
	n.lose = nil
	once(t, o)
	mustEqual(t, k, h.want(t))
}

// TestAHeldRangeIsRequestedInParts if the node's limit is lower by then.
func TestAHeldRangeIsRequestedInParts(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	n := h.node("only")
	broken := h.first
	for len(h.logs[broken]) < 2 {
		broken++
	}
	losing := true
	n.lose = func(_, _, block int64, nth int) bool { return losing && block == broken && nth == 0 }
	asked, refused := 0, 0
	n.got = func(from, to int64, _ []data.Address) {
		if from > broken || to < broken {
			return
		}
		if asked++; asked == 2 {
			losing, n.most = false, (to-from+1)/3
		}
		if n.most > 0 && to-from+1 > n.most {
			refused++
		}
	}
	now := newClock()
	o := h.options(k, n)
	o.Now = now.time
	now.pace(t, 50)
	once(t, o)
	mustEqual(t, k, h.want(t))
	if refused == 0 || refused > 10 {
		t.Errorf("%d ranges were too wide", refused)
	}
}

// TestTwoNodesThatAgreeAreBelieved: unusual logs that two nodes agree on are accepted and counted.
func TestTwoNodesThatAgreeAreBelieved(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	a, b := h.node("a"), h.node("b")
	broken := h.first
	for len(h.logs[broken]) < 2 {
		broken++
	}
	a.lose = func(_, _, block int64, nth int) bool { return block == broken && nth == 0 }
	b.lose = a.lose
	s := once(t, h.options(k, a, b))
	if s.OddGroups == 0 || s.AuditsDue == 0 || s.GapBlocks != 0 {
		t.Errorf("%+v", s)
	}
}

// TestRangesAreAsWideAsANodeAnswers, whether the node names its limit or only refuses.
func TestRangesAreAsWideAsANodeAnswers(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	n := h.node("narrow")
	n.most = 3_000
	s := once(t, h.options(k, n))
	mustEqual(t, k, h.want(t))
	if s.Nodes[0].Width > 2*n.most || s.Nodes[0].Width < n.most/2 {
		t.Errorf("s.Nodes[0] = %+v", s.Nodes[0])
	}
}

// TestAFailingNodeIsNotAsked, and the other is used.
func TestAFailingNodeIsNotAsked(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	bad, good := h.node("bad"), h.node("good")
	bad.fail = func(int64, int64) error { return errors.New("no") }
	s := once(t, h.options(k, bad, good))
	mustEqual(t, k, h.want(t))
	if n := s.Nodes[0]; n.Errors == 0 || n.Errors > 40 || n.LastError != "no" || n.Answers != 0 {
		t.Errorf("%+v", n)
	}
}

// TestTheNextRangeFollowsTheCommittedOne: ranges of another chain are refused.
func TestTheNextRangeFollowsTheCommittedOne(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	n := h.node("a")
	n.head = h.first + (h.last-h.first)/2
	once(t, h.options(k, n))
	before := facts(t, k)
	other := h.node("b")
	other.hash = func(block int64) (data.Hash, bool) { return data.Hash{7}, block == n.head }
	c := lane(t, h.options(k, other))
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	ended := guard.Start(func() error { return c.Run(ctx) })
	for c.Status().Forks < 2 && ctx.Err() == nil { // it requests the range again, and refuses it again
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if s := c.Status(); s.Forks == 0 || s.Committed != n.head || s.Error == "" {
		t.Errorf("%+v", s)
	}
	mustEqual(t, k, before)
	once(t, h.options(k, h.node("c")))
	mustEqual(t, k, h.want(t))
}

// TestANewContractBackFillsItsOwnRanges: those of the others are not requested again.
func TestANewContractBackFillsItsOwnRanges(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	o := h.options(k, h.node("a"))
	of := addressOf(h.logs[h.first][0])
	left := slices.IndexFunc(o.Contracts, func(c chain.Contract) bool { return c.Address == of })
	added := o.Contracts[left]
	o.Contracts = slices.Delete(slices.Clone(o.Contracts), left, left+1)
	once(t, o)
	if n := len(facts(t, k)["fills"]); n == 0 || n >= len(h.want(t)["fills"]) {
		t.Fatalf("%d fills without %s", n, added.Name)
	}
	n := h.node("a")
	n.got = func(_, _ int64, addresses []data.Address) {
		if len(addresses) != 1 || addresses[0] != added.Address {
			t.Errorf("%d contracts are requested", len(addresses))
		}
	}
	s := once(t, h.options(k, n))
	mustEqual(t, k, h.want(t))
	if s.Committed != h.last+40 {
		t.Errorf("%+v", s)
	}
	alsoVerify(t, k)
}

// TestAnAuditRepairsWhatWasLost: a range is requested again from another node.
func TestAnAuditRepairsWhatWasLost(t *testing.T) {
	testfiles.InLong(t, "TestLostLogsAreNoticedAndRepaired requests omitted logs again")
	h := chainOf(t)
	k := venue(t, t.TempDir())
	bad := h.node("bad")
	txs := map[int64]bool{} // blocks that lose whole matches
	until := h.first + (h.last-h.first)/int64(testfiles.Cases(4, 1))
	for b := range h.logs {
		txs[b] = b%5 == 0 && b <= until
	}
	bad.lose = func(_, _, block int64, _ int) bool { return txs[block] }
	now := newClock()
	o := h.options(k, bad)
	o.AuditOf, o.Now = 1, now.time
	now.pace(t, 50)
	s := once(t, o)
	lost := int64(len(h.want(t)["fills"])) - s.Fills
	if lost == 0 || s.AuditsDue != int(s.Ranges) {
		t.Fatalf("%d fills are lost, %+v", lost, s)
	}
	o = h.options(k, bad, h.node("good"))
	o.Now = now.time
	now.advance(25 * time.Hour)
	c := lane(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	ended := guard.Start(func() error { return c.Run(ctx) })
	for s = c.Status(); s.AuditsDue > 0 && ctx.Err() == nil || s.Audited == 0; s = c.Status() {
		time.Sleep(10 * time.Millisecond)
	}
	cancel()
	<-ended
	if s.AuditDiffers == 0 || s.Mended != lost || s.Nodes[0].Lied == 0 || s.Nodes[1].Lied != 0 {
		t.Errorf("%d fills were lost, %+v", lost, s)
	}
	mustEqual(t, k, h.want(t))
}

// TestNewBlocksAreFollowed as they become final.
func TestNewBlocksAreFollowed(t *testing.T) {
	h := chainOf(t)
	k := venue(t, t.TempDir())
	n := h.node("a")
	n.head = h.last - int64(testfiles.Cases(1_500, 2_000))
	c := lane(t, h.options(k, n))
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	ended := guard.Start(func() error { return c.Run(ctx) })
	for c.Status().Committed < h.last && ctx.Err() == nil {
		if n.mu.Lock(); c.Status().Committed >= n.head { // however fast it is, there are many commits
			n.head = min(n.head+300, h.last+5)
		}
		n.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	<-ended
	mustEqual(t, k, h.want(t))
	mustVerify(t, k)
	if s := c.Status(); s.Commits < 5 || s.CatchingUp {
		t.Errorf("%+v", s)
	}
}

// TestTheBlockBeforeIsAskedFor if a response does not have it; that of a single block does.
func TestTheBlockBeforeIsAskedFor(t *testing.T) {
	h := chainOf(t)
	for _, blocks := range []int64{1, 2} {
		k := venue(t, t.TempDir())
		n := h.node("a")
		n.bare = true
		o := h.options(k, n)
		n.head = o.FromBlock + blocks - 1
		s := once(t, o)
		if s.Committed != n.head || n.headers != int(blocks-1) {
			t.Errorf("%d blocks: headers were requested %d times, %+v", blocks, n.headers, s)
		}
	}
}

// slowVenue delays its first commit of rows until a channel is closed.
type slowVenue struct {
	follow.Venue
	began chan<- struct{} // closed when it begins
	ends  <-chan struct{}
	once  *sync.Once
}

func (v slowVenue) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error) {
	if rows.Read != nil {
		v.once.Do(func() {
			close(v.began)
			select {
			case <-v.ends:
			case <-ctx.Done():
			}
		})
	}
	return v.Venue.Commit(ctx, rows, coming)
}

// gatedNode answers a number of requests for logs, and no more until a channel is closed.
type gatedNode struct {
	*node
	free  int64
	began <-chan struct{}
	asked *atomic.Int64
	more  func(n int64) // called with the number of every request
}

func (n gatedNode) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (follow.Answer, error) {
	asked := n.asked.Add(1)
	if asked > n.free {
		select {
		case <-n.began:
		case <-ctx.Done():
			return follow.Answer{}, ctx.Err()
		}
	}
	n.more(asked)
	return n.node.Logs(ctx, from, to, addresses, topics)
}

// TestNodesAreAskedWhileABatchIsCommitted: the first commit lasts until more ranges were
// requested than are in flight at once. The clock is fast, so that the few ranges answered before
// are committed.
func TestNodesAreAskedWhileABatchIsCommitted(t *testing.T) {
	h := chainOf(t)
	n := h.node("a")
	n.most = (h.last - h.first) / int64(testfiles.Cases(200, 2000))
	began, ends := make(chan struct{}), make(chan struct{})
	const free, more = 10, 4
	k := venue(t, t.TempDir())
	o := h.options(slowVenue{k, began, ends, &sync.Once{}})
	o.Nodes = []follow.Node{gatedNode{n, free, began, &atomic.Int64{}, func(asked int64) {
		if asked == free+more {
			close(ends)
		}
	}}}
	o.InFlight, o.Batch, o.Patience = 1, 2*int64(h.count), 24*time.Hour
	start := time.Now()
	o.Now = func() time.Time { return start.Add(100 * time.Since(start)) }
	once(t, o)
	mustEqual(t, k, h.want(t))
}
