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

// errand is what a separate process follows, and the moment at which it kills itself like kill -9.
// If the moment never comes, the process ends when everything is committed.
type errand struct {
	Dir   string
	Logs  string // the file of the chain's logs
	Serve bool   // with files to serve from
	Tail  bool   // the head moves block by block, from the committed block on
	// URL is the server that simulates the venue: markets and quotes are followed too, and the
	// chain's head depends on the clock. "": only the chain.
	URL   string
	Clock pastime

	Lane   string // "chain", "markets" or "quotes": whose commits are counted
	Commit int    // number of the commit, from 1
	Where  moment
	After  time.Duration // time after that moment
}

// pastime is a clock that runs fast from one time on, and stops at another.
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

// runsOn is a clock that starts at a time and never stops, because the chain lane waits by its
// clock. Otherwise a node that did not answer in time, a range that is held back and a refused
// commit would never be tried again.
func runsOn(from time.Time) func() time.Time {
	began := time.Now()
	return func() time.Time { return from.Add(1800 * time.Since(began)) }
}

// moment is when the time to the kill begins.
type moment string

const (
	atStart moment = "start"  // of the process
	inside  moment = "inside" // when the commit begins
	within  moment = "within" // after all statements of its transaction
	behind  moment = "behind" // after the commit
	ending  moment = "ending" // when the process gets the signal to end, after the commit
	cleanly moment = "clean"  // never: it ends after the commit
	never   moment = "never"
)

// drawMoment sets a random moment of the first commits of a lane.
func (e *errand) drawMoment(lane string, commits int) {
	longest := map[moment]time.Duration{atStart: 300 * time.Millisecond, inside: 60 * time.Millisecond, within: 20 * time.Millisecond, behind: 40 * time.Millisecond, ending: 60 * time.Millisecond}
	e.Lane, e.Commit = lane, 1+rand.IntN(commits)
	e.Where = []moment{atStart, inside, inside, inside, within, within, within, behind, behind, ending, cleanly}[rand.IntN(11)]
	if lane == "quotes" && e.Where == within {
		e.Where = inside // their transaction has nothing of the lane
	}
	// As many kills within the first 10 µs as from 10 to 100 µs, and so on.
	e.After = time.Duration(math.Exp(rand.Float64() * math.Log(float64(max(longest[e.Where], 1)))))
}

const errandKey = "PMX_TEST_FOLLOW"

// run reports whether the process was killed; otherwise it has ended normally.
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
		t.Fatalf("err = %v, said = %s", err, said)
	}
	return true
}

// kill ends this process like kill -9, after a while.
func kill(after time.Duration) {
	time.AfterFunc(after, func() {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // nothing runs after it
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

// commit runs a commit of the lane.
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

// Commit calls the keeper.
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

// afterAll kills the process some time after everything in a transaction.
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

// Quote calls the keeper.
func (v trap) Quote(ctx context.Context, quotes []data.Quote) (stored int64, err error) {
	err = v.commit(func(bool) error {
		stored, err = v.Keeper.Quote(ctx, quotes)
		return err
	})
	return stored, err
}

// runErrand is the process. It returns its exit status.
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

// chainAlone follows the chain until everything is committed.
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

// venue runs all lanes except for the weather's for a second.
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

// threeLanes are the lanes of the chain, in this process, and of markets and quotes, of a server
// that simulates the venue.
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

// ahead returns the by-th block with logs after another one; at the end the last one.
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

// moving returns two nodes whose head moves whenever one is asked for it.
func (h *history) moving(next func(head int64) int64) []follow.Node {
	m := &heads{next: next}
	a, b := h.node("a"), h.node("b")
	a.head, b.head = 0, 0
	m.nodes = []*node{a, b}
	return []follow.Node{&movingNode{a, m}, &movingNode{b, m}}
}

// heads moves nodes together.
type heads struct {
	mu    sync.Mutex
	nodes []*node
	next  func(head int64) int64
}

type movingNode struct {
	*node
	heads *heads
}

// Finalized moves the head.
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
