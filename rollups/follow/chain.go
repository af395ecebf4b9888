package follow

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/chain"
	"pmx/engine/guard"
	"pmx/engine/ingest"
	"pmx/engine/ledger"
)

// ChainOptions configure the chain lane.
type ChainOptions struct {
	Venue     Venue
	Nodes     []Node
	Contracts []chain.Contract
	// FromBlock is the first block to follow from; 0: the stored one, else that of the newest fill,
	// else that of a day ago.
	FromBlock int64
	Log       zerolog.Logger
	Watch     *guard.Watch
	Now       func() time.Time                           // nil: time.Now
	Sleep     func(context.Context, time.Duration) error // nil: the clock's
	Every     time.Duration                              // between two looks for new blocks; 0: adapted to when they come
	InFlight  int                                        // ranges in flight per node; 0: 4
	Batch     int64                                      // fills per commit, or one and a half times as many events; 0: 124,000
	AuditIn   time.Duration                              // time from a range's commit to its audit; 0: a day
	AuditOf   float64                                    // share of audited ranges; 0: one in a hundred
	LookIn    time.Duration                              // time-out for the newest final block if another node is available; 0: 5 s
	Patience  time.Duration                              // time without progress after which Once gives up; 0: 5 min
	// Called after every commit, with the status and with the resolved conditions. They must not
	// block; each may be nil.
	Progress func(ChainStatus)
	Resolved func(conditions ...data.Hash)
}

// Chain is the lane of the chain's logs. It fetches final blocks range by range, checks them, and
// commits them together with the range, so that missing ranges are always known.
type Chain struct {
	o      ChainOptions
	nodes  []*provider
	topics []data.Hash

	mu        sync.Mutex // guards all below
	wake      chan struct{}
	memory    chainMemory
	asking    []asking
	ranges    []ledger.Ranges // of the requests
	plan      plan
	head      Header    // the newest final block
	headAt    time.Time // when a node said so
	looked    time.Time // when one was last asked only for that
	pace      pace      // of the head, used by the loop alone
	unproved  int       // looks in a row whose logs were not proved complete, likewise
	turns     turns     // which node is asked for the head first
	planned   int64     // the head when a range was last taken
	gate      time.Time
	answered  int64     // blocks that are answered but not committed
	pending   int64     // events that are answered but not committed
	asked     int       // ranges in flight
	flying    int       // ranges in flight, or answered and not yet taken by the loop
	dense     densities // of committed ranges
	seen      bucket    // of recent responses
	stats     ChainStatus
	catchUp   catchUp
	progress  time.Time     // when something was last committed, or nothing was missing
	patience  time.Duration // time without progress after which the run ends; 0: never
	refusals  int           // in a row
	refusal   error         // error of the last commit; nil: none
	warned    bool
	auditing  time.Time          // when audits may continue
	rechecks  map[int64]patience // blocks to be requested again
	firstTime int64              // time of the first block, unix seconds; 0: not known yet
	instead   string             // source whose fills are replaced by the lane's; "": none
	results   chan *result
}

// catchUp is the progress of a catch-up.
type catchUp struct {
	began  time.Time
	blocks int64 // missing at its start
	fills  int64 // committed at its start
}

// Maximum number of missing blocks that is not a catch-up.
const tailBlocks = 200

// stalledBehind is the time without progress after which the lane counts as stalled.
const stalledBehind = 2 * time.Minute

// errNoNode is the error of a lane without a provider.
var errNoNode = errors.New("the chain cannot be followed without a provider: give --rpc")

// NewChain returns the lane; Run follows.
func NewChain(o ChainOptions) (*Chain, error) {
	if len(o.Nodes) == 0 {
		return nil, errNoNode
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = guard.Sleep
	}
	if o.Watch == nil {
		o.Watch = guard.New(o.Log)
	}
	o.LookIn = cmp.Or(o.LookIn, 5*time.Second)
	o.InFlight, o.Batch = cmp.Or(o.InFlight, 4), cmp.Or(o.Batch, usualBatch)
	o.Patience = cmp.Or(o.Patience, usualPatience)
	o.AuditIn, o.AuditOf = cmp.Or(o.AuditIn, 24*time.Hour), cmp.Or(o.AuditOf, 0.01)
	c := &Chain{o: o, topics: chain.Topics(o.Contracts), wake: make(chan struct{}), pace: pace{every: o.Every}}
	for _, n := range o.Nodes {
		c.nodes = append(c.nodes, newProvider(n))
	}
	c.results = make(chan *result, mostRanges) // buffer for all results that arrive during a commit
	now := o.Now()
	c.stats = ChainStatus{Source: chainSource, Phase: Idle, Since: now.UTC(), Unknown: map[string]int64{}}
	c.progress = now
	return c, nil
}

