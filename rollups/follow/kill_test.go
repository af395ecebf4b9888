package follow_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/engine"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// errand is what a process of its own follows, and the moment at which it kills itself as
// kill -9 does. A moment that never comes is none: the process ends when all is in.
type errand struct {
	Dir   string
	Logs  string // the file of the chain's logs
	Serve bool   // with files to serve from
	Tail  bool   // the head moves on block by block, from what is committed on
	// URL is the server that plays the venue: markets and quotes are followed too, and the
	// chain's head goes by the clock. "": the chain alone.
	URL   string
	Clock pastime

	Lane   string // "chain", "markets" or "quotes": whose commits are counted
	Commit int    // the how-manieth, from 1 on
	Where  moment
	After  time.Duration // how long behind that moment
}

// pastime is a clock that goes fast from one time on, and stands still at another.
type pastime struct {
	From, Until time.Time
	Speed       float64
	began       time.Time // of our time
}

func (p *pastime) now() time.Time {
	if at := p.From.Add(time.Duration(float64(time.Since(p.began)) * p.Speed)); at.Before(p.Until) {
		return at
	}
	return p.Until
}

// advance moves it on.
func (p *pastime) advance(d time.Duration) {
	if p.From, p.began = p.now().Add(d), time.Now(); p.From.After(p.Until) {
		p.From = p.Until
	}
}

// runsOn is a clock that starts at a time and never stands still: what the chain lane puts off, it
// puts off by its clock. A node that did not answer in time, a range held back and a commit that was
// refused would never have their turn again.
func runsOn(from time.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return from.Add(1800 * time.Since(began)) }
}

// moment is when the time to the kill begins.
type moment string

const (
	atStart moment = "start"  // of the process
	inside  moment = "inside" // when the commit begins
	within  moment = "within" // when all statements of its transaction are done
	behind  moment = "behind" // when the commit is done
	ending  moment = "ending" // when the process is told to end behind the commit
	cleanly moment = "clean"  // never: it ends behind the commit
	never   moment = "never"
)

// drawMoment makes the errand be killed at a random moment of the first commits of a lane.
func (e *errand) drawMoment(lane string, commits int) {
	longest := map[moment]time.Duration{atStart: 300 * time.Millisecond, inside: 60 * time.Millisecond, within: 20 * time.Millisecond, behind: 40 * time.Millisecond, ending: 60 * time.Millisecond}
	e.Lane, e.Commit = lane, 1+rand.IntN(commits)
	e.Where = []moment{atStart, inside, inside, inside, within, within, within, behind, behind, ending, cleanly}[rand.IntN(11)]
	if lane == "quotes" && e.Where == within {
		e.Where = inside // nothing of a lane's own is in their transaction
	}
	// As many kills within the first 10 µs as from 10 to 100 µs, and so on.
	e.After = time.Duration(math.Exp(rand.Float64() * math.Log(float64(max(longest[e.Where], 1)))))
}

const errandKey = "PMX_TEST_FOLLOW"

// run gives whether the process was killed; else it has ended by itself.
func (e errand) run(t *testing.T) (killed bool) {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), errandKey+"="+string(text))
	said, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if cmd.ProcessState == nil || cmd.ProcessState.String() != "signal: killed" {
		t.Fatalf("%v: %s", err, said)
	}
	return true
}

// kill ends this process as kill -9 does, after a while.
func kill(after time.Duration) {
	time.AfterFunc(after, func() {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // nothing runs behind it
		}
	})
}

// trap is the venue of a lane, which kills the process at its moment.
type trap struct {
	*keeper.Keeper
	e     *errand
	lane  string
	count *atomic.Int64 // of the commits of the lane
	end   context.CancelFunc
}

