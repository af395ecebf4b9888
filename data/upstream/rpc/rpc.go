// Package rpc requests logs and headers of blocks from nodes of Polygon over JSON-RPC, and checks
// the responses as far as possible: a node that lags, or is behind a load balancer, may return
// fewer logs and no error.
package rpc

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"pmx/data"
	"pmx/data/upstream/fetch"
)

// ChainID is that of Polygon, the only supported chain.
const ChainID = 137

// behindLatest is the number of newest blocks that may still change, for nodes that do not say
// which are final.
const behindLatest = 256

// Header is the header of a block. If only its number is known, Hash and Parent are zero, and Time
// is 0.
type Header struct {
	Number int64
	Hash   data.Hash
	Parent data.Hash
	Time   int64 // unix seconds
}

// Client is a client of one provider. It may be used by several goroutines.
type Client struct {
	host    *fetch.Host
	known   atomic.Bool // it is on the right chain
	id      atomic.Int64
	rooms   sync.Pool // of *room
	mu      sync.Mutex
	batch   int // maximum number of calls in a batch
	untried int // number of requests until the tag finalized is tried again
	unknown int // number of times in a row that it was not known
	stats   Stats
}

// Stats are figures of a client since the start.
type Stats struct {
	Batch      int   // maximum number of calls that the provider accepts in a batch
	Finalized  bool  // the provider knows the tag finalized
	Foreign    int64 // answers to calls that were not made
	Repeated   int64 // repeated answers
	AskedAgain int64 // calls without an answer in their batch
	Faults     int64 // errors of the provider, not of the call
}

// The maximum number of calls in a batch, the number of attempts for a call, the first pause after
// a temporary error, the number of times in a row after which a provider counts as not knowing the
// tag finalized, and the number of requests after which the tag is tried again.
const (
	mostCalls   = 100
	mostRounds  = 5
	firstPause  = 500 * time.Millisecond
	unknownTags = 3
	untriedTags = 100
)

// New returns a Client of a provider.
func New(h *fetch.Host) *Client { return &Client{host: h, batch: mostCalls} }

// Name returns the name of the source.
func (c *Client) Name() string { return c.host.Name() }

// Stats returns the current figures.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Batch, s.Finalized = c.batch, c.untried == 0
	return s
}

// WrongChain is the error of a provider of a chain other than Polygon.
type WrongChain struct{ ID int64 }

// Error has the id of the chain.
func (e *WrongChain) Error() string {
	return fmt.Sprintf("the provider has chain %d, not %d, which is Polygon", e.ID, ChainID)
}

// Error is an error that a node returned.
type Error struct {
	Code    int64
	Message string // up to a kilobyte, without secrets

	said   string // message and data, in lower case
	data   []byte
	status int // of HTTP
}

// Error returns the node's message.
func (e *Error) Error() string {
	return fmt.Sprintf("the node returned error %d: %s", e.Code, e.Message)
}

// Reason is why a response is not accepted: a short stable text.
type Reason string

// Error returns the reason.
func (r Reason) Error() string { return string(r) }

// Why responses are incomplete or wrong.
const (
	NotAnswered Reason = "not_answered"      // even after repeated calls
	NotFinal    Reason = "not_final"         // the end of the range is not final
	Behind      Reason = "behind"            // the node does not know the block
	OtherBlock  Reason = "other_block"       // a block that was not requested
	OtherTx     Reason = "other_transaction" // one that was not requested
	NoBlock     Reason = "no_block"          // a header that cannot be parsed
	NoLogs      Reason = "no_logs"           // a list of logs that cannot be parsed
	NoPlace     Reason = "no_place"          // a log without its block
	Outside     Reason = "outside"           // a log of a block that was not requested
	Removed     Reason = "removed"           // a log that a reorganisation removed
	OtherEnd    Reason = "other_end"         // a log of the last block with another hash
	TwoBlocks   Reason = "two_blocks"        // two hashes of one block
	Differ      Reason = "answers_differ"    // two answers to one call
)

// Incomplete is the error of a response that must not be used, because it may be incomplete.
type Incomplete struct {
	Why   Reason
	Block int64 // the block in question; 0: none in particular
}

// Error returns the reason and the block.
func (e *Incomplete) Error() string {
	return fmt.Sprintf("the response is not reliable: %s at block %d", string(e.Why), e.Block)
}

// Unwrap returns the reason.
func (e *Incomplete) Unwrap() error { return e.Why }

// check checks once that the provider has the right chain.
func (c *Client) check(ctx context.Context) error {
	if c.known.Load() {
		return nil
	}
	got, err := c.ask(ctx, []call{{method: "eth_chainId", listed: true}})
	if err != nil {
		return err
	}
	id, ok := quantity(got[0].result)
	switch {
	case got[0].err != nil:
		return got[0].err
	case !ok:
		return &Incomplete{Why: NotAnswered}
	case id != ChainID:
		return &WrongChain{ID: id}
	}
	c.known.Store(true)
	return nil
}