// Run follows until ctx ends.
func (c *Chain) Run(ctx context.Context) error {
	return c.run(ctx, func() bool { return false })
}

// errDone ends a completed run.
var errDone = errors.New("done")

func (c *Chain) run(ctx context.Context, done func() bool) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	own, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for _, p := range c.nodes {
		for range c.o.InFlight {
			c.o.Watch.Begin(&running, "ask a node", func() {
				_ = c.o.Watch.Supervise(own, "ask a node", func(ctx context.Context) error { return c.work(ctx, p) })
			})
		}
	}
	if len(c.nodes) > 1 {
		for i := range c.nodes {
			c.o.Watch.Begin(&running, "compare nodes", func() {
				_ = c.o.Watch.Supervise(own, "compare nodes", func(ctx context.Context) error { return c.compare(ctx, i) })
			})
		}
	}
	return c.o.Watch.Do("follow the chain", func() error { return c.loop(own, done) })
}

// begin reads the committed ranges and the stored memory.
func (c *Chain) begin(ctx context.Context) error {
	var newest int64
	var memory chainMemory
	instead := ""
	err := c.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		text, err := ledger.Cursor(ctx, conn, chainSource)
		if err != nil {
			return err
		}
		if newest, err = ledger.NewestFill(ctx, conn); err != nil {
			return err
		}
		trades, err := readTradesMemory(ctx, conn)
		if err != nil {
			return err
		}
		if trades.Start > 0 { // fills followed by the venue's list are replaced by the chain's
			instead, newest = tradesName, trades.Start*1_000_000
		}
		memory, err = readMemory(text)
		return err
	})
	if err != nil {
		return err
	}
	before, changed := memory.Start, memory.extend(c.o.Contracts)
	if c.o.FromBlock > 0 {
		memory.Start = c.o.FromBlock
	}
	for n := 1; memory.Start == 0; n++ {
		if memory.Start, err = c.firstBlock(ctx, newest); err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.fail(err)
		if err := c.hopeless(); err != nil {
			return err
		}
		if err := c.o.Sleep(ctx, pause(n)); err != nil {
			return err
		}
	}
	asking := memory.asked(c.o.Contracts)
	if len(asking) == 0 {
		return errors.New("none of the contracts has events that can be read")
	}
	c.mu.Lock()
	c.memory, c.asking, c.ranges, c.instead = memory, asking, make([]ledger.Ranges, len(asking)), instead
	c.mu.Unlock()
	if changed || memory.Start != before {
		if err := c.remember(ctx); err != nil {
			return err
		}
	}
	if err := c.reload(ctx); err != nil {
		return err
	}
	c.o.Log.Info().Int64("from_block", memory.Start).Int("nodes", len(c.nodes)).Int("contracts", len(c.o.Contracts)).Msg("following the chain")
	return nil
}

// remember stores the lane's memory.
func (c *Chain) remember(ctx context.Context) error {
	c.mu.Lock()
	text, err := c.memory.text()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = c.o.Venue.Commit(ctx, ingest.Rows{Name: rowsName, Within: func(ctx context.Context, conn *sql.Conn) error {
		return ledger.SetCursor(ctx, conn, chainSource, text)
	}}, ingest.Remaining{})
	return err
}

// firstBlock returns where to begin if nothing is stored: at the block of the newest fill, given in
// unix µs, or a day ago.
func (c *Chain) firstBlock(ctx context.Context, newest int64) (int64, error) {
	var failed error
	for _, p := range c.nodes {
		head, err := p.Finalized(ctx)
		if err != nil {
			c.nodeFailed(ctx, p, err)
			failed = joined(failed, nodeError(p, err))
			continue
		}
		if newest == 0 {
			return max(1, head.Number-dayBlocks), nil
		}
		at, err := blockAt(ctx, p, head.Number, newest/1_000_000)
		if err == nil {
			return max(1, at), nil
		}
		c.nodeFailed(ctx, p, err)
		failed = joined(failed, nodeError(p, err))
	}
	return 0, failed
}

// blockAt returns the last block up to head that is older than a time, unix seconds.
func blockAt(ctx context.Context, n Node, head, at int64) (int64, error) {
	low, high := int64(1), head
	for low < high {
		middle := low + (high-low+1)/2
		h, err := n.Headers(ctx, []int64{middle})
		switch {
		case err != nil:
			return 0, err
		case len(h) != 1 || h[0].Number != middle:
			return 0, errors.New("the node does not return the header of a block that it has")
		case h[0].Time < at:
			low = middle
		default:
			high = middle - 1
		}
	}
	return low, nil
}

