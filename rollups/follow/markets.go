package follow

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"pmx/data"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/pages"
	"pmx/engine/guard"
	"pmx/engine/statement"
)

//go:embed sql/markets.sql
var marketSQL embed.FS

var marketStatements = statement.MustLoad(marketSQL)

// MarketOptions configure the markets lane. Venue and Gamma are required; zero intervals mean the
// defaults.
type MarketOptions struct {
	Venue Venue
	Gamma *gamma.Client
	CLOB  *clob.Client    // nil: winners and new markets are not read there
	Data  *dataapi.Client // nil: payouts that Gamma does not have are not requested
	// Unseen is called with blocks in which, according to the data API, payouts were reported that
	// the facts do not have from the chain. It must not block; nil: no chain is followed.
	Unseen func(blocks ...int64)
	Log    zerolog.Logger
	Now    func() time.Time

	Tokens time.Duration // between two looks for unknown tokens; 2 s
	Open   time.Duration // between two sweeps of the open events; 5 min
	Closed time.Duration // between two looks for markets that closed or were resolved some time ago; 1 min
	List   time.Duration // between two reads of the end of the CLOB's list; 1 h
	Full   time.Duration // between two reconciliations with everything; 7 days
	Pace   time.Duration // between two pages of a reconciliation; 500 ms
	Quotes time.Duration // after which a market is written again if only its quote changed; 1 h
}

// afterClosing is when a market that closed or was resolved is read again: its record may still
// change, its texts even months later.
var afterClosing = []time.Duration{10 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 120 * 24 * time.Hour}

// Markets keeps the markets up to date: unknown tokens of fills at once, open events by sweeps,
// closed markets on a schedule, and everything by a slow reconciliation. It writes only what has
// changed.
type Markets struct {
	o     MarketOptions
	tasks []*marketTask
	wake  chan struct{} // of the first task, of capacity 1

	mu    sync.Mutex
	state MarketsStatus
	seen  map[data.Hash]seenMarket // what was written for the markets of open events
	saved bool                     // seen is stored in the database
	began time.Time                // when the lane was created
	usual float64                  // open markets of a sweep
	open  map[data.Hash]string     // open markets with the token of their first outcome
	asked map[uint64]patience      // what was requested but not found
	hints map[data.Hash]bool       // reported to be resolved or new
}

// marketTask is a recurring task of the lane.
type marketTask struct {
	name  string
	every time.Duration
	do    func(ctx context.Context) error
}

// NewMarkets returns the lane; Run follows.
func NewMarkets(o MarketOptions) *Markets {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Quotes, o.Pace = cmp.Or(o.Quotes, time.Hour), cmp.Or(o.Pace, 500*time.Millisecond)
	m := &Markets{o: o, wake: make(chan struct{}, 1), seen: map[data.Hash]seenMarket{}, open: map[data.Hash]string{}, asked: map[uint64]patience{},
		hints: map[data.Hash]bool{}}
	m.tasks = []*marketTask{
		{"tokens", cmp.Or(o.Tokens, 2*time.Second), m.tokens},
		{"open", cmp.Or(o.Open, 5*time.Minute), m.sweep},
		{"closed", cmp.Or(o.Closed, time.Minute), m.closed},
		{"reconciliation", cmp.Or(o.Full, 7*24*time.Hour), m.Reconcile},
	}
	if o.CLOB != nil {
		m.tasks = append(m.tasks, &marketTask{"list", cmp.Or(o.List, time.Hour), m.list})
	}
	m.state.Unknown, m.began = map[string]int64{}, o.Now()
	for _, t := range m.tasks {
		m.state.Tasks = append(m.state.Tasks, MarketTask{Name: t.name, Phase: Idle})
	}
	return m
}

