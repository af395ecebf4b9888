package follow

import (
	"context"
	"errors"

	"pmx/data"
	"pmx/data/upstream/rpc"
)

// NewNode returns the node of a client.
func NewNode(c *rpc.Client) Node { return &rpcNode{c} }

type rpcNode struct{ client *rpc.Client }

func (n *rpcNode) Name() string { return n.client.Name() }

func (n *rpcNode) Logs(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Answer, error) {
	r, err := n.client.Logs(ctx, from, to, addresses, topics)
	var wide *rpc.TooWide
	switch {
	case errors.As(err, &wide):
		blocks := int64(0)
		if wide.To > 0 {
			blocks = wide.To - wide.From + 1
		}
		return Answer{}, errors.Join(&TooWide{blocks}, err)
	case errors.Is(err, rpc.NotFinal), errors.Is(err, rpc.Behind):
		return Answer{}, errors.Join(errBehind, err)
	case err != nil:
		return Answer{}, fitting(err)
	}
	return Answer{End: Header(r.End), Finalized: Header(r.Finalized), Apart: !r.Together, EachLog: r.EachLog, Release: r.Release,
		Bytes: r.Bytes()}, nil
}

func (n *rpcNode) Headers(ctx context.Context, numbers []int64) ([]Header, error) {
	list, err := n.client.Headers(ctx, numbers)
	out := make([]Header, len(list))
	for i, h := range list {
		out[i] = Header(h)
	}
	return out, fitting(err)
}

func (n *rpcNode) Finalized(ctx context.Context) (Header, error) {
	h, _, err := n.client.Finalized(ctx)
	return Header(h), fitting(err)
}

// fitting makes the error of a node on another chain match ErrUnfit.
func fitting(err error) error {
	var wrong *rpc.WrongChain
	if errors.As(err, &wrong) {
		return unfit{err}
	}
	return err
}

func (n *rpcNode) Tail(ctx context.Context, from, to int64, addresses []data.Address, topics []data.Hash) (Header, *Answer, error) {
	final, r, err := n.client.Tail(ctx, from, to, addresses, topics)
	if err != nil || r == nil {
		return Header(final), nil, err
	}
	return Header(final), &Answer{Before: Header(r.Before), End: Header(r.End), Finalized: Header(r.Finalized), EachLog: r.EachLog, Release: r.Release, Bytes: r.Bytes()}, nil
}
