package search

import (
	"math/bits"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// segment has the words of some markets and where each occurs. It never changes.
type segment struct {
	words []string // sorted
	title postings // markets with the word in their title
	other postings // markets with the word elsewhere only
	typos typoIndex
	wide  map[string][fields]Set // matches of short prefixes of very many words
	docs  int
	bytes int64 // about what it takes
}

// Where a word occurs.
const (
	inTitle  = iota
	anywhere // in the title, or in another text
	fields   // how many there are
)

// postings are ascending market ids by word.
type postings struct {
	start []uint32 // start of each word in ids, and the end of the last
	ids   []uint32
	dense map[int]Set // words that take less memory as a set; none of their ids is in ids
}

// fill adds the ids of words from to to to s, except those in but.
func (p *postings) fill(s Set, from, to int, but Set) {
	if from >= to {
		return
	}
	list := p.ids[p.start[from]:p.start[to]]
	if but == nil {
		for _, id := range list {
			s.add(id)
		}
	} else {
		for _, id := range list {
			if !but.Has(int32(id)) {
				s.add(id)
			}
		}
	}
	if len(p.dense) == 0 {
		return
	}
	if to-from == 1 {
		s.union(p.dense[from], but)
		return
	}
	for word, set := range p.dense {
		if from <= word && word < to {
			s.union(set, but)
		}
	}
}

// append adds the ids of a word to list in order, except those in but.
func (p *postings) append(list []uint32, word int, but Set) []uint32 {
	for _, id := range p.ids[p.start[word]:p.start[word+1]] {
		if !but.Has(int32(id)) {
			list = append(list, id)
		}
	}
	for i, w := range p.dense[word] {
		for ; w != 0; w &= w - 1 {
			if id := uint32(i<<6 + bits.TrailingZeros64(w)); !but.Has(int32(id)) {
				list = append(list, id)
			}
		}
	}
	return list
}

func (p *postings) bytes() int64 {
	n := 4 * int64(len(p.start)+len(p.ids))
	for _, set := range p.dense {
		n += 8 * int64(len(set))
	}
	return n
}

// word finds a word of the segment; false if it does not have it.
func (g *segment) word(word string) (int, bool) { return slices.BinarySearch(g.words, word) }

// prefixRange returns the range of the words that begin with prefix.
func (g *segment) prefixRange(prefix string) (from, to int) {
	from = sort.SearchStrings(g.words, prefix)
	return from, from + sort.Search(len(g.words)-from, func(i int) bool { return !strings.HasPrefix(g.words[from+i], prefix) })
}

// size is about how much memory the segment takes.
func (g *segment) size() int64 {
	n := g.title.bytes() + g.other.bytes() + 8*int64(len(g.typos))
	for _, w := range g.words {
		n += int64(len(w)) + 16
	}
	for _, sets := range g.wide {
		n += 16 * int64(len(sets[inTitle]))
	}
	return n
}

// writer makes a segment word by word.
type writer struct {
	g    *segment
	span int // words of a set
}

func newWriter(words, span int) *writer {
	g := &segment{words: make([]string, 0, words)}
	g.title.start, g.other.start = make([]uint32, 1, words+1), make([]uint32, 1, words+1)
	return &writer{g: g, span: span}
}

// add takes the next word, in order, with its ascending ids.
func (w *writer) add(word string, title, other []uint32) {
	if len(title)+len(other) == 0 {
		return
	}
	at := len(w.g.words)
	w.g.words = append(w.g.words, word)
	w.list(&w.g.title, at, title)
	w.list(&w.g.other, at, other)
}

func (w *writer) list(p *postings, word int, ids []uint32) {
	if len(ids) > 2*w.span { // four bytes an id against eight a word of the set
		if p.dense == nil {
			p.dense = map[int]Set{}
		}
		set := make(Set, w.span)
		for _, id := range ids {
			set.add(id)
		}
		p.dense[word] = set
	} else {
		p.ids = append(p.ids, ids...)
	}
	p.start = append(p.start, uint32(len(p.ids)))
}

// done returns the finished segment.
func (w *writer) done(docs int) *segment {
	g := w.g
	g.docs = docs
	g.typos = newTypoIndex(g.words)
	g.wide = w.widePrefixes()
	g.bytes = g.size()
	return g
}

// widePrefixes computes the matches of prefixes of one and two letters for which doing so per query
// would take long.
func (w *writer) widePrefixes() map[string][fields]Set {
	g, wide := w.g, map[string][fields]Set{}
	for n := 1; n <= 2; n++ {
		for at := 0; at < len(g.words); {
			word := g.words[at]
			if len(word) < n || word[0] < ' ' || word[n-1] >= utf8.RuneSelf {
				at++
				continue
			}
			from, to := g.prefixRange(word[:n])
			if w.isWide(from, to) {
				wide[word[:n]] = w.both(from, to)
			}
			at = to
		}
	}
	return wide
}

// isWide reports whether adding the words from to to is slower than adding two sets.
func (w *writer) isWide(from, to int) bool {
	n := 0
	for _, p := range [2]*postings{&w.g.title, &w.g.other} {
		n += int(p.start[to] - p.start[from])
		for word := range p.dense {
			if from <= word && word < to {
				n += w.span
			}
		}
	}
	return n > 4*w.span
}

func (w *writer) both(from, to int) [fields]Set {
	title, all := make(Set, w.span), make(Set, w.span)
	w.g.title.fill(title, from, to, nil)
	copy(all, title)
	w.g.other.fill(all, from, to, nil)
	return [fields]Set{title, all}
}
