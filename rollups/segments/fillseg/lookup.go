package fillseg

import (
	"slices"
	"sort"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// lookup is what a read of one key sees: its rows in the files, and its recent fills up to the
// requested batch.
type lookup struct {
	kind   *kind
	files  *segments.Files
	room   *room
	key    int32
	spans  [segments.MaxFiles]fileSpan // what find found, of the last file first
	n      int                         // so many spans
	recent []recent
	older  []older
	after  int64 // recent fills of batches up to this one are in the files
	upTo   int64 // later ones are not seen
}

// room is what the blocks of a read are unpacked to: those of a file at a time, and one more.
type room struct {
	blocks [segments.MaxFiles]block
	spare  block
}

// fileSpan is where the rows of a key are in one file, in bytes.
type fileSpan struct {
	segment
	lo, hi int
}

// find looks up where the key's rows are. In a store of the newest fills a file may have sums of a
// key without having rows of it.
func (v *lookup) find() { v.findIn(v.files.List()) }

func (v *lookup) findIn(files []*segments.File) {
	for i := len(files) - 1; i >= 0; i-- {
		r := segment{files[i]}
		if lo, hi := r.span(v.key); lo < hi || v.kind.byToken {
			v.spans[v.n] = fileSpan{r, lo, hi}
			v.n++
		}
		if r.isWhole(v.key) {
			return
		}
	}
}

// rows are the rows of the key in a span, which are about to be read in order.
func (v *lookup) rows(i int) keyRows {
	p := &v.spans[i]
	p.prefetch(p.lo, p.hi)
	return p.keyRows(p.lo, p.hi, &v.room.blocks[i])
}

func (v *lookup) sees(batch int64) bool { return batch > v.after && batch <= v.upTo }

// unread is the rows of a span that a read may still return, from the last one down.
type unread struct {
	keyRows
	from, at int
	near     hashPage
}

// newest is the fill of the newest row.
func (u *unread) newest(of *kind, key int32) (f serving.Fill) {
	b, at := u.row(u.at - 1)
	b.get(at, &f)
	of.setIDs(&f, key, b.other[at])
	if tx := b.tx[at]; tx != noTx {
		f.Tx = u.nextHash(&u.near, tx)
	}
	return f
}

// unread adds the n newest rows before after of every span to list.
func (v *lookup) unread(list []unread, after *serving.Fill, n int) []unread {
	for i := range v.spans[:v.n] {
		p := &v.spans[i]
		u := unread{keyRows: p.keyRows(p.lo, p.hi, &v.room.blocks[i]), near: hashPage{at: noTx}}
		u.at = u.n
		if after != nil {
			u.at = u.below(v.kind, v.key, after)
		}
		if u.from = max(0, u.at-n); u.from < u.at { // no older one is given
			u.expectBlocks(u.from, u.at)
			list = append(list, u)
		}
	}
	return list
}

// newest is the place of the newest row that is left; −1: there is none.
func (v *lookup) newest(left []unread) int {
	if len(left) < 2 {
		return len(left) - 1
	}
	best, newest := 0, left[0].ts(left[0].at-1)
	for i := 1; i < len(left); i++ {
		u := &left[i]
		ts := u.ts(u.at - 1)
		if ts > newest || ts == newest && u.compare(v.kind, v.key, u.at-1, &left[best].keyRows, left[best].at-1) > 0 {
			best, newest = i, ts
		}
	}
	return best
}

// expect makes the system read the hashes of the n newest rows.
func (v *lookup) expect(left []unread, n int) {
	if len(left) == 1 {
		left[0].expectHashes(left[0].from, left[0].at, &v.room.spare)
		return
	}
	var skipped [segments.MaxFiles]int
	for i := range left {
		skipped[i] = left[i].at
	}
	for ; n > 0; n-- {
		best, at := -1, int64(0)
		for i := range left {
			if k := skipped[i] - 1; k >= left[i].from {
				if ts := left[i].ts(k); best < 0 || ts > at {
					best, at = i, ts
				}
			}
		}
		if best < 0 {
			break
		}
		skipped[best]--
	}
	for i := range left {
		left[i].expectHashes(skipped[i], left[i].at, &v.room.spare)
	}
}

// fills adds the n newest fills before after to dst, newest first.
func (v *lookup) fills(dst []serving.Fill, after *serving.Fill, n int) []serving.Fill {
	var list [segments.MaxFiles]unread
	left, j := v.unread(list[:0], after, n), len(v.recent)
	if after != nil {
		j = sort.Search(j, func(k int) bool { return v.kind.order(&v.recent[k].Fill, after) >= 0 })
	}
	v.expect(left, n)
	for ; n > 0; n-- {
		for j > 0 && !v.sees(v.recent[j-1].batch) {
			j--
		}
		at := v.newest(left)
		if at < 0 && j == 0 {
			return dst
		}
		var f serving.Fill
		if at >= 0 {
			f = left[at].newest(v.kind, v.key)
		}
		if at < 0 || j > 0 && v.kind.order(&v.recent[j-1].Fill, &f) > 0 {
			j--
			dst = append(dst, v.recent[j].Fill)
			continue
		}
		if left[at].at--; left[at].at == left[at].from {
			left = slices.Delete(left, at, at+1)
		}
		dst = append(dst, f)
	}
	return dst
}

// tokens adds a sum per token to dst, in no order.
func (v *lookup) tokens(dst []serving.TokenSum, ix *tokenIndex) []serving.TokenSum {
	ix.reset()
	known, last := len(dst), v.n-1
	if last >= 0 {
		if kept, ok := v.spans[last].tokens(v.key); ok { // the oldest file has most of them, in order
			dst = kept.allTokens(dst)
			ix.list = v.addTokens(ix.list[:0], last, dst[known:], ix)
			return mergeTokens(dst, known, ix.list)
		}
	}
	return v.addTokens(dst, v.n, nil, ix)
}

// addTokens adds a sum per token of the first spans and of the recent fills to dst, except that it adds kept
// sums to those in ordered where the token is there.
func (v *lookup) addTokens(dst []serving.TokenSum, spans int, ordered []serving.TokenSum, ix *tokenIndex) []serving.TokenSum {
	var f serving.Fill
	for i := range spans {
		if kept, ok := v.spans[i].tokens(v.key); ok {
			dst = addKept(dst, kept, ordered, ix)
			continue
		}
		of := v.rows(i)
		for j := range of.blocks {
			b := of.block(j)
			for at := range b.n {
				b.get(at, &f)
				f.Token = data.TokenID(b.other[at])
				dst = ix.add(dst, &f)
			}
		}
	}
	for j := range v.recent {
		if v.sees(v.recent[j].batch) {
			dst = ix.add(dst, &v.recent[j].Fill)
		}
	}
	return dst
}

// addKept adds the kept sums of a file to those in ordered, and to dst if their token is not there.
func addKept(dst []serving.TokenSum, kept tokenReader, ordered []serving.TokenSum, ix *tokenIndex) []serving.TokenSum {
	var sum serving.TokenSum
	for at := 0; kept.left > 0; {
		kept.token(&sum)
		for at < len(ordered) && ordered[at].Token < sum.Token {
			at++
		}
		if at < len(ordered) && ordered[at].Token == sum.Token {
			ordered[at].Merge(&sum)
		} else {
			dst = ix.merge(dst, &sum)
		}
	}
	return dst
}

// mergeTokens adds sums to those of dst from known on, which are in order of token.
func mergeTokens(dst []serving.TokenSum, known int, sums []serving.TokenSum) []serving.TokenSum {
	end := len(dst)
	for i := range sums {
		ordered := dst[known:end]
		at, found := slices.BinarySearchFunc(ordered, sums[i].Token, func(s serving.TokenSum, token data.TokenID) int { return int(s.Token) - int(token) })
		if found {
			ordered[at].Merge(&sums[i])
		} else {
			dst = append(dst, sums[i])
		}
	}
	return dst
}

// days adds a sum per UTC day to dst, which is empty, oldest first.
func (v *lookup) days(dst []serving.DaySum) []serving.DaySum {
	for i := v.n - 1; i >= 0; i-- {
		dst = v.addDays(dst, i)
	}
	for j := range v.recent {
		if v.sees(v.recent[j].batch) {
			dst = addToDay(dst, &v.recent[j].Fill)
		}
	}
	return dst
}

// addDays adds the sums of a span.
func (v *lookup) addDays(dst []serving.DaySum, i int) []serving.DaySum {
	if kept, ok := v.spans[i].days(v.key); ok {
		var sum serving.DaySum
		for kept.left > 0 {
			kept.day(&sum)
			var at int
			dst, at = dayAt(dst, sum.Day)
			dst[at].Merge(&sum)
		}
		return dst
	}
	var f serving.Fill
	of := v.rows(i)
	for j := range of.blocks {
		b := of.block(j)
		for at := range b.n {
			b.get(at, &f)
			dst = addToDay(dst, &f)
		}
	}
	return dst
}

func addToDay(dst []serving.DaySum, f *serving.Fill) []serving.DaySum {
	dst, at := dayAt(dst, serving.DayOf(f.TS))
	dst[at].Add(f)
	return dst
}

// dayAt returns the place of a day among days in order, which it adds if it is missing. It is mostly
// the last one.
func dayAt(dst []serving.DaySum, day int32) ([]serving.DaySum, int) {
	i := len(dst)
	for i > 0 && dst[i-1].Day > day {
		i--
	}
	if i == 0 || dst[i-1].Day != day {
		return slices.Insert(dst, i, serving.DaySum{}), i
	}
	return dst, i - 1
}

// tokenIndex finds the sum of a token in a list: a small reusable hash table.
type tokenIndex struct {
	slots []int32 // place in the list + 1; 0: free
	used  []int32 // slots that are taken
	list  []serving.TokenSum
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
	list, at := ix.place(list, f.Token)
	list[at].Add(f)
	return list
}

// merge adds a sum to that of its token.
func (ix *tokenIndex) merge(list []serving.TokenSum, sum *serving.TokenSum) []serving.TokenSum {
	list, at := ix.place(list, sum.Token)
	list[at].Merge(sum)
	return list
}

// place returns where the sum of a token is in the list, to which it adds one without fills if there is none.
func (ix *tokenIndex) place(list []serving.TokenSum, token data.TokenID) ([]serving.TokenSum, int32) {
	s := ix.slot(list, token)
	if ix.slots[s] == 0 {
		if 2*len(ix.used) >= len(ix.slots) {
			ix.grow(list)
			s = ix.slot(list, token)
		}
		list = append(list, serving.TokenSum{Token: token})
		ix.slots[s] = int32(len(list))
		ix.used = append(ix.used, s)
	}
	return list, ix.slots[s] - 1
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
