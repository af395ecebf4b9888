package fillseg

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"slices"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// input is a segment that is merged with others.
type input struct {
	segment
	skip   map[int32]bool // keys whose rows are left out
	slice  bool           // its blocks are to be packed again
	txBase uint32         // where its transactions lie in the output
	summed int            // place among the keys with sums
	at     int            // place among the keys, if it continues another file
	room   block          // of its rows that are merged
}

// errTooManyTransactions is returned if a file would have more transactions than a row can address.
var errTooManyTransactions = errors.New("more than 4 billion transactions")

// output is a file to be written.
type output struct {
	path     string
	covers   segments.Coverage
	later    bool    // it is not the first file
	follows  uint64  // the ID of the file that it continues
	facts    int64   // in the files that it continues, of keys that are not whole
	whole    []int32 // keys of which the files before do not count, ascending
	heavy    int     // sums are kept from so many fills on
	slice    bool    // it will only be merged
	sync     func(*os.File) error
	finished func(size uint64)
}

// begin begins the file.
func (o *output) begin(k *kind) (*writer, error) {
	w, err := newWriter(o.path, k, o.later, o.heavy)
	if err != nil {
		return nil, err
	}
	w.Follows, w.whole, w.slice = o.follows, o.whole, o.slice
	return w, nil
}

// finish ends the file, whose fills it counts if it has all.
func (o *output) finish(w *writer) error {
	if w.kind.most == 0 {
		o.covers.Facts = o.facts + int64(w.Rows)
	}
	if err := w.finish(o.covers, o.sync); err != nil {
		return err
	}
	o.finished(w.Size() + w.spilled())
	return nil
}

// merge writes the rows of all inputs to one file, in ranges of about so many bytes of them. start begins work beside it.
func (k *kind) merge(ctx context.Context, out *output, inputs []input, size uint64, start starter) (err error) {
	w, err := out.begin(k)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.close()
		}
	}()
	if k.most == 0 {
		if err := w.copyHashes(inputs); err != nil {
			return err
		}
	}
	if err := k.mergeRanges(ctx, w, inputs, size, start); err != nil {
		return err
	}
	return out.finish(w)
}

// copyHashes writes the transactions of all inputs one after another.
func (w *writer) copyHashes(inputs []input) error {
	for i := range inputs {
		in := &inputs[i]
		if w.Counts[txs]+in.Counts[txs] >= noTx {
			return errTooManyTransactions
		}
		in.txBase = uint32(w.Counts[txs])
		if err := w.copyExtent(in.segment, txs); err != nil {
			return err
		}
	}
	return w.Pad()
}

// copyExtent writes a whole extent of a segment.
func (w *writer) copyExtent(r segment, extent int) error {
	return w.copyRange(r, extent, 0, r.Len(extent))
}

// copyRange writes the bytes from lo to hi of an extent of a segment, each verified right before it
// is written.
func (w *writer) copyRange(r segment, extent, lo, hi int) error {
	const most = 1 << 20
	size := int(entrySize[extent])
	for lo < hi {
		to := min(hi, lo+most/size*size)
		if err := w.Add(extent, r.Bytes(extent, lo, to)); err != nil {
			return err
		}
		lo = to
	}
	return nil
}

// merger merges a range of keys.
type merger struct {
	kind
	w       *rangeWriter
	inputs  []input
	keys    []int32  // by input the next key that it may have rows of; math.MaxInt32: there is none
	cursors []cursor // of the key being merged
	heads   []head   // of cursors, the oldest row first
	kept    []serving.Fill
	sums    tokenSums
}

// cursor is the range of an input's rows that is not written yet.
type cursor struct {
	keyRows
	in     *input
	lo, hi int
}

// hasSums reports whether an input has sums of a key; it must be called with ascending keys.
func (in *input) hasSums(key int32) bool {
	last := int(in.Counts[heavy]) - 1
	for in.summed < last && in.heavy(in.summed).wallet < uint64(key) {
		in.summed++
	}
	return in.summed < last && in.heavy(in.summed).wallet == uint64(key)
}

// next is the first key from one on that an input may have rows of; math.MaxInt32: there is none.
func (m *merger) next(from int32) int32 {
	next := int32(math.MaxInt32)
	for i, key := range m.keys {
		if key < from {
			key = m.inputs[i].next(from)
			m.keys[i] = key
		}
		next = min(next, key)
	}
	return next
}

// next is merger.next of one input; it must be called with ascending keys.
func (in *input) next(from int32) int32 {
	if !in.sparse() {
		if int(from) < in.keys() {
			return from
		}
		return math.MaxInt32
	}
	for n := int(in.Counts[ids]); in.at < n; in.at++ {
		if key := in.id(ids, in.at); key >= from {
			return key
		}
	}
	return math.MaxInt32
}

// span is segment.span for the keys that next gives.
func (in *input) span(key int32) (lo, hi int) {
	switch {
	case !in.sparse():
		return in.segment.span(key)
	case in.at < int(in.Counts[ids]) && in.id(ids, in.at) == key:
		return in.between(in.at)
	}
	return 0, 0
}

