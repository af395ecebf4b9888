// Package search finds markets by the words of their titles: an immutable index that is replaced at
// a cost proportional to what is new, and read without a lock.
package search

import (
	"slices"
	"sync"
)

// Level says how well a market matches a query; less is better.
type Level int

// The levels. A word matches exactly, or as the beginning of a longer one; one word
// of four letters or more, digits apart, may have a typo instead: one letter too
// many, missing or wrong, or two neighbours swapped.
const (
	Whole       Level = iota // the words are exactly those of the title
	Title                    // all are words of the title
	Exact                    // all are words, some of them outside the title
	TitlePrefix              // all begin words of the title
	Prefix                   // all begin words, some of them outside the title
	TitleTypo                // as TitlePrefix, but for a typo in one word
	Typo                     // as Prefix, but for a typo in one word
	Levels                   // how many there are
)

// Index is the words of all markets at one time. It never changes.
type Index struct {
	segments []*segment
	outdated []Set      // by segment; nil: none
	span     int        // words of a set
	pool     *sync.Pool // of *Matches
}

// Bytes is about how much memory the index takes.
func (x *Index) Bytes() int64 { return x.UnsharedBytes(&Index{}) }

// UnsharedBytes is about how much of that o does not share.
func (x *Index) UnsharedBytes(o *Index) int64 {
	n := int64(0)
	for i, g := range x.segments {
		at := slices.Index(o.segments, g)
		if at < 0 {
			n += g.bytes
		}
		if dead := x.outdated[i]; len(dead) > 0 && (at < 0 || len(o.outdated[at]) == 0 || &dead[0] != &o.outdated[at][0]) {
			n += 8 * int64(len(dead))
		}
	}
	return n
}

// Matches is the result of a query: a set of markets for each level; no market is in two. It is
// used by one goroutine and returned with Release.
type Matches struct {
	levels [Levels]Set
	of     wordSets
	memory Set
	pool   *sync.Pool
}

// Level returns the markets that match as well as l says.
func (m *Matches) Level(l Level) Set { return m.levels[l] }

// Count is how many markets match on any level.
func (m *Matches) Count() int {
	n := 0
	for _, s := range m.levels {
		n += s.Count()
	}
	return n
}

// All returns the markets of all levels.
func (m *Matches) All() Set {
	all := m.of[exactTitle]
	clear(all)
	for _, s := range m.levels {
		all.union(s, nil)
	}
	return all
}

// Release returns m to the pool. Its sets must not be used any more.
func (m *Matches) Release() { m.pool.Put(m) }

// The sets of the markets that match one word of a query.
const (
	exactTitle = iota
	exactAny
	prefixTitle
	prefixAny
	typoTitle
	typoAny
	kinds // how many there are
)

type wordSets [kinds]Set

// matches returns an empty Matches.
func (x *Index) matches() *Matches {
	m, _ := x.pool.Get().(*Matches)
	need := (int(Levels) + kinds) * x.span
	if m == nil || cap(m.memory) < need {
		m = &Matches{memory: make(Set, need+need/8), pool: x.pool}
	}
	m.memory = m.memory[:need]
	clear(m.memory)
	for i := range m.levels {
		m.levels[i] = m.memory[i*x.span : (i+1)*x.span]
	}
	for i := range m.of {
		at := int(Levels) + i
		m.of[i] = m.memory[at*x.span : (at+1)*x.span]
	}
	return m
}

// Find returns the markets that match all of words, which come from Words; none if there are no
// words.
func (x *Index) Find(words []string) *Matches {
	m := x.matches()
	for i, w := range words {
		if i > 0 {
			for _, s := range m.of {
				clear(s)
			}
		}
		x.word(w, &m.of)
		if !m.narrow(i == 0) {
			break
		}
	}
	clear(m.of[exactTitle])
	x.exact(lengthWord(len(words)), m.of[exactTitle], nil)
	m.split(m.of[exactTitle])
	return m
}

// exact adds the markets that have word in their title, and those that have it
// outside, unless other is nil.
func (x *Index) exact(word string, title, other Set) {
	for i, g := range x.segments {
		if at, ok := g.word(word); ok {
			g.title.fill(title, at, at+1, x.outdated[i])
			if other != nil {
				g.other.fill(other, at, at+1, x.outdated[i])
			}
		}
	}
}

// word fills sets with the markets that match word. A market may be in the sets of better and of
// worse matches.
func (x *Index) word(word string, sets *wordSets) {
	x.exact(word, sets[exactTitle], sets[exactAny])
	sets[exactAny].union(sets[exactTitle], nil)
	forgiven := forgiving(word)
	for i, g := range x.segments {
		dead := x.outdated[i]
		if wide, ok := g.wide[word]; ok {
			sets[prefixTitle].union(wide[inTitle], dead)
			sets[prefixAny].union(wide[anywhere], dead)
		} else {
			from, to := g.prefixRange(word)
			g.title.fill(sets[prefixTitle], from, to, dead)
			g.other.fill(sets[prefixAny], from, to, dead)
		}
		if !forgiven {
			continue
		}
		for _, at := range g.typos.find(g.words, word) {
			g.title.fill(sets[typoTitle], at, at+1, dead)
			g.other.fill(sets[typoAny], at, at+1, dead)
		}
	}
	sets[prefixAny].union(sets[prefixTitle], nil)
	sets[typoAny].union(sets[typoTitle], nil)
}

// narrow keeps, of the markets that matched all words so far, those that match the word of m.of,
// too; first means that this is the first word. It reports whether any are left. Until split, a
// market may be in several levels.
func (m *Matches) narrow(first bool) bool {
	if first {
		for kind, l := range [kinds]Level{Title, Exact, TitlePrefix, Prefix, TitleTypo, Typo} {
			copy(m.levels[l], m.of[kind])
		}
		return true
	}
	e0, e1, p0, p1, t0, t1 := m.of[0], m.of[1], m.of[2], m.of[3], m.of[4], m.of[5]
	any := uint64(0)
	l := &m.levels
	for i := range e0 {
		l[TitleTypo][i] = l[TitleTypo][i]&p0[i] | l[TitlePrefix][i]&t0[i]
		l[Typo][i] = l[Typo][i]&p1[i] | l[Prefix][i]&t1[i]
		l[Title][i] &= e0[i]
		l[Exact][i] &= e1[i]
		l[TitlePrefix][i] &= p0[i]
		l[Prefix][i] &= p1[i]
		any |= l[Prefix][i] | l[Typo][i]
	}
	return any != 0
}

// split removes from each level the markets that a better one has; whole has the markets whose
// title has as many words as the query.
func (m *Matches) split(whole Set) {
	l := &m.levels
	for i, w := range whole {
		l[Whole][i] = l[Title][i] & w
		seen := uint64(0)
		for level := range l {
			l[level][i] &^= seen
			seen |= l[level][i]
		}
	}
}

// Equal reports whether x and o give the same results for every query, however they were built. It
// takes time proportional to their size.
func (x *Index) Equal(o *Index) bool {
	span := max(x.span, o.span)
	a, b := mergeSegments(x.segments, x.outdated, span), mergeSegments(o.segments, o.outdated, span)
	if !slices.Equal(a.words, b.words) {
		return false
	}
	for i := range a.words {
		if !slices.Equal(a.title.append(nil, i, nil), b.title.append(nil, i, nil)) ||
			!slices.Equal(a.other.append(nil, i, nil), b.other.append(nil, i, nil)) {
			return false
		}
	}
	return true
}
