package rpc

import (
	"context"
	"fmt"

	"pmx/data"
)

// Tail asks, in one request, for the last final block and for the logs from a block on that may not
// be final yet, up to another that certainly is not final for long. It returns the header of the
// last final block, and the logs up to it where the answer proves that they are all of that chain:
// nil if it does not, or where the block is before from, which is no error.
//
// The items of a batch are answered one after the other, by nodes that may not be the same: the
// head may move between them, and so may what is not final. What proves that the node that gave the
// logs had the last final block is a log of that very block, with its hash. Logs of blocks
// behind it are left out.
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
		r.Before = Header{} // a pruned node has it no more
	}
	if !replies[0].trim(final.Number, to) || c.take(r, &replies[0]) != nil {
		r.Release()
		return final, nil, nil
	}
	return final, r, nil
}

// trim takes the logs of blocks behind the last final one out of a reply, none of which may be
// behind another; false where those that stay do not prove that the node that gave them had the last
// final block, or cannot be read. What else must not be among them, Range.check looks for.
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
			proved = proved || block == final // with which hash, check looks
		}
		kept = append(kept, p)
	}
	r.elements = kept
	return proved
}
