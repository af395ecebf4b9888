package rpc

import (
	"context"
	"encoding/json"

	"pmx/data"
)

// Receipt is the receipt of a transaction.
type Receipt struct {
	Tx        data.Hash
	Block     int64
	BlockHash data.Hash
	Failed    bool // it was reverted and has no logs

	logs []byte // JSON, an array
}

// EachLog calls f with the JSON object of each log, like Range.EachLog.
func (r *Receipt) EachLog(f func(log []byte) error) error { return elements(r.logs, f) }

// Receipt requests the receipt of a transaction, with all of its logs from any contract. It can
// show whether the response for a range was complete. The errors are those of Logs; Behind is for a
// transaction that the provider does not have.
func (c *Client) Receipt(ctx context.Context, tx data.Hash) (*Receipt, error) {
	if err := c.check(ctx); err != nil {
		return nil, c.named(err, "chain id")
	}
	what := "receipt of " + tx.String()
	replies, err := c.ask(ctx, []call{{method: "eth_getTransactionReceipt", params: []any{tx.String()}}})
	if err != nil {
		return nil, c.named(err, what)
	}
	r, err := receipt(&replies[0], tx)
	if err != nil {
		return nil, c.named(err, what)
	}
	return r, nil
}

func receipt(got *reply, tx data.Hash) (*Receipt, error) {
	switch {
	case got.err != nil && got.err.isBehind(), got.err == nil && got.null():
		return nil, &Incomplete{Why: Behind}
	case got.err != nil:
		return nil, got.err
	}
	var wire struct {
		Tx     string          `json:"transactionHash"`
		Block  json.RawMessage `json:"blockNumber"`
		Hash   string          `json:"blockHash"`
		Status json.RawMessage `json:"status"`
		Logs   json.RawMessage `json:"logs"`
	}
	if json.Unmarshal(got.result, &wire) != nil {
		return nil, &Incomplete{Why: NoLogs}
	}
	r := &Receipt{logs: wire.Logs}
	var ok, okStatus bool
	var status int64
	var err, errBlock error
	r.Block, ok = quantity(wire.Block)
	r.Tx, err = data.ParseHash(wire.Tx)
	r.BlockHash, errBlock = data.ParseHash(wire.Hash)
	status, okStatus = quantity(wire.Status)
	r.Failed = okStatus && status == 0
	switch {
	case !ok || err != nil || errBlock != nil:
		return nil, &Incomplete{Why: NoPlace}
	case r.Tx != tx:
		return nil, &Incomplete{Why: OtherTx, Block: r.Block}
	}
	list, _, err := locateElements(r.logs, 0, nil)
	if err != nil {
		return nil, &Incomplete{Why: NoLogs, Block: r.Block}
	}
	// its logs are all in one block
	in := &Range{From: r.Block, To: r.Block, End: Header{Number: r.Block, Hash: r.BlockHash}, room: room{r.logs, list}}
	return r, in.check()
}
