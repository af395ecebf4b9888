package fillseg

import (
	"slices"
	"sort"

	"pmx/rollups/serving"
)

// view is what a read of one wallet sees: its rows in the run and what of the
// tail belongs to the batch asked for.
type view struct {
	kind   *kind
	run    *run // nil: no run
	wallet int32
	lo, hi int
	tail   []recent
	after  int64 // tail entries of batches up to this one are in the run
	upTo   int64 // later ones are not seen
}

// find looks up where the wallet's rows are.
func (v *view) find() {
	if v.run != nil {
		v.lo, v.hi = v.run.span(v.wallet)
	}
}

// rows is what the run has of the wallet.
func (v *view) rows() []byte {
	if v.run == nil {
		return nil
	}
	v.run.ahead(v.lo, v.hi)
	return v.run.rows(v.lo, v.hi)
}

func (v *view) sees(r *recent) bool { return r.batch > v.after && r.batch <= v.upTo }

// fills adds the n newest fills before after to dst, newest first.
func (v *view) fills(dst []serving.Fill, after *serving.Fill, n int) []serving.Fill {
	i, j := v.hi, len(v.tail)
	if after != nil {
		if v.run != nil {
			i = v.run.below(v.lo, v.hi, after, v.kind)
		}
		j = sort.Search(j, func(k int) bool { return v.kind.order(&v.tail[k].Fill, after) >= 0 })
	}
	from := max(v.lo, i-n) // no older one is given
	var b []byte
	near := hashPage{at: noTx}
	if v.run != nil {
		b = v.run.rows(from, i)
	}
	for ; n > 0; n-- {
		for j > 0 && !v.sees(&v.tail[j-1]) {
			j--
		}
		switch {
		case i == v.lo && j == 0:
			return dst
		case i == v.lo:
			j--
			dst = append(dst, v.tail[j].Fill)
			continue
		}
		w := getRow(b[(i-1-from)*rowSize:])
		f := w.unpack(v.run.widePart(&w))
		if tx := w.tx(); tx != noTx {
			f.Tx = v.run.nextHash(&near, tx)
		}
		if j > 0 && v.kind.order(&v.tail[j-1].Fill, &f) > 0 {
			j--
			dst = append(dst, v.tail[j].Fill)
			continue
		}
		i--
		dst = append(dst, f)
	}
	return dst
}

// tokens adds a sum per token to dst, in no order.
func (v *view) tokens(dst []serving.TokenSum, ix *tokenIndex) []serving.TokenSum {
	known := len(dst)
	if v.run != nil {
		if kept, ok := v.run.tokens(v.wallet); ok {
			return v.tailTokens(readTokens(dst, kept), known, ix)
		}
	}
	ix.reset()
	var f serving.Fill
	for b := v.rows(); len(b) > 0; b = b[rowSize:] {
		v.run.amounts(b, &f)
		dst = ix.add(dst, &f)
	}
	for j := range v.tail {
		if v.sees(&v.tail[j]) {
			dst = ix.add(dst, &v.tail[j].Fill)
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

// tailTokens adds the tail to the kept sums of a heavy wallet, which lie in dst
// from known on in order of token.
func (v *view) tailTokens(dst []serving.TokenSum, known int, ix *tokenIndex) []serving.TokenSum {
	ix.reset()
	kept := dst[known:]
	var fresh []serving.TokenSum
	for j := range v.tail {
		f := &v.tail[j].Fill
		if !v.sees(&v.tail[j]) {
			continue
		}
		i, found := slices.BinarySearchFunc(kept, f.Token, func(s serving.TokenSum, token int32) int { return int(s.Token) - int(token) })
		if found {
			kept[i].Add(f)
			continue
		}
		fresh = ix.add(fresh, f)
	}
	return append(dst, fresh...)
}

// days adds a sum per UTC day to dst, which is empty, oldest first.
func (v *view) days(dst []serving.DaySum) []serving.DaySum {
	if v.run != nil {
		dst = v.runDays(dst)
	}
	for j := range v.tail {
		if !v.sees(&v.tail[j]) {
			continue
		}
		f := &v.tail[j].Fill
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

func (v *view) runDays(dst []serving.DaySum) []serving.DaySum {
	if kept, ok := v.run.days(v.wallet); ok {
		for ; len(kept) > 0; kept = kept[daySize:] {
			dst = append(dst, getDay(kept))
		}
		return dst
	}
	var f serving.Fill
	for b := v.rows(); len(b) > 0; b = b[rowSize:] {
		v.run.amounts(b, &f)
		if n := len(dst) - 1; n < 0 || dst[n].Day != serving.DayOf(f.TS) {
			dst = append(dst, serving.DaySum{})
		}
		dst[len(dst)-1].Add(&f)
	}
	return dst
}

// tokenIndex finds the sum of a token in a list: a small hash table that is used
// again and again.
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
func (ix *tokenIndex) slot(list []serving.TokenSum, token int32) int32 {
	mask := uint32(len(ix.slots) - 1)
	for i := uint32(token) * 0x9e3779b1 >> 7 & mask; ; i = (i + 1) & mask {
		if at := ix.slots[i]; at == 0 || list[at-1].Token == token {
			return int32(i)
		}
	}
}

// add takes f in to the sum of its token.
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

// grow makes room for twice as many tokens.
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
