package search

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// mergeFactor says when two segments are merged: a segment must have mergeFactor times as many
// markets as the next newer one. So a market is rewritten only a few times, however many there are.
const mergeFactor = 4

// Builder makes successive indexes of the markets' texts, each at a cost proportional to the
// markets set since the previous one. It belongs to one goroutine.
type Builder struct {
	fingerprints []uint64 // of each market's texts, by id; 0: none yet
	pending      []doc    // set since the last Seal; a market may be there twice
	segments     []*segment
	outdated     []Set  // by segment: ids whose texts are in a later one; nil: none
	ours         []bool // by segment: dead is not in any index yet
	span         int
	pool         *sync.Pool `image:"-"`
}

// NewBuilder returns a Builder of no markets.
func NewBuilder() *Builder { return &Builder{pool: &sync.Pool{}} }

// Restored completes a Builder that was read from an image.
func (b *Builder) Restored() { b.pool = &sync.Pool{} }

// Set sets the title of market id, and other texts, whose words count less. It keeps others.
func (b *Builder) Set(id int32, title string, others ...string) {
	print := xxhash.Sum64String(title)
	for _, other := range others {
		print = print*0x9e3779b97f4a7c15 ^ xxhash.Sum64String(other)
	}
	print |= 1
	for int(id) >= len(b.fingerprints) {
		b.fingerprints = append(b.fingerprints, 0)
	}
	if b.fingerprints[id] == print {
		return
	}
	if b.fingerprints[id] != 0 {
		b.markOutdated(uint32(id))
	}
	b.fingerprints[id] = print
	b.pending = append(b.pending, doc{uint32(id), title, others})
}

// markOutdated marks id as outdated in the segments. The sets that an index has are copied before
// they are changed, once for each Seal.
func (b *Builder) markOutdated(id uint32) {
	if b.ours == nil {
		b.outdated, b.ours = slices.Clone(b.outdated), make([]bool, len(b.outdated))
	}
	for i, dead := range b.outdated {
		if dead.Has(int32(id)) {
			continue
		}
		if !b.ours[i] || int(id>>6) >= len(dead) {
			b.outdated[i], b.ours[i] = dead.grown(id), true
		}
		b.outdated[i].add(id)
	}
}

// Seal returns the index of the markets as they are now.
func (b *Builder) Seal() *Index {
	b.span = (len(b.fingerprints) + 63) / 64
	if len(b.pending) > 0 {
		b.segments = append(slices.Clone(b.segments), readDocs(b.newest(), b.span))
		b.outdated = append(slices.Clone(b.outdated), nil)
		b.pending = nil
		b.merge()
	}
	b.ours = nil
	return &Index{segments: b.segments, outdated: b.outdated, span: b.span, pool: b.pool}
}

// newest returns the pending markets by ascending id, each as it was set last.
func (b *Builder) newest() []doc {
	if slices.IsSortedFunc(b.pending, func(x, y doc) int { return cmp.Or(cmp.Compare(x.id, y.id), -1) }) {
		return b.pending
	}
	slices.Reverse(b.pending)
	slices.SortStableFunc(b.pending, func(x, y doc) int { return cmp.Compare(x.id, y.id) })
	return slices.CompactFunc(b.pending, func(x, y doc) bool { return x.id == y.id })
}

// merge merges the newest segments while the last is not much smaller than the one before.
func (b *Builder) merge() {
	n := len(b.segments)
	from, docs := n-1, b.segments[n-1].docs
	for from > 0 && b.segments[from-1].docs < mergeFactor*docs {
		from--
		docs += b.segments[from].docs
	}
	if from == n-1 {
		return
	}
	merged := mergeSegments(b.segments[from:], b.outdated[from:], b.span)
	b.segments = append(b.segments[:from:from], merged)
	b.outdated = append(b.outdated[:from:from], nil)
}

// mergeSegments makes one segment from several, without dead markets.
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

// ascending sorts ids that are mostly sorted: later segments hold later markets.
func ascending(ids []uint32) {
	if !slices.IsSorted(ids) {
		slices.Sort(ids)
	}
}
