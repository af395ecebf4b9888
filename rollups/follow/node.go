package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pmx/data"
	"pmx/data/upstream/fetch"
)

// Header is a block's header from a node.
type Header struct {
	Number int64
	Hash   data.Hash
	Parent data.Hash
	Time   int64 // unix seconds
}

// Answer is what a node says of a range of blocks: its logs, the header of its end, that of
// the block before it (zero: not asked for), and the newest block that is final.
type Answer struct {
	Before, End, Finalized Header
	EachLog                func(f func(log []byte) error) error // the JSON objects of the logs
	Release                func()                               // to be called when the logs are done with; may be nil
	Bytes                  int64
	// Apart says that logs and headers were not answered together, so that the logs may come from a
	// node that lags.
	Apart bool
}

// Node is a provider of the chain's logs. It obeys the provider's limits, and retries temporary
// errors.
type Node interface {
	Name() string
	// Logs returns the logs of from … to of any of the addresses with any of the topics in the
	// first place; *TooWide if that is more than the provider answers at once.
	Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Answer, error)
	Headers(ctx context.Context, numbers []int64) ([]Header, error)
	Finalized(ctx context.Context) (Header, error)
	// Tail returns the newest final block and, from the same request, what the node says of from up
	// to it: nil if that is nothing, or if it is not proved that the node that gave the logs had
	// that block. What is asked for goes up to a block that need not be final.
	Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Header, *Answer, error)
}

// TooWide is the error of a range that is more than a provider answers at once. Blocks is how
// many it would, 0: it does not say.
type TooWide struct{ Blocks int64 }

// Error says how many blocks are enough.
func (e *TooWide) Error() string {
	if e.Blocks > 0 {
		return fmt.Sprintf("the provider answers %d blocks at once", e.Blocks)
	}
	return "the provider answers fewer blocks at once"
}

// How ranges are sized: about so many logs each, of which a log of a fill is a kilobyte.
const (
	targetLogs = 8_000
	firstWidth = 50
	leap       = 4 // times what was answered
	mostBlocks = 10_000
	growBehind = 8  // answers
	tryAgain   = 64 // answers, after which what was too wide is tried again
)

// provider is a node with how it has behaved.
type provider struct {
	Node
	mu        sync.Mutex
	limit     int64 // most blocks to ask for at once
	grown     int64 // most blocks that were answered
	refused   int64 // blocks that were too many; 0: none were
	answered  int   // in a row, since the limit changed
	failures  int   // in a row
	until     time.Time
	finalized int64
	lastError string
	lastGood  time.Time
	answers   int64
	errors    int64
	bytes     int64
	lied      int64 // answers that another node's, or its own, showed to lack logs
	unfit     bool  // it is of another chain
	told      bool  // that it fails was logged
}

func newProvider(n Node) *provider { return &provider{Node: n, limit: mostBlocks} }

// width is how many blocks to ask for where there are so many logs a block: that many for
// targetLogs, but no leap from what was answered.
func (p *provider) width(density float64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := int64(targetLogs / max(density, targetLogs/float64(mostBlocks)))
	return max(1, min(p.limit, wanted, max(firstWidth, leap*p.grown)))
}

// good notes an answer.
func (p *provider) good(a *Answer, blocks int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures, p.until, p.lastGood, p.unfit = 0, time.Time{}, now, false
	p.answers++
	p.grown = max(p.grown, blocks)
	p.bytes += a.Bytes
	p.finalized = a.Finalized.Number
	p.answered++
	if p.answered%tryAgain == 0 {
		p.refused *= 2
	}
	if p.answered%growBehind == 0 && (p.refused == 0 || p.limit*5/4 < p.refused) {
		p.limit = min(mostBlocks, p.limit*5/4+1)
	}
}

// toldHead notes that the node said which final block is its newest.
func (p *provider) toldHead(h Header, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastGood, p.finalized = now, h.Number // whether it has logs is not said
}

