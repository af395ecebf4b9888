// Package subgraph reads responses of The Graph's order-book and positions subgraphs: OrderFilled
// events, and the map of tokens to conditions.
package subgraph

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// Feeds returns the feeds of this package.
func Feeds() []data.Feed { return []data.Feed{orderFilled(), positions()} }

func orderFilled() data.Feed {
	return data.Feed{
		Name:  "subgraph-order-filled",
		About: "orderFilledEvents of the order-book subgraph: JSON responses, arrays or NDJSON",
		Rule: "an event has an id: a row repeated with its id is one fill, equal rows with different ids are separate fills, " +
			"across files the larger count is used",
		Kind:     data.KindFills,
		Identity: data.KeepRepeats,
		Formats:  []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			for _, p := range []string{"", "orderFilledEvents[].", "data.orderFilledEvents[].", "data[]."} {
				if shape.HasKeys(h, p+"makerAssetId", p+"takerAssetId", p+"makerAmountFilled", p+"maker") {
					return true
				}
			}
			return false
		},
		Read: readOrderFilled,
	}
}

// event is an OrderFilledEvent; numbers are strings.
type event struct {
	ID          shape.Text `json:"id"`
	Tx          shape.Text `json:"transactionHash"`
	Timestamp   shape.Text `json:"timestamp"`
	Maker       account    `json:"maker"`
	Taker       account    `json:"taker"`
	MakerAsset  shape.Text `json:"makerAssetId"`
	TakerAsset  shape.Text `json:"takerAssetId"`
	MakerAmount shape.Text `json:"makerAmountFilled"`
	TakerAmount shape.Text `json:"takerAmountFilled"`
	Fee         shape.Text `json:"fee"`
}

// account is an address, or an object with an address as its id.
type account string

// UnmarshalJSON accepts both forms; anything else is "".
func (a *account) UnmarshalJSON(b []byte) error {
	var s shape.Text
	var o struct {
		ID shape.Text `json:"id"`
	}
	if len(b) > 0 && b[0] == '{' {
		if json.Unmarshal(b, &o) == nil {
			*a = account(o.ID.Trim())
		}
		return nil
	}
	if s.UnmarshalJSON(b) == nil {
		*a = account(s.Trim())
	}
	return nil
}

func readOrderFilled(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) (err error) {
	open, r, err := shape.Reopener(src, r)
	if err != nil {
		return err
	}
	seen := repeatFinder{ctx: ctx, src: src, open: open, keys: map[[32]byte]bool{}}
	defer func() { err = errors.Join(err, seen.close()) }()
	return eachEvent(ctx, src, r, sink, func(line int64, raw json.RawMessage) error {
		seen.number++
		var e event
		if json.Unmarshal(raw, &e) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		if again, err := seen.repeated(&e); err != nil {
			return err
		} else if again {
			return sink.Pass(line, data.PassedRepeated)
		}
		f, err := e.fill()
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Fill(line, f)
	})
}

func eachEvent(ctx context.Context, src data.Source, r io.Reader, sink data.Sink, fn shape.Record) error {
	return shape.Reading{Lists: []string{"data", "orderFilledEvents"}, Sink: sink}.Each(ctx, src, r, fn)
}

// key identifies an event: it is a hash of all fields from which the fill is made.
func (e *event) key() [32]byte {
	parts := []string{string(e.ID), string(e.Timestamp), strings.ToLower(string(e.Maker)), strings.ToLower(string(e.Taker)),
		string(e.MakerAsset), string(e.TakerAsset), string(e.MakerAmount), string(e.TakerAmount), string(e.Fee)}
	return sha256.Sum256([]byte(strings.Join(parts, "\x00")))
}