// Run follows until ctx ends. It fails if the database does not answer at the start.
func (m *Markets) Run(ctx context.Context) error {
	if err := m.load(ctx); err != nil {
		return err
	}
	var group errgroup.Group
	for i := range m.tasks {
		guard.InGroup(&group, func() error { return m.repeat(ctx, i) })
	}
	err := guard.Repanic(group.Wait())
	// Stored, so that the next start does not write the same again.
	return errors.Join(err, m.save(context.WithoutCancel(ctx)))
}

// Once runs every task once, in order, to bring a venue up to date, except for the reconciliation,
// which takes hours. It returns the errors of all tasks.
func (m *Markets) Once(ctx context.Context) error {
	if err := m.load(ctx); err != nil {
		return err
	}
	var errs []error
	for i := range m.tasks {
		if m.tasks[i].name != "reconciliation" {
			errs = append(errs, m.do(ctx, i))
		}
	}
	return errors.Join(append(errs, m.save(ctx))...)
}

// Wanted starts the lookup of unknown tokens at once, for example after a commit of fills. It never
// blocks.
func (m *Markets) Wanted() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// mostHints is the maximum number of waiting hints. Markets beyond that are found by the next
// sweep.
const mostHints = 10_000

// Heard fetches markets at once that are reported to be resolved or new. It never blocks.
func (m *Markets) Heard(conditions ...data.Hash) {
	m.mu.Lock()
	for _, c := range conditions {
		if len(m.hints) < mostHints {
			m.hints[c] = true
		}
	}
	m.mu.Unlock()
	m.Wanted()
}

// OpenTokens returns the tokens of the first outcomes of open markets, by market.
func (m *Markets) OpenTokens() map[data.Hash]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[data.Hash]string, len(m.open))
	for c, t := range m.open {
		out[c] = t
	}
	return out
}

// Pauses after failures of a task.
const (
	firstMarketPause   = time.Second
	longestMarketPause = 5 * time.Minute
)

// repeat runs a task at intervals until ctx ends. Pauses grow after failures; if the host says when
// to try again, it waits until then.
func (m *Markets) repeat(ctx context.Context, i int) error {
	t, failures := m.tasks[i], 0
	var wake chan struct{}
	if t.name == "tokens" {
		wake = m.wake
	}
	for {
		wait := t.every
		if err := m.do(ctx, i); err != nil && ctx.Err() == nil {
			wait = min(firstMarketPause<<min(failures, 16), longestMarketPause)
			var shut *fetch.ClosedError
			if errors.As(err, &shut) {
				wait = max(wait, shut.Until.Sub(m.o.Now()))
			}
			failures++
			m.o.Log.Warn().Err(err).Str("task", t.name).Float64("wait_seconds", wait.Seconds()).Msg("markets could not be followed")
		} else {
			failures = 0
		}
		m.tell(i, func(s *MarketTask) { s.Next = m.o.Now().Add(wait).UTC() })
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-wakeUnless(failures > 0, wake):
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// wakeUnless returns wake, or, if the task has to wait, a channel that never wakes.
func wakeUnless(waits bool, wake chan struct{}) <-chan struct{} {
	if waits {
		return nil
	}
	return wake
}

// do runs a task once and records the result.
func (m *Markets) do(ctx context.Context, i int) error {
	began := m.o.Now()
	m.tell(i, func(s *MarketTask) { s.Phase = Fetch })
	err := m.tasks[i].do(ctx)
	m.tell(i, func(s *MarketTask) {
		s.Passes++
		s.Phase, s.Last, s.Seconds, s.Error = Idle, began.UTC(), m.o.Now().Sub(began).Seconds(), ""
		if err == nil {
			s.LastGood = s.Last
			return
		}
		s.Failures++
		s.Phase, s.Error = BackOff, err.Error()
	})
	if err == nil || ctx.Err() != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	var shape *pages.ShapeError
	switch {
	case errors.As(err, &foreign):
		m.state.Foreign++
	case errors.As(err, &loop):
		m.state.Loops++
	case errors.As(err, &shape):
		m.state.Odd++
	}
	return err
}
