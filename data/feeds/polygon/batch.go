package polygon

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds/shape"
)

// Batch holds the decoded logs of a range of blocks in memory, some 300 bytes per log. It gives the
// same rows as a file of these logs. It must be used by one goroutine at a time.
type Batch struct {
	decoder *chain.Decoder
	since   int64    // the first block of a fee module
	chunks  []*chunk // in order of arrival
	count   int
	order   []int32 // indexes of the entries in chain order, once it is known
	passed  map[string]int64
	passes  int64
	faults  []Fault
	// Logs and fills, each counted once; valid if order is.
	unique, fills int64
	digest        uint64
}

// Fault is a log that cannot be read.
type Fault struct {
	Reason string // short and stable
	Raw    string // the log
}

// Doubt is a reason to assume that the logs are incomplete.
type Doubt struct {
	Block int64
	Tx    data.Hash
	Why   string // short and stable, such as "maker_without_taker"
}

// Doubts other than those about matches.
const (
	Unreadable = "unreadable_log"
	Removed    = "removed_log"
	Outside    = "log_outside" // logs outside of the range
	OtherBlock = "other_block" // two logs have the same block number and different block hashes
	OtherEnd   = "other_end"   // a log of the last block has another block hash than the header
)

// OfMatch reports whether the doubt is about an incomplete match.
func (d Doubt) OfMatch() bool {
	return slices.Contains([]string{takerAlone, makerAlone, matchDiffers}, d.Why)
}

// chunk is memory for events, reused by batches.
type chunk [chunkSize]entry

// chunkSize is the number of events of a chunk.
const chunkSize = 512

// chunks is the pool of unused chunks.
var chunks = sync.Pool{New: func() any { return new(chunk) }}

// NewBatch returns an empty Batch for the logs of contracts, which must not be changed.
func NewBatch(contracts []chain.Contract) *Batch {
	return &Batch{decoder: chain.NewDecoder(contracts), since: refundedSince(contracts), passed: map[string]int64{}}
}

// Add adds a log, a JSON object as returned by a node; raw may be reused. A log that cannot be read
// is kept as a Fault.
func (b *Batch) Add(raw []byte) {
	e, err := b.decoder.Decode(raw)
	if err == nil && e.Kind != chain.PassedOver {
		err = check(e)
	}
	switch {
	case err != nil:
		b.faults = append(b.faults, Fault{reasonOf(err), string(raw)})
		return
	case e.Kind == chain.PassedOver:
		b.passed[e.Why]++
		b.passes++
		return
	}
	kept := entryOf(int64(b.count+1), e)
	b.keep(&kept)
}

func reasonOf(err error) string {
	var fault chain.Fault
	if errors.As(err, &fault) {
		return string(fault)
	}
	var row *shape.RowError
	if errors.As(err, &row) {
		return row.Reason
	}
	return err.Error()
}

func (b *Batch) at(i int32) *entry { return &b.chunks[i/chunkSize][i%chunkSize] }

// each calls f with every event, in order of arrival.
func (b *Batch) each(f func(e *entry)) {
	for i := range b.count {
		f(b.at(int32(i)))
	}
}

// Release frees the memory of the events; afterwards the batch has none. Its counts of skipped logs
// and its faults remain.
func (b *Batch) Release() {
	for _, c := range b.chunks {
		clear(c[:]) // what the events point to
		chunks.Put(c)
	}
	b.chunks, b.order, b.count, b.digest, b.unique, b.fills = nil, nil, 0, 0, 0, 0
}

// sort sorts the entries in the order in which a file of logs is read.
func (b *Batch) sort() {
	if b.order != nil || b.count == 0 {
		return
	}
	b.order = make([]int32, b.count)
	for i := range b.order {
		b.order[i] = int32(i)
	}
	slices.SortFunc(b.order, func(x, y int32) int {
		p, q := b.at(x), b.at(y)
		return cmp.Or(cmp.Compare(p.block, q.block), bytes.Compare(p.tx[:], q.tx[:]), cmp.Compare(p.index, q.index), cmp.Compare(x, y))
	})
	b.digest, b.unique, b.fills = 0, 0, 0
	var text [len(data.Hash{}) + 4]byte
	for i, nth := range b.order {
		e := b.at(nth)
		if i > 0 {
			if before := b.at(b.order[i-1]); before.tx == e.tx && before.index == e.index {
				continue
			}
		}
		b.unique++
		if e.Kind == chain.Filled {
			b.fills++
		}
		copy(text[:], e.tx[:])
		binary.BigEndian.PutUint32(text[len(e.tx):], uint32(e.index))
		b.digest += xxhash.Sum64(text[:])
	}
}

// Logs is the number of logs that were added, each counted once, usable or not.
func (b *Batch) Logs() int64 {
	b.sort()
	return b.unique + int64(len(b.faults)) + b.passes
}

// Events is the number of events, including repeats.
func (b *Batch) Events() int { return b.count }

// Fills is the number of fills, each counted once.
func (b *Batch) Fills() int64 {
	b.sort()
	return b.fills
}

// Resolved returns the conditions whose payouts are in the logs or follow from them.
func (b *Batch) Resolved() (out []data.Hash) {
	b.each(func(e *entry) {
		switch e.Kind {
		case chain.Resolved:
			out = append(out, e.Condition)
		case chain.Decided:
			out = append(out, chain.Siblings(e.Condition, mostSiblings)...)
		}
	})
	return out
}

