package fillseg

import (
	"slices"
	"sort"

	"pmx/data"
	"pmx/rollups/serving"
)

// lookup is what a read of one key sees: its rows in the segment, and its recent fills up to the
// requested batch.
type lookup struct {
	kind    *kind
	segment segment // of a nil file: none
	key     int32
	lo, hi  int
	recent  []recent
	older   []older
	after   int64 // recent fills of batches up to this one are in the segment
	upTo    int64 // later ones are not seen
}

// find looks up where the key's rows are.
func (v *lookup) find() {
	if v.segment.File != nil {
		v.lo, v.hi = v.segment.span(v.key)
	}
}

// rows are the segment's rows of the key.
func (v *lookup) rows() []byte {
	if v.segment.File == nil {
		return nil
	}
	v.segment.prefetch(v.lo, v.hi)
	return v.segment.rows(v.lo, v.hi)
}

func (v *lookup) sees(batch int64) bool { return batch > v.after && batch <= v.upTo }

// fills adds the n newest fills before after to dst, newest first.
func (v *lookup) fills(dst []serving.Fill, after *serving.Fill, n int) []serving.Fill {
	i, j := v.hi, len(v.recent)
	if after != nil {
		if v.segment.File != nil {
			i = v.segment.below(v.kind, v.key, v.lo, v.hi, after)
		}
		j = sort.Search(j, func(k int) bool { return v.kind.order(&v.recent[k].Fill, after) >= 0 })
	}
	from := max(v.lo, i-n) // no older one is given
	var b []byte
	near := hashPage{at: noTx}
	if v.segment.File != nil {
		b = v.segment.rows(from, i)
		v.segment.expectHashes(b)
	}
	for ; n > 0; n-- {
		for j > 0 && !v.sees(v.recent[j-1].batch) {
			j--
		}
		switch {
		case i == v.lo && j == 0:
			return dst
		case i == v.lo:
			j--
			dst = append(dst, v.recent[j].Fill)
			continue
		}
		w := getRow(b[(i-1-from)*rowSize:])
		var f serving.Fill
		w.unpackTo(&f, v.segment.overflow(&w))
		v.kind.setIDs(&f, v.key, w.other())
		if tx := w.tx(); tx != noTx {
			f.Tx = v.segment.nextHash(&near, tx)
		}
		if j > 0 && v.kind.order(&v.recent[j-1].Fill, &f) > 0 {
			j--
			dst = append(dst, v.recent[j].Fill)
			continue
		}
		i--
		dst = append(dst, f)
	}
	return dst
}

// tokens adds a sum per token to dst, in no order.
func (v *lookup) tokens(dst []serving.TokenSum, ix *tokenIndex) []serving.TokenSum {
	known := len(dst)
	if v.segment.File != nil {
		if kept, ok := v.segment.tokens(v.key); ok {
			return v.addRecentTokens(readTokens(dst, kept), known, ix)
		}
	}
	ix.reset()
	var f serving.Fill
	for b := v.rows(); len(b) > 0; b = b[rowSize:] {
		v.segment.amounts(b, &f)
		dst = ix.add(dst, &f)
	}
	for j := range v.recent {
		if v.sees(v.recent[j].batch) {
			dst = ix.add(dst, &v.recent[j].Fill)
		}
	}
	return dst
}

func readTokens(dst []serving.TokenSum, b []byte) []serving.TokenSum {
	dst = slices.Grow(dst, len(b)/tokenSize)
	for ; len(b) > 0; b = b[tokenSize:] {
		dst = append(dst, getToken(b))
	}
	return dst
}

// addRecentTokens adds the memtable's fills to the kept sums of a heavy wallet, which lie in dst
// from known on in order of token.
func (v *lookup) addRecentTokens(dst []serving.TokenSum, known int, ix *tokenIndex) []serving.TokenSum {
	ix.reset()
	kept := dst[known:]
	var fresh []serving.TokenSum
	for j := range v.recent {
		f := &v.recent[j].Fill
		if !v.sees(v.recent[j].batch) {
			continue
		}
		i, found := slices.BinarySearchFunc(kept, f.Token, func(s serving.TokenSum, token data.TokenID) int { return int(s.Token) - int(token) })
		if found {
			kept[i].Add(f)
			continue
		}
		fresh = ix.add(fresh, f)
	}
	return append(dst, fresh...)
}

// days adds a sum per UTC day to dst, which is empty, oldest first.
func (v *lookup) days(dst []serving.DaySum) []serving.DaySum {
	if v.segment.File != nil {
		dst = v.segmentDays(dst)
	}
	for j := range v.recent {
		if !v.sees(v.recent[j].batch) {
			continue
		}
		f := &v.recent[j].Fill
		day := serving.DayOf(f.TS)
		i := len(dst)
		for i > 0 && dst[i-1].Day > day {
			i--
		}
		if i == 0 || dst[i-1].Day != day {
			dst = slices.Insert(dst, i, serving.DaySum{})
			i++
		}
		dst[i-1].Add(f)
	}
	return dst
}

func (v *lookup) segmentDays(dst []serving.DaySum) []serving.DaySum {
	if kept, ok := v.segment.days(v.key); ok {
		for ; len(kept) > 0; kept = kept[daySize:] {
			dst = append(dst, getDay(kept))
		}
		return dst
	}
	var f serving.Fill
	for b := v.rows(); len(b) > 0; b = b[rowSize:] {
		v.segment.amounts(b, &f)
		if n := len(dst) - 1; n < 0 || dst[n].Day != serving.DayOf(f.TS) {
			dst = append(dst, serving.DaySum{})
		}
		dst[len(dst)-1].Add(&f)
	}
	return dst
}

// tokenIndex finds the sum of a token in a list: a small reusable hash table.
type tokenIndex struct {
	slots []int32 // place in the list + 1; 0: free
	used  []int32 // slots that are taken
}

func (ix *tokenIndex) reset() {
	for _, s := range ix.used {
		ix.slots[s] = 0
	}
	ix.used = ix.used[:0]
	if len(ix.slots) == 0 {
		ix.slots = make([]int32, 64)
	}
}

// slot is where token is, or belongs.
func (ix *tokenIndex) slot(list []serving.TokenSum, token data.TokenID) int32 {
	mask := uint32(len(ix.slots) - 1)
	for i := uint32(token) * 0x9e3779b1 >> 7 & mask; ; i = (i + 1) & mask {
		if at := ix.slots[i]; at == 0 || list[at-1].Token == token {
			return int32(i)
		}
	}
}

// add adds f to the sum of its token.
func (ix *tokenIndex) add(list []serving.TokenSum, f *serving.Fill) []serving.TokenSum {
	s := ix.slot(list, f.Token)
	if ix.slots[s] == 0 {
		if 2*len(ix.used) >= len(ix.slots) {
			ix.grow(list)
			s = ix.slot(list, f.Token)
		}
		list = append(list, serving.TokenSum{})
		ix.slots[s] = int32(len(list))
		ix.used = append(ix.used, s)
	}
	list[ix.slots[s]-1].Add(f)
	return list
}

// grow doubles the number of tokens that fit.
func (ix *tokenIndex) grow(list []serving.TokenSum) {
	old := make([]int32, len(ix.used))
	for i, s := range ix.used {
		old[i] = ix.slots[s]
	}
	ix.slots, ix.used = make([]int32, 2*len(ix.slots)), ix.used[:0]
	for _, at := range old {
		s := ix.slot(list, list[at-1].Token)
		ix.slots[s] = at
		ix.used = append(ix.used, s)
	}
}