// commit does something that is a commit of the lane.
func (v trap) commit(do func(sprung bool) error) error {
	sprung := v.lane == v.e.Lane && v.count.Add(1) == int64(v.e.Commit)
	if sprung && v.e.Where == inside {
		kill(v.e.After)
	}
	err := do(sprung)
	if sprung {
		switch v.e.Where {
		case behind:
			kill(v.e.After)
		case ending:
			kill(v.e.After)
			v.end()
		case cleanly:
			v.end()
		}
	}
	return err
}

// Commit is the keeper's.
func (v trap) Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (receipt ingest.Receipt, err error) {
	err = v.commit(func(sprung bool) error {
		if first := rows.Within; sprung && v.e.Where == within {
			rows.Within = v.e.afterAll(first)
		}
		receipt, err = v.Keeper.Commit(ctx, rows, coming)
		return err
	})
	return receipt, err
}

// afterAll has the process killed a while behind all that belongs to a transaction.
func (e *errand) afterAll(do func(context.Context, *sql.Conn) error) func(context.Context, *sql.Conn) error {
	return func(ctx context.Context, conn *sql.Conn) error {
		if do != nil {
			if err := do(ctx, conn); err != nil {
				return err
			}
		}
		kill(e.After)
		return nil
	}
}

// Quote is the keeper's.
func (v trap) Quote(ctx context.Context, quotes []data.Quote) (stored int64, err error) {
	err = v.commit(func(bool) error {
		stored, err = v.Keeper.Quote(ctx, quotes)
		return err
	})
	return stored, err
}

