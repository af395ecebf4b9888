package polygon

import (
	"cmp"
	"context"
	"slices"

	"pmx/data"
	"pmx/data/chain"
)

// mostLogs is the maximum number of logs of a block. The gas limit of a block does not allow as
// many.
const mostLogs = 1 << 16

// eachBlock passes on the spilled events, block by block.
func (r *reader) eachBlock(ctx context.Context) error {
	var logs []entry
	err := r.entries.Each(func(key, value []byte) error {
		e, err := take(key, value)
		if err != nil {
			return err
		}
		if len(logs) > 0 && logs[0].block != e.block {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.block(logs); err != nil {
				return err
			}
			logs = logs[:0]
		}
		if logs = append(logs, e); len(logs) > mostLogs {
			return tooManyLogs(e.block)
		}
		return nil
	})
	if err != nil || len(logs) == 0 {
		return err
	}
	return r.block(logs)
}

// block passes on the logs of a block, which are in the order of transactions and indexes. A log
// without a time gets that of the others.
func (r *reader) block(logs []entry) error {
	at := int64(0)
	for i := range logs {
		if t := logs[i].Time; t != 0 && (at == 0 || t < at) {
			at = t
		}
	}
	return eachTransaction(logs, func(of []entry) error { return r.transaction(of, at) })
}

// eachTransaction calls f with the logs of each transaction of a block.
func eachTransaction(logs []entry, f func(logs []entry) error) error {
	for len(logs) > 0 {
		n := 1
		for n < len(logs) && logs[n].tx == logs[0].tx {
			n++
		}
		if err := f(logs[:n]); err != nil {
			return err
		}
		logs = logs[n:]
	}
	return nil
}

// transaction passes on the logs of a transaction. at is the time of its block; 0: unknown.
func (r *reader) transaction(logs []entry, at int64) error {
	rows, err := r.standing(logs)
	if err != nil {
		return err
	}
	r.refund(rows)
	broken(rows, func(_ *entry, why string) { r.sink.Note(why) })
	r.undecided(rows)
	for _, same := range rows {
		for i := range same {
			e := &same[i]
			own := cmp.Or(e.Time, at)
			if i == 0 {
				r.note(e, own)
			}
			switch e.Kind {
			case chain.Filled:
				err = r.fill(e, own)
			case chain.Refunded:
				err = r.sink.Pass(e.Line, "fee_refund")
			case chain.Decided:
				err = r.remaining(e, own, rows)
			case chain.Migrated:
				err = r.sink.Pass(e.Line, "migration")
			default:
				err = r.payouts(e, own)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// standing returns the logs by log index, without those removed by a reorganisation: both the log
// and the one that says that it was removed are left out. A log with the same index in another
// block is kept. The result is valid until the next call.
func (r *reader) standing(logs []entry) (rows [][]entry, err error) {
	rows = r.rows[:0]
	defer func() { r.rows = rows[:0] }()
	for len(logs) > 0 {
		n := 1
		for n < len(logs) && logs[n].index == logs[0].index {
			n++
		}
		same := logs[:n:n]
		logs = logs[n:]
		for i := 0; i < len(same); i++ {
			if gone := &same[i]; gone.Removed {
				if same, err = r.takenBack(same, gone.BlockHash); err != nil {
					return nil, err
				}
				i = -1
			}
		}
		if len(same) > 0 {
			rows = append(rows, same)
		}
	}
	return rows, nil
}

// takenBack returns the logs except for those of a removed block, whose hash may be unknown.
func (r *reader) takenBack(same []entry, block data.Hash) (rest []entry, err error) {
	for _, e := range same {
		if e.BlockHash != block && !e.BlockHash.IsZero() && !block.IsZero() {
			rest = append(rest, e)
		} else if err := r.sink.Pass(e.Line, "removed"); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// refund subtracts from the fees of fills what a fee module refunded: the refund of the same order
// and wallet, in the asset of the fee, whose refunded and remaining amounts sum to the fee. Each
// refund belongs to one fill, and rows that repeat a fill get its fee. Since the first fee module,
// the exchange takes the maximum fee that the order allows, and nearly all of it may be refunded.
// So without its refund, which may be in another file, the fee is unknown.
func (r *reader) refund(rows [][]entry) {
	given := map[data.Hash][]*entry{} // by order
	for _, same := range rows {
		if b := &same[0]; b.Kind == chain.Refunded {
			given[b.Order] = append(given[b.Order], b)
		}
	}
	for _, same := range rows {
		f := &same[0]
		if f.Kind != chain.Filled || !f.Refundable || f.Fee == 0 {
			continue
		}
		gross, net := f.Fee, data.Micro(0)
		list := given[f.Order]
		i := slices.IndexFunc(list, func(b *entry) bool { return b.refunds(f) })
		switch {
		case i >= 0:
			net = list[i].Fee
			given[f.Order] = slices.Delete(list, i, i+1)
		case f.block < r.refunded:
			continue
		default:
			r.sink.Note("fee_without_refund")
		}
		for j := range same {
			if same[j].Kind == chain.Filled && same[j].Order == f.Order && same[j].Fee == gross {
				same[j].Fee = net
			}
		}
	}
	for _, list := range given {
		for range list {
			r.sink.Note("refund_without_fill")
		}
	}
}

// refunds reports whether the refund e belongs to the fee of f.
func (e *entry) refunds(f *entry) bool {
	in := f.Token
	if f.Side == data.Sell {
		in = data.Hash{}
	}
	return e.Maker == f.Maker && e.Token == in && e.Shares <= f.Fee && f.Fee-e.Shares == e.Fee
}

// Reasons why a match is incomplete.
const (
	takerAlone   = "taker_without_maker"
	makerAlone   = "maker_without_taker"
	matchDiffers = "match_differs"
)

// match has the rows of a match before the taker's row: those of the makers.
type match struct {
	makers int
	shares data.Micro
	last   *entry
}

// broken calls f with a row of every incomplete match of a transaction, and the reason. An exchange
// writes the rows of the makers and then the taker's, which has as many shares as all makers
// together, within a millionth of a share per maker. On the first exchange the taker's row may have
// more.
func broken(rows [][]entry, f func(row *entry, why string)) {
	open := map[data.Address]match{}
	for _, same := range rows {
		e := &same[0]
		if e.Kind != chain.Filled {
			continue
		}
		m := open[e.Emitter]
		if e.Role != data.Taker {
			open[e.Emitter] = match{m.makers + 1, m.shares + e.Shares, e}
			continue
		}
		delete(open, e.Emitter)
		slack, more := data.Micro(m.makers), m.shares-e.Shares
		switch {
		case m.makers == 0:
			f(e, takerAlone)
		case more > slack, -more > slack && !e.Refundable:
			f(e, matchDiffers)
		}
	}
	for _, m := range open {
		f(m.last, makerAlone)
	}
}

// note counts what is unusual about a log.
func (r *reader) note(e *entry, at int64) {
	if e.Kind == chain.Resolved && at == 0 {
		r.sink.Note("undated_payouts")
	}
	if e.odd != "" {
		r.sink.Note(e.odd)
	}
}
