package polygon

import (
	"encoding/binary"
	"slices"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds/spill"
)

// entry is an event before it is put into chain order.
type entry struct {
	block int64
	tx    data.Hash
	index int32
	stored
	odd  string       // of a fill
	paid []data.Micro // of payouts
}

// stored has the fields that are spilled as they are.
type stored struct {
	Line, Time int64
	BlockHash  data.Hash
	Kind       chain.EventKind
	Removed    bool

	Order, Token, Condition data.Hash
	Emitter, Maker          data.Address // Maker: of a refund, the wallet that gets it
	Role                    data.Role
	Side                    data.Side
	Outcome                 int8
	FeeIn                   chain.Asset
	Refundable, Derived     bool
	Shares, USD, Fee        data.Micro // of a refund: Shares is the refunded amount, Fee the remaining one
}

const keyBytes = 8 + 32 + 4

// entryOf copies an event, which is valid only until the next call of Decode.
func entryOf(line int64, e *chain.Event) entry {
	out := entry{block: e.Log.Block, tx: e.Log.Tx, index: e.Log.Index,
		stored: stored{Line: line, Time: e.Log.Time, BlockHash: e.Log.BlockHash, Kind: e.Kind, Removed: e.Log.Removed, Emitter: e.Log.Address}}
	s := &out.stored
	switch e.Kind {
	case chain.Filled:
		f := &e.Fill
		out.odd = f.Odd
		s.Order, s.Token, s.Condition, s.Maker, s.Role, s.Side = f.Order, f.Token, f.Condition, f.Maker, f.Role, f.Side
		s.Outcome, s.FeeIn, s.Refundable = int8(f.Outcome), f.FeeIn, f.Refundable
		s.Shares, s.USD, s.Fee = f.Shares, f.USD, f.Fee
	case chain.Refunded:
		s.Order, s.Token, s.Maker, s.Shares, s.Fee = e.Refund.Order, e.Refund.Token, e.Refund.To, e.Refund.Amount, e.Refund.Charged
	case chain.Resolved:
		s.Condition, s.Derived = e.Resolution.Condition, e.Resolution.Derived
		out.paid = slices.Clone(e.Resolution.Payouts)
	case chain.Decided:
		s.Condition = e.Group
	case chain.Migrated:
		s.Condition = e.Migrated
	}
	return out
}

// put spills an event, with its position in the chain as key.
func (r *reader) put(line int64, event *chain.Event) error {
	e := entryOf(line, event)
	var err error
	if r.value, err = binary.Append(r.value[:0], binary.BigEndian, &e.stored); err != nil {
		return err
	}
	r.value = append(append(r.value, byte(len(e.odd))), e.odd...)
	if e.Kind == chain.Resolved {
		if r.value, err = binary.Append(r.value, binary.BigEndian, e.paid); err != nil {
			return err
		}
	}
	r.key = binary.BigEndian.AppendUint64(r.key[:0], uint64(e.block))
	r.key = append(r.key, e.tx[:]...)
	r.key = binary.BigEndian.AppendUint32(r.key, uint32(e.index))
	r.aside = true
	return r.entries.Add(r.key, r.value)
}

// take decodes an event that put has spilled.
func take(key, value []byte) (e entry, err error) {
	if len(key) != keyBytes {
		return e, spill.ErrDamaged
	}
	e.block = int64(binary.BigEndian.Uint64(key))
	e.tx = data.Hash(key[8:40])
	e.index = int32(binary.BigEndian.Uint32(key[40:]))
	n, err := binary.Decode(value, binary.BigEndian, &e.stored)
	if err != nil || len(value) == n || len(value) < n+1+int(value[n]) {
		return e, spill.ErrDamaged
	}
	e.odd = string(value[n+1 : n+1+int(value[n])])
	rest := value[n+1+int(value[n]):]
	if len(rest)%8 != 0 {
		return e, spill.ErrDamaged
	}
	if len(rest) > 0 {
		e.paid = make([]data.Micro, len(rest)/8)
		_, err = binary.Decode(rest, binary.BigEndian, e.paid)
	}
	return e, err
}