// runErrand is the process. It gives its status.
func runErrand(text string) int {
	var e errand
	err := json.Unmarshal([]byte(text), &e)
	if err == nil {
		err = e.follow()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func (e *errand) follow() error {
	if e.Where == atStart {
		kill(e.After)
	}
	file, err := os.ReadFile(e.Logs)
	if err != nil {
		return err
	}
	h, err := historyOf(string(file))
	if err != nil {
		return err
	}
	k, err := keeper.Open(context.Background(), keeper.Config{Engine: engine.Options{Dir: engine.Dir(e.Dir), Threads: 1, MemoryLimit: "1GB"}, Feeds: feeds.Catalog{},
		Log: zerolog.Nop(), Serve: e.Serve})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	var count atomic.Int64
	of := func(lane string) trap { return trap{k, e, lane, &count, end} }
	if e.URL == "" {
		err = e.chainAlone(ctx, end, h, of("chain"))
	} else {
		err = e.venue(ctx, end, h, of)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, k.Close())
}

// chainAlone follows the chain until all is in.
func (e *errand) chainAlone(ctx context.Context, end context.CancelFunc, h *history, v trap) error {
	o := h.options(v, h.node("a"), h.node("b"))
	last := h.last + 40
	if e.Tail {
		stored, err := follow.StoredChain(ctx, v.Keeper, o.Contracts, time.Now())
		if err != nil {
			return err
		}
		steps := 3
		if e.Where == never {
			steps = h.count
		}
		o.Nodes = h.moving(func(head int64) int64 { return h.ahead(max(head, stored.Committed, h.first-1), rand.IntN(steps)) })
		o.Every = time.Millisecond
	} else {
		for _, n := range o.Nodes {
			n.(*node).most = 3_000
		}
		if e.Where != never {
			o.Batch = 10
		}
	}
	c, err := follow.NewChain(o)
	if err != nil {
		return err
	}
	if !e.Tail {
		return c.Once(ctx)
	}
	var running sync.WaitGroup
	running.Go(func() { // a tail has no end of its own
		for ctx.Err() == nil && (c.Status().Committed != last || c.Status().GapBlocks > 0) {
			_ = guard.Sleep(ctx, 2*time.Millisecond)
		}
		end()
	})
	err = c.Run(ctx)
	end()
	running.Wait()
	return err
}

// venue follows all lanes but the weather's, for a second.
func (e *errand) venue(ctx context.Context, end context.CancelFunc, h *history, of func(lane string) trap) error {
	e.Clock.began = time.Now()
	l, err := h.threeLanes(e.URL, e.Clock.now, func(lane string) follower { return of(lane) })
	if err != nil {
		return err
	}
	time.AfterFunc(time.Second, end)
	var running sync.WaitGroup
	failed := make([]error, 3)
	for i, run := range []func(context.Context) error{l.chain.Run, l.markets.Run, l.quotes.Run} {
		running.Go(func() { failed[i] = run(ctx) })
	}
	running.Wait()
	return errors.Join(failed...)
}

// follower is what lanes follow into.
type follower interface {
	follow.Venue
	follow.Quoter
}

// threeLanes are those of the chain, in this process, and of markets and quotes, of a server
// that plays the venue.
type threeLanes struct {
	chain   *follow.Chain
	markets *follow.Markets
	quotes  *follow.Quotes
	hosts   []*fetch.Host
}

func (l *threeLanes) close() {
	for _, h := range l.hosts {
		h.Close()
	}
}

func (h *history) threeLanes(url string, now func() time.Time, of func(lane string) follower) (*threeLanes, error) {
	l := &threeLanes{}
	var failed error
	host := func(name string) *fetch.Host {
		f, err := fetch.New(fetch.Options{Name: name, Base: url + "/" + name, Contact: "ops@example.org", Now: now, Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 4}})
		failed = errors.Join(failed, err)
		l.hosts = append(l.hosts, f)
		return f
	}
	books := clob.New(host("clob"))
	l.markets = follow.NewMarkets(follow.MarketOptions{Venue: of("markets"), Gamma: gamma.New(host("gamma")), CLOB: books, Data: dataapi.New(host("data")),
		Log: zerolog.Nop(), Now: now, Tokens: 20 * time.Millisecond, Open: 60 * time.Millisecond, Closed: 40 * time.Millisecond, List: 100 * time.Millisecond, Pace: 1, Quotes: time.Minute})
	l.quotes = follow.NewQuotes(follow.QuoteOptions{Venue: of("quotes"), Markets: l.markets, CLOB: books, Log: zerolog.Nop(), Now: now, Every: 20 * time.Millisecond, Poll: 30 * time.Millisecond})
	o := h.options(of("chain"))
	o.Now, o.Every = runsOn(now()), 10*time.Millisecond
	o.Nodes = h.moving(func(int64) int64 { return max(min(sample.BlockAt(now())-16, h.last+40), h.first-9) })
	o.Resolved, o.Progress = l.markets.Heard, func(follow.ChainStatus) { l.markets.Wanted() }
	var err error
	l.chain, err = follow.NewChain(o)
	return l, errors.Join(failed, err)
}

// ahead gives the block with logs that lies behind another one, and some further on; at the
// end the last one.
func (h *history) ahead(block int64, by int) int64 {
	var blocks []int64
	for b := range h.logs {
		if b > block {
			blocks = append(blocks, b)
		}
	}
	slices.Sort(blocks)
	if by >= len(blocks) {
		return h.last + 40
	}
	return blocks[by]
}

// moving gives two nodes whose head moves on whenever one is asked for it.
func (h *history) moving(next func(head int64) int64) []follow.Node {
	m := &heads{next: next}
	a, b := h.node("a"), h.node("b")
	a.head, b.head = 0, 0
	m.nodes = []*node{a, b}
	return []follow.Node{&movingNode{a, m}, &movingNode{b, m}}
}

// heads moves nodes on together.
type heads struct {
	mu    sync.Mutex
	nodes []*node
	next  func(head int64) int64
}

type movingNode struct {
	*node
	heads *heads
}

// Finalized moves the head on.
func (n *movingNode) Finalized(ctx context.Context) (follow.Header, error) {
	n.heads.mu.Lock()
	head := max(n.head, n.heads.next(n.head))
	for _, each := range n.heads.nodes {
		each.mu.Lock()
		each.head = head
		each.mu.Unlock()
	}
	n.heads.mu.Unlock()
	return n.node.Finalized(ctx)
}