// fill returns the fill of the event's maker; the error is a *shape.RowError.
func (e *event) fill() (data.Fill, error) {
	f := data.Fill{LogIndex: data.NoIndex, Outcome: data.NoIndex, Role: data.Maker}
	var err error
	if f.Wallet, err = data.ParseAddress(string(e.Maker)); err != nil {
		return f, shape.Known("bad_address")
	}
	if e.Taker != "" {
		taker, err := data.ParseAddress(string(e.Taker))
		if err != nil {
			return f, shape.Known("bad_address")
		}
		if reference.IsExchange(taker) {
			f.Role = data.Taker
		}
	}
	if f.TS, err = shape.FillTime(e.Timestamp.Trim()); err != nil {
		return f, err
	}
	if f.Tx, err = e.transaction(); err != nil {
		return f, err
	}
	return f, e.amounts(&f)
}

// transaction returns the hash in its own field, else that at the beginning of the id, if the id
// has one.
func (e *event) transaction() (data.Hash, error) {
	if e.Tx.Trim() != "" {
		return e.Tx.Hash()
	}
	if id := e.ID.Trim(); strings.HasPrefix(id, "0x") {
		tx, _, _ := strings.Cut(id, "_")
		return shape.Text(tx).Hash()
	}
	return data.Hash{}, nil
}

func (e *event) amounts(f *data.Fill) error {
	token, shares, usd := e.TakerAsset, e.TakerAmount, e.MakerAmount
	switch {
	case e.MakerAsset.Trim() == "0":
		f.Side = data.Buy
	case e.TakerAsset.Trim() == "0":
		f.Side = data.Sell
		token, shares, usd = e.MakerAsset, e.MakerAmount, e.TakerAmount
	default:
		return shape.Known("bad_side")
	}
	id, ok := shape.TokenID(token.Trim())
	if !ok {
		return shape.Known("bad_token")
	}
	f.TokenID = id
	if f.Shares, ok = units(shares); !ok {
		return shape.Known("bad_amount")
	}
	if f.USD, ok = units(usd); !ok {
		return shape.Known("bad_amount")
	}
	if e.Fee.Trim() != "" {
		if f.Fee, ok = units(e.Fee); !ok {
			return shape.Known("bad_amount")
		}
	}
	return shape.Check(*f)
}

// units parses an integer in millionths.
func units(t shape.Text) (data.Micro, bool) {
	n, err := data.ParseWhole(t.Trim())
	return data.Micro(n), err == nil
}

func positions() data.Feed {
	return data.Feed{
		Name:    "subgraph-positions",
		About:   "positions of the PnL subgraph as a map of token ids to conditions: id, condition, outcomeIndex",
		Kind:    data.KindReference,
		Formats: []data.Format{data.JSON, data.NDJSON},
		Match: func(h data.Head) bool {
			for _, p := range []string{"", "positions[].", "data.positions[].", "data[]."} {
				if shape.HasKeys(h, p+"condition", p+"id", p+"outcomeIndex") {
					return true
				}
			}
			return false
		},
		Read: readPositions,
	}
}

func readPositions(ctx context.Context, src data.Source, r io.Reader, sink data.Sink) error {
	rd := shape.Reading{Lists: []string{"data", "positions"}, Sink: sink}
	return rd.Each(ctx, src, r, func(line int64, raw json.RawMessage) error {
		var p struct {
			ID        shape.Text `json:"id"`
			Condition account    `json:"condition"`
			Outcome   shape.Text `json:"outcomeIndex"`
		}
		if json.Unmarshal(raw, &p) != nil {
			return shape.Reject(sink, line, raw, shape.Known("bad_json"))
		}
		condition, err := data.ParseCondition(string(p.Condition))
		if err != nil || condition.IsZero() {
			return shape.Reject(sink, line, raw, shape.Known("bad_condition"))
		}
		token, ok := shape.TokenID(p.ID.Trim())
		if !ok {
			return shape.Reject(sink, line, raw, shape.Known("bad_token"))
		}
		outcome, err := p.Outcome.Index(127)
		if err == nil && outcome == data.NoIndex {
			err = shape.Known("bad_outcome")
		}
		if err != nil {
			return shape.Reject(sink, line, raw, err)
		}
		return sink.Token(line, data.TokenRef{TokenID: token, Condition: condition, Outcome: outcome})
	})
}
