package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pmx/data"
	"pmx/data/upstream/fetch"
)

// Range has the logs of a range of blocks from one provider.
type Range struct {
	From, To  int64
	End       Header // of block To
	Before    Header // of the block before From; zero if it was not requested, or is not known
	Finalized Header // of the last final block according to the provider, To or later
	Latest    int64  // the newest block; 0 if it was not requested
	// Together is set if logs and headers came in one response. If they did not, a lagging node may
	// have returned the logs, and another node the headers.
	Together bool

	room  room       // has the logs as elements
	free  func(room) // takes the room back; may be nil
	count int64
	bytes int64
}

// EachLog calls f with the JSON object of each log, in the order of the response. The bytes are
// valid until Release is called, and f must not change them.
func (r *Range) EachLog(f func(log []byte) error) error {
	for _, p := range r.room.elements {
		if err := f(r.room.body[p.from:p.to]); err != nil {
			return err
		}
	}
	return nil
}

// Release allows the memory of the logs to be reused. Calling it is optional.
func (r *Range) Release() {
	if r.free != nil {
		r.free(r.room)
	}
	r.room, r.free = room{}, nil
}

// Count returns the number of logs.
func (r *Range) Count() int64 { return r.count }

// Bytes returns the size of the logs' JSON.
func (r *Range) Bytes() int64 { return r.bytes }

// filter is the parameter of eth_getLogs.
type filter struct {
	From    string     `json:"fromBlock"`
	To      string     `json:"toBlock"`
	Address []string   `json:"address,omitempty"`
	Topics  [][]string `json:"topics,omitempty"`
}

// Logs requests the logs of the blocks from … to, both included, of the contracts at addresses,
// with one of topics as first topic; none: all. The same request includes the header of to and that
// of the last final block, which must not be before to.
//
// The error is a *TooWide if the provider does not return the range as a whole, an *Incomplete if
// the response may be incomplete, a *WrongChain, an *Error, or one of package fetch.
func (c *Client) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (*Range, error) {
	if from < 0 || to < from {
		return nil, fmt.Errorf("logs of blocks %d to %d: the range is empty", from, to)
	}
	if err := c.check(ctx); err != nil {
		return nil, c.named(err, "chain id")
	}
	r, err := c.logs(ctx, from, to, logsOf(from, to, addresses, topics))
	var refused *fetch.StatusError
	switch {
	case errors.Is(err, fetch.ErrTooLarge), errors.As(err, &refused) && refused.Code == http.StatusRequestEntityTooLarge:
		err = &TooWide{Said: err.Error()}
	case err == nil:
		return r, nil
	}
	return nil, c.named(err, fmt.Sprintf("logs of blocks %d to %d", from, to))
}

// logsOf returns the call for logs.
func logsOf(from, to int64, addresses []data.Address, topics []data.Hash) call {
	f := filter{From: hexOf(from), To: hexOf(to)}
	for _, a := range addresses {
		f.Address = append(f.Address, a.String())
	}
	if len(topics) > 0 {
		f.Topics = make([][]string, 1)
		for _, t := range topics {
			f.Topics[0] = append(f.Topics[0], t.String())
		}
	}
	return call{method: "eth_getLogs", params: []any{f}, listed: true, large: true}
}

// blockOf returns the call for a block's header.
func blockOf(number int64) call {
	return call{method: "eth_getBlockByNumber", params: []any{hexOf(number), false}}
}

// named adds the provider and the request to an error. Errors of package fetch already have the
// provider.
func (c *Client) named(err error, what string) error {
	name := c.host.Name() + ": "
	return &askError{fmt.Sprintf("%s%s: %s", name, what, strings.TrimPrefix(err.Error(), name)), err}
}

// askError is an error with its provider and request.
type askError struct {
	text  string
	cause error
}

// Error returns the text.
func (e *askError) Error() string { return e.text }

// Unwrap returns the cause.
func (e *askError) Unwrap() error { return e.cause }

// logs requests logs and headers in one batch. For a provider without batches, the logs are
// requested last, when it is known that it has the blocks.
func (c *Client) logs(ctx context.Context, from, to int64, question call) (*Range, error) {
	r := &Range{From: from, To: to}
	calls := []call{question, blockOf(to), c.head()}
	if c.most() == 1 {
		calls = calls[1:]
	}
	replies, err := c.ask(ctx, calls)
	if err != nil {
		return nil, err
	}
	headers := replies[len(replies)-2:]
	if len(calls) == 3 && replies[0].err != nil {
		return nil, replies[0].err.ofLogs(from, to)
	}
	if r.End, err = header(&headers[0], to); err != nil {
		return nil, err
	}
	if r.Finalized, r.Latest, err = c.finalized(ctx, calls[len(calls)-1], &headers[1]); err != nil {
		return nil, err
	}
	if r.Finalized.Number < to {
		return nil, &Incomplete{Why: NotFinal, Block: r.Finalized.Number}
	}
	if r.Finalized.Number == to && !r.Finalized.Hash.IsZero() && r.Finalized.Hash != r.End.Hash {
		return nil, &Incomplete{Why: OtherEnd, Block: to}
	}
	inOne := replies[0].sent == headers[0].sent && headers[0].sent == headers[1].sent
	r.Together = len(calls) == 3 && inOne && calls[2].isTagged("finalized") == (r.Latest == 0)
	if len(calls) < 3 {
		if replies, err = c.ask(ctx, []call{question}); err != nil {
			return nil, err
		}
		if replies[0].err != nil {
			return nil, replies[0].err.ofLogs(from, to)
		}
	}
	return r, c.take(r, &replies[0])
}