// find sets cursors to the rows of a key in all inputs.
func (m *merger) find(key int32) (total int) {
	m.cursors = m.cursors[:0]
	for i, next := range m.keys {
		if next != key {
			continue
		}
		in := &m.inputs[i]
		lo, hi := in.span(key)
		if in.skip[key] || lo == hi && (!m.byToken || !in.hasSums(key)) { // in a slice, all fills may be older than the newest
			continue
		}
		h := cursor{keyRows: in.keyRows(lo, hi, &in.room), in: in}
		h.hi = h.n
		m.cursors = append(m.cursors, h)
		total += h.n
	}
	return total
}

// mergeNewest writes no more than the newest fills of a key.
func (m *merger) mergeNewest(key int32) error {
	all := m.find(key)
	if len(m.cursors) == 0 {
		return nil
	}
	if err := m.mergeSums(key, all > m.most); err != nil {
		return err
	}
	left := min(all, m.most)
	m.kept = m.kept[:0]
	for ; left > 0; left-- {
		h := m.last(key)
		h.hi--
		m.kept = append(m.kept, h.fill(&m.kind, key, h.hi))
	}
	slices.Reverse(m.kept)
	return m.w.addNewest(key, m.kept)
}

// mergeSums writes the sums of a key if the output lacks fills of it.
func (m *merger) mergeSums(key int32, lacks bool) error {
	for i := range m.cursors {
		lacks = m.cursors[i].in.hasSums(key) || lacks
	}
	if !lacks {
		return nil
	}
	if len(m.cursors) == 1 { // it has the sums: it has no more rows than are kept
		wallets, hours, _ := m.cursors[0].in.sumBytes(key)
		m.w.addSums(key, wallets, hours)
		return nil
	}
	m.sums.reset()
	for i := range m.cursors {
		m.cursors[i].in.addSums(&m.kind, key, &m.sums)
	}
	m.w.addSettled(key, &m.sums)
	return nil
}

// last is the cursor with the newest fill.
func (m *merger) last(key int32) (best *cursor) {
	for i := range m.cursors {
		h := &m.cursors[i]
		if h.lo < h.hi && (best == nil || h.compare(&m.kind, key, h.hi-1, &best.keyRows, best.hi-1) > 0) {
			best = h
		}
	}
	return best
}

func (m *merger) mergeWallet(wallet int32) error {
	total := m.find(wallet)
	if total == 0 {
		return nil
	}
	m.w.beginKey(wallet, uint64(total))
	m.heads = m.heads[:0]
	for i := range m.cursors {
		h := &m.cursors[i]
		m.heads = append(m.heads, head{h.ts(h.lo), h})
	}
	slices.SortFunc(m.heads, func(x, y head) int { return m.compareHeads(wallet, &x, &y) })
	for len(m.heads) > 0 {
		if err := m.writeOldest(wallet); err != nil {
			return err
		}
	}
	return m.w.endKey()
}

// head is the oldest row of a cursor that is not written yet.
type head struct {
	ts int64
	*cursor
}

func (m *merger) compareHeads(wallet int32, x, y *head) int {
	if x.ts != y.ts {
		return cmp.Compare(x.ts, y.ts)
	}
	return x.compare(&m.kind, wallet, x.lo, &y.keyRows, y.lo)
}

// writeOldest writes rows of the first cursor until another one is the first.
func (m *merger) writeOldest(wallet int32) error {
	h := m.heads[0]
	for h.lo < h.hi {
		write := m.writeRow
		if m.copies(h.cursor) && m.endsFirst(h.cursor) {
			write = m.writeBlock
		}
		if err := write(h.cursor); err != nil {
			return err
		}
		if len(m.heads) == 1 || h.lo == h.hi {
			continue
		}
		if h.ts = h.cursor.ts(h.lo); h.ts >= m.heads[1].ts {
			m.settleHead(wallet, h)
			return nil
		}
	}
	m.heads = m.heads[1:]
	return nil
}

// settleHead moves the first head to its place among the others.
func (m *merger) settleHead(wallet int32, h head) {
	n, _ := slices.BinarySearchFunc(m.heads[1:], h, func(x, y head) int { return m.compareHeads(wallet, &x, &y) })
	copy(m.heads, m.heads[1:1+n])
	m.heads[n] = h
}

// writeRow writes the next row of an input.
func (m *merger) writeRow(h *cursor) error {
	b, at := h.row(h.lo)
	h.lo++
	var f serving.Fill
	b.get(at, &f)
	f.Token = data.TokenID(b.other[at])
	return m.w.fill(&f, moved(b.tx[at], h.in.txBase))
}

// copies reports whether the next block of an input can be copied: then it is the next one of the output, too.
func (m *merger) copies(h *cursor) bool {
	return !h.in.slice && m.w.pending.n == 0 && h.lo%blockRows == 0 && (len(m.heads) == 1 || h.lo+blockRows <= h.hi)
}

// endsFirst reports whether all rows of the next block of the first cursor are older than those of the others.
func (m *merger) endsFirst(h *cursor) bool {
	return len(m.heads) == 1 || h.ts(h.lo+blockRows-1) < m.heads[1].ts
}

// writeBlock writes the next block of an input.
func (m *merger) writeBlock(h *cursor) error {
	i := h.lo / blockRows
	if m.w.sums != nil {
		m.w.sumBlock(h.block(i))
	}
	h.lo += h.rowsOf(i)
	return m.w.copyBlock(&h.keyRows, i, h.in.txBase)
}
