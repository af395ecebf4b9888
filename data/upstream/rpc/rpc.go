// Package rpc asks nodes of Polygon over JSON-RPC for logs and headers of blocks, and checks
// what it can of the answers: a node that lags, or is asked through a balancer, answers with
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

// ChainID is that of Polygon, the only chain that is read.
const ChainID = 137

// behindLatest is how many blocks are held to be able to change where a node does not say
// which are final.
const behindLatest = 256

// Header is what is known of a block. Of one that a node only said the number of, Hash and
// Parent are zero, and Time is 0.
type Header struct {
	Number int64
	Hash   data.Hash
	Parent data.Hash
	Time   int64 // unix seconds
}

// Client asks one provider. It is for any number of goroutines.
type Client struct {
	host    *fetch.Host
	known   atomic.Bool // it is of the right chain
	id      atomic.Int64
	rooms   sync.Pool // of *room
	mu      sync.Mutex
	batch   int // most calls in a batch
	untried int // how many more times the tag finalized is not tried
	unknown int // how many times in a row it was not known
	stats   Stats
}

// Stats are figures of a client since the start.
type Stats struct {
	Batch      int   // most calls that the provider takes in a batch
	Finalized  bool  // the provider knows the tag finalized
	Foreign    int64 // answers to what was not asked
	Repeated   int64 // answers that were there before
	AskedAgain int64 // calls that a batch was answered without
	Faults     int64 // errors that are of the provider, not of what was asked
}

// The most calls in a batch, how often one is asked, how long the first pause is after an error
// that may pass, how often in a row a provider must not know the tag finalized to be held not to
// know it, and after how many questions it is asked for it again.
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

// Stats returns the figures as they are now.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	s.Batch, s.Finalized = c.batch, c.untried == 0
	return s
}

// WrongChain is for a provider of another chain than Polygon.
type WrongChain struct{ ID int64 }

// Error reports which chain it is.
func (e *WrongChain) Error() string {
	return fmt.Sprintf("the provider is of chain %d, not of %d, which is Polygon", e.ID, ChainID)
}

// Error is an error that a node answered.
type Error struct {
	Code    int64
	Message string // up to a kilobyte, without what is secret

	said   string // message and data, in lower case
	data   []byte
	status int // of HTTP
}

// Error returns what the node said.
func (e *Error) Error() string { return fmt.Sprintf("the node says %d: %s", e.Code, e.Message) }

// Reason is why an answer cannot be taken: a short stable text.
type Reason string

// Error returns the reason.
func (r Reason) Error() string { return string(r) }

// Why answers are not whole.
const (
	NotAnswered Reason = "not_answered"      // though asked again
	NotFinal    Reason = "not_final"         // the end of the range is not
	Behind      Reason = "behind"            // the node does not know the block
	OtherBlock  Reason = "other_block"       // a block that was not asked for
	OtherTx     Reason = "other_transaction" // one that was not asked for
	NoBlock     Reason = "no_block"          // a header that cannot be read
	NoLogs      Reason = "no_logs"           // a list of logs that cannot be read
	NoPlace     Reason = "no_place"          // a log that does not say its block
	Outside     Reason = "outside"           // a log of a block that was not asked for
	Removed     Reason = "removed"           // a log that a reorganisation took back
	OtherEnd    Reason = "other_end"         // a log of the last block with another hash
	TwoBlocks   Reason = "two_blocks"        // two hashes of one block
	Differ      Reason = "answers_differ"    // two answers to one question
)

// Incomplete is for an answer that must not be taken: something may be missing from it.
type Incomplete struct {
	Why   Reason
	Block int64 // where; 0: nowhere in particular
}

// Error returns the reason and the block.
func (e *Incomplete) Error() string {
	return fmt.Sprintf("the answer is not to be trusted: %s at block %d", string(e.Why), e.Block)
}

// Unwrap returns the reason.
func (e *Incomplete) Unwrap() error { return e.Why }

// check asks once whether the provider is of the right chain.
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
