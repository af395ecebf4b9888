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

// Answer is a node's response for a range of blocks: its logs, the header of its end, that of the
// block before it (zero: not requested), and the newest final block.
type Answer struct {
	Before, End, Finalized Header
	EachLog                func(f func(log []byte) error) error // the JSON objects of the logs
	Release                func()                               // to be called when the logs are no longer needed; may be nil
	Bytes                  int64
	// Apart is set if logs and headers did not come in one response, so that the logs may be from a
	// node that lags.
	Apart bool
}

// Node is a provider of the chain's logs. It respects the provider's limits and retries after
// temporary errors.
type Node interface {
	Name() string
	// Logs returns the logs of the blocks from … to of any of the addresses with any of the topics
	// as first topic. The error is a *TooWide if that is more than the provider returns at once.
	Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Answer, error)
	Headers(ctx context.Context, numbers []int64) ([]Header, error)
	Finalized(ctx context.Context) (Header, error)
	// Tail returns the newest final block and, from the same request, the logs from block from up
	// to it. They are nil if there are none, or if it is not proved that the node that returned the
	// logs had that block. The requested range ends at a block that need not be final.
	Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Header, *Answer, error)
}

// TooWide is the error of a range that is more than a provider returns at once. Blocks is the
// provider's limit; 0: not known.
type TooWide struct{ Blocks int64 }

// Error has the limit, if it is known.
func (e *TooWide) Error() string {
	if e.Blocks > 0 {
		return fmt.Sprintf("the provider returns the logs of at most %d blocks at once", e.Blocks)
	}
	return "the provider returns the logs of fewer blocks at once"
}

// Sizes of ranges: the target number of logs; a fill's log is about a kilobyte.
const (
	targetLogs = 8_000
	firstWidth = 50
	leap       = 4 // maximum factor over the widest range that was answered
	mostBlocks = 10_000
	growBehind = 8  // answers
	tryAgain   = 64 // responses after which a range that was too wide is tried again
)

// provider is a node with its record.
type provider struct {
	Node
	mu        sync.Mutex
	limit     int64 // maximum number of blocks to request at once
	grown     int64 // widest range that was answered, in blocks
	refused   int64 // number of blocks that was too large; 0: none
	answered  int   // in a row, since the limit changed
	failures  int   // in a row
	until     time.Time
	finalized int64
	lastError string
	lastGood  time.Time
	answers   int64
	errors    int64
	bytes     int64
	lied      int64 // responses that lacked logs according to another response
	unfit     bool  // it is on another chain
	told      bool  // its failure was logged
}

func newProvider(n Node) *provider { return &provider{Node: n, limit: mostBlocks} }

// width returns how many blocks to request at a density of logs per block: as many as have
// targetLogs logs, but not far more than were answered before.
func (p *provider) width(density float64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := int64(targetLogs / max(density, targetLogs/float64(mostBlocks)))
	return max(1, min(p.limit, wanted, max(firstWidth, leap*p.grown)))
}

// good records a response.
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

// toldHead records the newest final block of the node.
func (p *provider) toldHead(h Header, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastGood, p.finalized = now, h.Number // this does not show whether it has logs
}

// tooWide records that a range of so many blocks was refused; false if it was one block.
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

// failed records an error, after which the node rests for a while.
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

// ErrUnfit is the error of a node that cannot be used at all: it is on another chain.
var ErrUnfit = errors.New("a node of another chain")

// unfit is an error that matches ErrUnfit.
type unfit struct{ error }

// Unwrap returns the error and ErrUnfit.
func (u unfit) Unwrap() []error { return []error{u.error, ErrUnfit} }

// fitness reports whether the node is on another chain, and when it last answered.
func (p *provider) fitness() (unfit bool, last time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unfit, p.lastGood
}

// tell records whether the node's failure is logged, and returns the previous value.
func (p *provider) tell(fails bool) (before bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, p.told = p.told, fails
	return before
}

// nodeError adds the node's name to an error, unless it has it.
func nodeError(p *provider, err error) error {
	if strings.HasPrefix(err.Error(), p.Name()+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", p.Name(), err)
}

// joined joins two errors on a single line; either may be nil.
func joined(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}

// nodeFailed records an error of a node, after which the node rests for a while. Failures of hosts
// are logged by their clients; invalid responses of a node are logged here.
func (c *Chain) nodeFailed(ctx context.Context, p *provider, err error) {
	if ctx.Err() != nil {
		return
	}
	p.failed(err, c.o.Now())
	if ofHost(err) || p.tell(true) {
		return
	}
	c.o.Log.Error().Err(err).Str("node", p.Name()).Msg("a node returns errors")
}

// nodeAnswered records that a node's response is valid.
func (c *Chain) nodeAnswered(p *provider) {
	if p.tell(false) {
		c.o.Log.Info().Str("node", p.Name()).Msg("a node returns valid responses again")
	}
}

// ofHost reports whether an error is that of a host that could not be reached or refused the
// request, and not of the response's contents.
func ofHost(err error) bool {
	var status *fetch.StatusError
	var shape *fetch.ShapeError
	var lost *fetch.LostError
	var closed *fetch.ClosedError
	return errors.As(err, &status) || errors.As(err, &shape) || errors.As(err, &lost) || errors.As(err, &closed)
}

// errBehind is the error of a node that does not have a block yet, or not as a final one.
var errBehind = errors.New("the node is behind others")

// behind records that the node does not have a block that another has.
func (p *provider) behind(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = now.Add(firstPause)
}

// pause returns how long to wait after n failures in a row.
func pause(n int) time.Duration {
	return min(mostPause, firstPause<<min(n-1, 10))
}

// caught records a response that lacked logs.
func (p *provider) caught() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lied++
}

// failsAlone reports whether the last request to the node failed while that to another node, which
// does not rest, succeeded.
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

// rests returns until when the node rests; it does not rest if that is not after now.
func (p *provider) rests() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until
}

// status returns the node's status.
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