// reload reads the committed ranges.
func (c *Chain) reload(ctx context.Context) error {
	c.mu.Lock()
	list := c.asking
	c.mu.Unlock()
	ranges := make([]ledger.Ranges, len(list))
	err := c.o.Venue.Read(ctx, func(conn *sql.Conn) (err error) {
		for i, a := range list {
			if ranges[i], err = ledger.Load(ctx, conn, a.ledger); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ranges = ranges
	c.replan()
	return nil
}

func (c *Chain) starts() []int64 {
	starts := make([]int64, len(c.asking))
	for i, a := range c.asking {
		starts[i] = a.from
	}
	return starts
}

// replan computes what is missing, and wakes goroutines that wait for ranges.
func (c *Chain) replan() {
	c.plan.missing = spans(c.ranges, c.starts(), c.head.Number)
	now := c.o.Now()
	switch n := c.plan.open(); {
	case n <= tailBlocks:
		c.catchUp = catchUp{}
	case c.catchUp.began.IsZero():
		c.catchUp = catchUp{began: now, blocks: n, fills: c.stats.Fills}
	}
	if c.plan.open() == 0 {
		c.progress, c.warned = now, false
	}
	close(c.wake)
	c.wake = make(chan struct{})
}

// known records the newest final block.
func (c *Chain) known(h Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headAt = c.o.Now()
	if h.Number > c.head.Number {
		c.head = h
		c.replan()
	}
}

// loop looks for new blocks and commits answered ranges.
func (c *Chain) loop(ctx context.Context, done func() bool) error {
	var ready []*result
	first := time.Time{} // when the first of them arrived
	for ctx.Err() == nil {
		if done() {
			return errDone
		}
		if r := c.look(ctx); r != nil && c.take(r) {
			ready = append(ready, r)
		}
		now := c.o.Now()
		if len(ready) > 0 && (c.enough(ready) || c.isIdle() || now.Sub(first) > longestWait) {
			c.commit(ctx, ready)
			ready = nil
			continue
		}
		c.checkStalled(now)
		if len(ready) == 0 && c.askedAgain(ctx, now) {
			continue
		}
		wait, end := context.WithTimeout(ctx, c.pauseOf(len(ready) > 0))
		select {
		case r := <-c.results:
			if len(ready) == 0 {
				first = c.o.Now()
			}
			if c.take(r) {
				ready = append(ready, r)
			}
		case <-wait.Done():
		}
		end()
	}
	return ctx.Err()
}

// askedAgain requests one of the ranges again that are due; false if there is none. It must not be
// called while a range waits to be committed.
func (c *Chain) askedAgain(ctx context.Context, now time.Time) bool {
	if c.auditDue(now) {
		c.audit(ctx)
		return true
	}
	j, tries, due := c.recheckDue()
	if due {
		c.recheck(ctx, j, tries)
	}
	return due
}

// longestWait is how long an answered range waits for others that are committed with it.
const longestWait = 15 * time.Second

// isIdle reports whether no request is in flight or about to be sent.
func (c *Chain) isIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flying == 0 && (c.inTail() || c.pending >= c.o.Batch+c.o.Batch/2 || len(c.plan.free()) == 0)
}

// inTail reports whether no more is missing than arrives between two looks.
func (c *Chain) inTail() bool { return c.plan.open() <= tailBlocks }

// usualBatch is a little more than a row group of DuckDB (122,880 rows): fewer rows, and rows
// beyond a full row group, are not compressed before the next checkpoint.
const usualBatch = 124_000

// enough reports whether there is enough for a commit. The first batch is a quarter of the others,
// so that committing in parallel to the requests begins sooner.
func (c *Chain) enough(ready []*result) bool {
	n, most := int64(0), c.o.Batch
	for _, r := range ready {
		n += r.batch.Fills()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stats.Commits == 0 {
		most /= 4
	}
	return n >= most || len(ready) >= mostRanges
}

// mostRanges is the maximum number of ranges in a commit. On a quiet chain, a commit would
// otherwise wait for very many.
const mostRanges = 2_000

// fail records an error for the status.
func (c *Chain) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Error = err.Error()
}

// chosen decides at random whether a range is audited.
func (c *Chain) chosen() bool { return rand.Float64() < c.o.AuditOf }
