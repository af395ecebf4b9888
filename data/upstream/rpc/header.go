package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"pmx/data"
)

// header parses the header of a block, which must have this number unless it is -1. Other fields
// are ignored, such as extraData, whose length differs from other chains.
func header(r *reply, number int64) (Header, error) {
	switch {
	case r.err != nil && r.err.isBehind(), r.err == nil && r.null():
		return Header{}, &Incomplete{Why: Behind, Block: max(number, 0)}
	case r.err != nil:
		return Header{}, r.err
	}
	var wire struct {
		Number    json.RawMessage `json:"number"`
		Hash      string          `json:"hash"`
		Parent    string          `json:"parentHash"`
		Timestamp json.RawMessage `json:"timestamp"`
	}
	bad := &Incomplete{Why: NoBlock, Block: max(number, 0)}
	if json.Unmarshal(r.result, &wire) != nil {
		return Header{}, bad
	}
	var h Header
	var ok, okTime bool
	var err, errParent error
	h.Number, ok = quantity(wire.Number)
	h.Time, okTime = quantity(wire.Timestamp)
	h.Hash, err = data.ParseHash(wire.Hash)
	h.Parent, errParent = data.ParseHash(wire.Parent)
	switch {
	case !ok, !okTime, err != nil, errParent != nil, h.Hash.IsZero():
		return Header{}, bad
	case number >= 0 && h.Number != number:
		return Header{}, &Incomplete{Why: OtherBlock, Block: h.Number}
	}
	return h, nil
}

// Header requests the header of a block. The errors are those of Logs; Behind is for a block that
// the provider does not have.
func (c *Client) Header(ctx context.Context, number int64) (Header, error) {
	list, err := c.Headers(ctx, []int64{number})
	if err != nil {
		return Header{}, err
	}
	return list[0], nil
}

// Headers requests the headers of blocks, and returns them in the order of numbers.
func (c *Client) Headers(ctx context.Context, numbers []int64) ([]Header, error) {
	if err := c.check(ctx); err != nil {
		return nil, c.named(err, "chain id")
	}
	calls := make([]call, len(numbers))
	for i, n := range numbers {
		if n < 0 {
			return nil, fmt.Errorf("header of block %d: a block number must not be negative", n)
		}
		calls[i] = call{method: "eth_getBlockByNumber", params: []any{hexOf(n), false}}
	}
	replies, err := c.ask(ctx, calls)
	if err != nil {
		return nil, c.named(err, fmt.Sprintf("headers of %d blocks", len(numbers)))
	}
	headers := make([]Header, len(numbers))
	for i, n := range numbers {
		if headers[i], err = header(&replies[i], n); err != nil {
			return nil, c.named(err, fmt.Sprintf("header of block %d", n))
		}
	}
	return headers, nil
}

// Finalized requests the header of the last final block and the number of the newest block. For a
// provider that does not say which block is final, the header has only the number of the block 256
// before the newest.
func (c *Client) Finalized(ctx context.Context) (final Header, latest int64, err error) {
	if err := c.check(ctx); err != nil {
		return Header{}, 0, c.named(err, "chain id")
	}
	question := c.head()
	replies, err := c.ask(ctx, []call{tagged("latest"), question})
	if err != nil {
		return Header{}, 0, c.named(err, "final block")
	}
	newest, err := header(&replies[0], -1)
	if err == nil {
		final, _, err = c.finalized(ctx, question, &replies[1])
	}
	if err != nil {
		return Header{}, 0, c.named(err, "final block")
	}
	return final, max(newest.Number, final.Number), nil
}
