package search

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// mergeAt is how many times the markets of a segment a newer one may hold before
// the two are merged: rewriting is spread so thin that a market is rewritten a
// few times in its life, however many there are.
const mergeAt = 4

// Builder makes successive indexes of the markets' texts. What one of them costs
// follows the markets that were set since the one before. It belongs to one
// goroutine.
type Builder struct {
	prints   []uint64 // of each market's texts, by id; 0: none yet
	pending  map[uint32]texts
	segments []*segment
	dead     []Set  // by segment: ids whose texts are in a later one; nil: none
	ours     []bool // by segment: dead is not in any index yet
	span     int
	room     *sync.Pool
}

type texts struct{ title, others string }

// NewBuilder gives a Builder of no markets.
func NewBuilder() *Builder {
	return &Builder{pending: map[uint32]texts{}, room: &sync.Pool{}}
}

// Set gives the market of id its title, and other texts whose words count less.
func (b *Builder) Set(id int32, title string, others ...string) {
	t := texts{title, strings.Join(others, " ")}
	print := xxhash.Sum64String(title+"\x00"+t.others) | 1
	for int(id) >= len(b.prints) {
		b.prints = append(b.prints, 0)
	}
	if b.prints[id] == print {
		return
	}
	if b.prints[id] != 0 {
		b.bury(uint32(id))
	}
	b.prints[id] = print
	b.pending[uint32(id)] = t
}

// bury marks what the segments hold of id as outdated. The sets that an index has
// are copied before they are changed, once for each Seal.
func (b *Builder) bury(id uint32) {
	if b.ours == nil {
		b.dead, b.ours = slices.Clone(b.dead), make([]bool, len(b.dead))
	}
	for i, dead := range b.dead {
		if dead.Has(int32(id)) {
			continue
		}
		if !b.ours[i] || int(id>>6) >= len(dead) {
			b.dead[i], b.ours[i] = dead.grown(id), true
		}
		b.dead[i].add(id)
	}
}

// Seal gives the index of the markets as they are now.
func (b *Builder) Seal() *Index {
	b.span = (len(b.prints) + 63) / 64
	if len(b.pending) > 0 {
		b.segments = append(slices.Clone(b.segments), b.read())
		b.dead = append(slices.Clone(b.dead), nil)
		b.pending = map[uint32]texts{}
		b.merge()
	}
	b.ours = nil
	return &Index{segments: b.segments, dead: b.dead, span: b.span, room: b.room}
}

// lists are the ids of a word.
type lists struct{ title, other []uint32 }

// read makes a segment of what is pending.
func (b *Builder) read() *segment {
	ids := make([]uint32, 0, len(b.pending))
	for id := range b.pending {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	words := map[string]*lists{}
	var text []byte
	for _, id := range ids {
		t := b.pending[id]
		text = fold(text[:0], t.title)
		n := 0
		for w := range bytes.FieldsSeq(text) {
			if l := entry(words, w); !ends(l.title, id) {
				l.title = append(l.title, id)
				n++
			}
		}
		text = fold(text[:0], t.others)
		for w := range bytes.FieldsSeq(text) {
			if l := entry(words, w); !ends(l.title, id) && !ends(l.other, id) {
				l.other = append(l.other, id)
			}
		}
		l := entry(words, []byte(lengthWord(n)))
		l.title = append(l.title, id)
	}
	return b.write(words, len(ids))
}

// lengthWord stands for how many distinct words a title has; no text holds it.
func lengthWord(n int) string { return "\x00" + string(rune(n)) }

func ends(ids []uint32, id uint32) bool { return len(ids) > 0 && ids[len(ids)-1] == id }

func entry(words map[string]*lists, word []byte) *lists {
	l := words[string(word)]
	if l == nil {
		l = &lists{}
		words[string(word)] = l
	}
	return l
}

func (b *Builder) write(words map[string]*lists, docs int) *segment {
	sorted := make([]string, 0, len(words))
	for w := range words {
		sorted = append(sorted, w)
	}
	slices.Sort(sorted)
	out := newWriter(len(sorted), b.span)
	for _, w := range sorted {
		out.add(w, words[w].title, words[w].other)
	}
	return out.done(docs)
}

// merge folds the newest segments into one while the last is not much smaller
// than the one before.
func (b *Builder) merge() {
	n := len(b.segments)
	from, docs := n-1, b.segments[n-1].docs
	for from > 0 && b.segments[from-1].docs < mergeAt*docs {
		from--
		docs += b.segments[from].docs
	}
	if from == n-1 {
		return
	}
	merged := mergeSegments(b.segments[from:], b.dead[from:], b.span)
	b.segments = append(b.segments[:from:from], merged)
	b.dead = append(b.dead[:from:from], nil)
}

// mergeSegments makes one segment of several, without what is dead.
func mergeSegments(old []*segment, dead []Set, span int) *segment {
	total := 0
	for _, g := range old {
		total += len(g.words)
	}
	words := make([]string, 0, total)
	for _, g := range old {
		words = append(words, g.words...)
	}
	slices.Sort(words)
	words = slices.Compact(words)
	out := newWriter(len(words), span)
	at := make([]int, len(old)) // the next word of each
	docs := 0
	var title, other []uint32
	for _, w := range words {
		title, other = title[:0], other[:0]
		for i, g := range old {
			if at[i] < len(g.words) && g.words[at[i]] == w {
				title = g.title.append(title, at[i], dead[i])
				other = g.other.append(other, at[i], dead[i])
				at[i]++
			}
		}
		ascending(title)
		ascending(other)
		out.add(w, title, other)
		if w[0] == 0 {
			docs += len(title)
		}
	}
	return out.done(docs)
}

// ascending sorts what mostly is sorted: later segments hold later markets.
func ascending(ids []uint32) {
	if !slices.IsSorted(ids) {
		slices.Sort(ids)
	}
}
