package rpc

import (
	"context"
	"fmt"

	"pmx/data"
)

// Tail requests, in one batch, the last final block and the logs from block from, which need not be
// final yet, up to block to, which will not be final for some time. It returns the header of the
// last final block, and the logs up to that block if the response proves that their node had it.
// The logs are nil if it does not, or if the last final block is before from; neither is an error.
//
// The calls of a batch are answered one after the other, possibly by different nodes, so the head
// and the blocks that are not final may change in between. The proof that the node that returned
// the logs had the last final block is a log of that block, with its hash. Logs of later blocks are
// left out.
//
// The errors are those of Finalized.
func (c *Client) Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Header, *Range, error) {
	if from < 1 || to < from {
		return Header{}, nil, fmt.Errorf("logs of blocks %d to %d: the range is empty", from, to)
	}
	if c.most() < 3 {
		final, _, err := c.Finalized(ctx)
		return final, nil, err
	}
	if err := c.check(ctx); err != nil {
		return Header{}, nil, c.named(err, "chain id")
	}
	calls := []call{logsOf(from, to, addresses, topics), c.head(), blockOf(from - 1)}
	replies, err := c.ask(ctx, calls)
	if err != nil {
		return Header{}, nil, c.named(err, "newest logs")
	}
	final, latest, err := c.finalized(ctx, calls[1], &replies[1])
	if err != nil {
		return Header{}, nil, c.named(err, "final block")
	}
	inOne := replies[0].sent == replies[1].sent && replies[1].sent == replies[2].sent
	if latest != 0 || !inOne || replies[0].err != nil || final.Number < from || final.Number > to {
		return final, nil, nil
	}
	r := &Range{From: from, To: final.Number, End: final, Finalized: final, Together: true}
	if r.Before, err = header(&replies[2], from-1); err != nil {
		r.Before = Header{} // a pruned node no longer has it
	}
	if !replies[0].trim(final.Number, to) || c.take(r, &replies[0]) != nil {
		r.Release()
		return final, nil, nil
	}
	return final, r, nil
}

// trim removes the logs of blocks after the last final one from a reply. No log may be after block
// upTo. It returns false if the remaining logs do not prove that their node had the last final
// block, or cannot be parsed. Other checks are those of Range.check.
func (r *reply) trim(final, upTo int64) bool {
	proved := false
	kept := r.elements[:0]
	for _, p := range r.elements {
		at, err := find(r.room.body[p.from:p.to])
		if err != nil {
			return false
		}
		switch block, ok := quantity(at.number); {
		case !ok, at.removed, block > upTo:
			return false
		case block > final:
			continue
		default:
			proved = proved || block == final // its hash is checked by Range.check
		}
		kept = append(kept, p)
	}
	r.elements = kept
	return proved
}