// tooWide notes that a range of so many blocks was refused; false if it was one block.
func (p *provider) tooWide(blocks int64, e *TooWide) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused, p.answered = blocks, 0
	p.limit = max(1, min(p.limit, cmp.Or(min(e.Blocks, blocks-1), blocks/2)))
	return blocks > 1
}

// Pauses after errors in a row.
const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// failed notes an error, after which the node rests for a while.
func (p *provider) failed(err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures++
	p.errors++
	p.lastError = strings.TrimPrefix(err.Error(), p.Name()+": ")
	p.unfit = errors.Is(err, ErrUnfit)
	p.until = now.Add(pause(p.failures))
	var closed *fetch.ClosedError
	if errors.As(err, &closed) && closed.Until.After(p.until) {
		p.until = closed.Until
	}
}

// ErrUnfit is the error of a node that is useless for any request: it is on another chain.
var ErrUnfit = errors.New("a node of another chain")

// unfit is an error that is ErrUnfit.
type unfit struct{ error }

// Unwrap returns the error and ErrUnfit.
func (u unfit) Unwrap() []error { return []error{u.error, ErrUnfit} }

// fitness reports whether the node is of another chain, and when it answered last.
func (p *provider) fitness() (unfit bool, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unfit, p.lastGood
}

// tell notes whether it is logged that the node fails, and returns what was noted before.
func (p *provider) tell(fails bool) (before bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.told = p.told, fails
	return before
}

// nodeError names the node that an error is of, once.
func nodeError(p *provider, err error) error {
	if strings.HasPrefix(err.Error(), p.Name()+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", p.Name(), err)
}

// joined joins two errors to one on a single line; either may be nil.
func joined(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}

// nodeFailed notes an error of a node, after which it is left alone for a while. That a host
// cannot be reached is logged by who asks it; what a node says that is no answer is logged here.
func (c *Chain) nodeFailed(ctx context.Context, p *provider, err error) {
	if ctx.Err() != nil {
		return
	}
	p.failed(err, c.o.Now())
	if ofHost(err) || p.tell(true) {
		return
	}
	c.o.Log.Error().Err(err).Str("node", p.Name()).Msg("a node does not answer as it should")
}

// nodeAnswered notes that a node's answer could be read.
func (c *Chain) nodeAnswered(p *provider) {
	if p.tell(false) {
		c.o.Log.Info().Str("node", p.Name()).Msg("a node answers as it should again")
	}
}

// ofHost reports whether an error is of a host that could not be reached or refused, and not of
// what it answered.
func ofHost(err error) bool {
	var status *fetch.StatusError
	var shape *fetch.ShapeError
	var lost *fetch.LostError
	var closed *fetch.ClosedError
	return errors.As(err, &status) || errors.As(err, &shape) || errors.As(err, &lost) || errors.As(err, &closed)
}

// errBehind is for a node that does not have a block yet, or not as a final one.
var errBehind = errors.New("the node is behind others")

// behind notes that the node does not have a block that another has.
func (p *provider) behind(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = now.Add(firstPause)
}

// pause is how long to wait after n failures in a row.
func pause(n int) time.Duration {
	return min(mostPause, firstPause<<min(n-1, 10))
}

// caught notes an answer that lacked logs.
func (p *provider) caught() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lied++
}

// failsAlone reports whether the last thing that the node was asked for failed, while another node
// does not rest whose last did not.
func (p *provider) failsAlone(nodes []*provider, now time.Time) bool {
	if !p.failsNow() {
		return false
	}
	return slices.ContainsFunc(nodes, func(o *provider) bool { return o != p && !o.failsNow() && !o.rests().After(now) })
}

func (p *provider) failsNow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failures > 0
}

// rests is until when the node is left alone; not after now: it is not.
func (p *provider) rests() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until
}

// Status reports how the node stands.
func (p *provider) status(now time.Time) NodeStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := NodeStatus{Name: p.Name(), State: Idle, Finalized: p.finalized, Width: p.limit, Answers: p.answers, Errors: p.errors, Bytes: p.bytes, Lied: p.lied,
		LastError: p.lastError, LastGood: p.lastGood}
	if p.until.After(now) {
		s.State = BackOff
	}
	return s
}