// Digest identifies a set of logs: the sum of the hashes of transaction and log index, each log
// once. The digest of two ranges together is the sum of their digests.
func (b *Batch) Digest() uint64 {
	b.sort()
	return b.digest
}

// Faults are the logs that cannot be read.
func (b *Batch) Faults() []Fault { return b.faults }

// Passed counts logs with nothing to keep, by reason.
func (b *Batch) Passed() map[string]int64 { return b.passed }

// Undated returns the blocks of logs without a block time, with the block hash in the logs; the
// zero hash if they have none.
func (b *Batch) Undated() map[int64]data.Hash {
	out := map[int64]data.Hash{}
	b.each(func(e *entry) {
		if e.Time == 0 {
			out[e.block] = e.BlockHash
		}
	})
	return out
}

// Date sets the time of logs without one. times are unix seconds by block number.
func (b *Batch) Date(times map[int64]int64) {
	b.each(func(e *entry) {
		if e.Time == 0 {
			e.Time = times[e.block]
		}
	})
}

// unheard is the sink of a pass over logs that only looks for doubts.
type unheard struct{ data.Sink }

// Pass drops the log.
func (unheard) Pass(int64, data.Passed) error { return nil }

// Doubts returns the reasons why these cannot be all the logs of the blocks from … to: an
// incomplete match, logs outside the range or of another chain, logs that were removed or that
// cannot be read. end is the hash of the last block; zero if not known.
func (b *Batch) Doubts(from, to int64, end data.Hash) (out []Doubt) {
	b.sort()
	for range b.faults {
		out = append(out, Doubt{Why: Unreadable})
	}
	var before *entry
	for _, nth := range b.order {
		e := b.at(nth)
		doubt := func(why string) { out = append(out, Doubt{e.block, e.tx, why}) }
		if e.Removed {
			doubt(Removed)
		}
		if e.block < from || e.block > to {
			doubt(Outside)
		}
		if e.BlockHash.IsZero() {
			continue
		}
		if before != nil && before.block == e.block && before.BlockHash != e.BlockHash {
			doubt(OtherBlock)
		}
		if e.block == to && !end.IsZero() && e.BlockHash != end {
			doubt(OtherEnd)
		}
		before = e
	}
	r := reader{sink: unheard{}}
	err := b.eachBlock(0, func(logs []entry) error {
		return eachTransaction(logs, func(of []entry) error {
			rows, err := r.standing(of)
			if err == nil {
				broken(rows, func(e *entry, why string) { out = append(out, Doubt{e.block, e.tx, why}) })
			}
			return err
		})
	})
	if err != nil {
		out = append(out, Doubt{Why: err.Error()})
	}
	return out
}

// eachBlock calls f with copies of the entries of each block, in order. first is added to
// their numbers.
func (b *Batch) eachBlock(first int64, f func(logs []entry) error) error {
	b.sort()
	var logs []entry
	for i, nth := range b.order {
		logs = append(logs, *b.at(nth))
		logs[len(logs)-1].Line += first
		if i+1 < len(b.order) && b.at(b.order[i+1]).block == logs[0].block {
			continue
		}
		if len(logs) > mostLogs {
			return tooManyLogs(logs[0].block)
		}
		if err := f(logs); err != nil {
			return err
		}
		logs = logs[:0]
	}
	return nil
}

func tooManyLogs(block int64) error {
	return fmt.Errorf("block %d has more than %d logs", block, mostLogs)
}

// Rows returns a function that passes the rows of batches to a sink. It may be called more than
// once. The batches must be in order and their ranges must not overlap; none may be changed while
// the function is in use.
func Rows(batches []*Batch) func(ctx context.Context, sink data.Sink) error {
	return func(ctx context.Context, sink data.Sink) error {
		r := reader{sink: sink}
		first := int64(0)
		for _, b := range batches {
			r.refunded = b.since
			if err := b.oddRows(sink); err != nil {
				return err
			}
			err := b.eachBlock(first, func(logs []entry) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				return r.block(logs)
			})
			if err != nil {
				return err
			}
			first += int64(b.count)
		}
		return nil
	}
}

// oddRows passes on logs that are not events.
func (b *Batch) oddRows(sink data.Sink) error {
	for _, why := range slices.Sorted(maps.Keys(b.passed)) {
		for range b.passed[why] {
			if err := sink.Pass(0, data.Passed(why)); err != nil {
				return err
			}
		}
	}
	for _, fault := range b.faults {
		if err := shape.Reject(sink, 0, []byte(fault.Raw), shape.Known(fault.Reason)); err != nil {
			return err
		}
	}
	return nil
}

// Feed is the feed of the rows of batches.
func Feed() data.Feed { return Feeds()[0] }

// Join adds the logs of other, a Batch for the same contracts. other must not be used afterwards.
func (b *Batch) Join(other *Batch) {
	other.each(func(e *entry) {
		e.Line = int64(b.count + 1)
		b.keep(e)
	})
	other.Release()
	b.faults = append(b.faults, other.faults...)
	for why, n := range other.passed {
		b.passed[why] += n
	}
	b.passes += other.passes
}

// keep adds an event.
func (b *Batch) keep(e *entry) {
	if b.count%chunkSize == 0 {
		b.chunks = append(b.chunks, chunks.Get().(*chunk))
	}
	b.count++
	*b.at(int32(b.count - 1)) = *e
	b.order = nil
}