// take checks the logs of a reply and adds them to a range.
func (c *Client) take(r *Range, own *reply) error {
	if own.result[0] != '[' {
		return &Incomplete{Why: NoLogs, Block: r.From}
	}
	r.room, r.bytes, r.free = room{own.room.body, own.elements}, int64(len(own.result)), c.give
	return r.check()
}

// ofLogs returns the error of an eth_getLogs call.
func (e *Error) ofLogs(from, to int64) error {
	switch {
	case e.isWide():
		return e.tooWide(from, to)
	case e.isBehind():
		return &Incomplete{Why: Behind, Block: to}
	}
	return e
}

// check checks that the logs belong to the range.
func (r *Range) check() error {
	var end [66]byte
	r.End.Hash.Append(end[:0])
	var last place
	var block, lastBlock int64 = 0, -1
	r.count = int64(len(r.room.elements))
	return r.EachLog(func(log []byte) error {
		p, err := find(log)
		if err != nil {
			return &Incomplete{Why: NoLogs, Block: r.From}
		}
		if last.number != nil && bytes.Equal(p.number, last.number) {
			block = lastBlock
		} else {
			var ok bool
			if block, ok = quantity(p.number); !ok {
				return &Incomplete{Why: NoPlace, Block: r.From}
			}
		}
		switch {
		case p.removed:
			return &Incomplete{Why: Removed, Block: block}
		case block < r.From || block > r.To:
			return &Incomplete{Why: Outside, Block: block}
		case block == r.To && !sameHash(p.hash, end[:]):
			return &Incomplete{Why: OtherEnd, Block: block}
		case block == lastBlock && !bytes.Equal(p.hash, last.hash) && !bytes.EqualFold(p.hash, last.hash):
			return &Incomplete{Why: TwoBlocks, Block: block}
		}
		last, lastBlock = p, block
		return nil
	})
}

// sameHash reports whether a JSON string is hash.
func sameHash(quoted, hash []byte) bool {
	return len(quoted) == len(hash)+2 && bytes.EqualFold(quoted[1:len(quoted)-1], hash)
}

// place is the position of a log according to the log, as JSON.
type place struct {
	number, hash []byte
	removed      bool
}

// find returns the place of a log. Other members are ignored; a repeated one is an error.
func find(log []byte) (p place, err error) {
	const number, hash, removed = 1, 2, 4
	seen := 0
	err = members(log, func(key, value []byte) error {
		field := 0
		switch string(key) {
		case "blockNumber":
			field, p.number = number, value
		case "blockHash":
			field, p.hash = hash, value
		case "removed":
			field, p.removed = removed, string(value) != "false" && string(value) != "null"
		}
		if seen&field != 0 {
			return errNoJSON
		}
		seen |= field
		return nil
	})
	return p, err
}

// head returns the call for the last final block, or, if the provider does not know it, for the
// newest.
func (c *Client) head() call {
	c.mu.Lock()
	defer c.mu.Unlock()
	tag := "finalized"
	if c.untried > 0 {
		c.untried--
		tag = "latest"
	}
	return tagged(tag)
}

func tagged(tag string) call {
	return call{method: "eth_getBlockByNumber", params: []any{tag, false}}
}

// knowsTag records whether the provider knew the tag finalized.
func (c *Client) knowsTag(known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unknown++; known {
		c.unknown = 0
	}
	if c.unknown >= unknownTags {
		c.untried = untriedTags
	}
}

func (c call) isTagged(tag string) bool { return slices.Contains(c.params, any(tag)) }

// finalized parses the reply to the call of head. If the provider does not know the tag, the newest
// block is requested.
func (c *Client) finalized(ctx context.Context, question call, r *reply) (Header, int64, error) {
	if question.isTagged("finalized") {
		if r.err == nil && !r.null() {
			h, err := header(r, -1)
			c.knowsTag(true)
			return h, 0, err
		}
		if r.err != nil && !r.err.noTag() {
			return Header{}, 0, r.err
		}
		c.knowsTag(false)
		replies, err := c.ask(ctx, []call{tagged("latest")})
		if err != nil {
			return Header{}, 0, err
		}
		r = &replies[0]
	}
	latest, err := header(r, -1)
	return Header{Number: max(0, latest.Number-behindLatest)}, latest.Number, err
}
