package search

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// doc is the texts of one market.
type doc struct {
	id     uint32
	title  string
	others []string
}

// segmentBuilder turns texts into a segment: every word gets a number at its first appearance,
// every word of a market is noted, and at the end the notes are distributed to the words.
type segmentBuilder struct {
	table  []uint32 // open addressing: the word's number + 1 by its hash; 0 is empty
	hashes []uint64 // by word
	words  []string
	last   []uint32 // by word: the mark of the last market that had it
	notes  []uint32 // word<<1, plus 1 if it is outside the title
	ends   []int    // by market: end of its notes
	text   []byte
	before []noted // by place in doc.others: the last text, which several markets of an event have
}

// noted is a text and its words.
type noted struct {
	text  string
	words []uint32
}

// readDocs makes a segment of markets with ascending ids.
func readDocs(docs []doc, span int) *segment {
	r := &segmentBuilder{table: make([]uint32, 1024)}
	for i := range docs {
		r.read(&docs[i], uint32(i+1))
	}
	return r.segment(docs, span)
}

func (r *segmentBuilder) read(d *doc, mark uint32) {
	n := r.note(d.title, mark, inTitle)
	for i, other := range d.others {
		if i == len(r.before) {
			r.before = append(r.before, noted{})
		}
		r.noteOther(&r.before[i], other, mark)
	}
	r.add([]byte(lengthWord(n)), mark, inTitle)
	r.ends = append(r.ends, len(r.notes))
}

// lengthWord stands for how many distinct words a title has; no text holds it.
func lengthWord(n int) string { return "\x00" + string(rune(n)) }

// note adds the words of a text and returns how many the market did not have yet.
func (r *segmentBuilder) note(text string, mark uint32, where int) int {
	r.text = fold(r.text[:0], text)
	n := 0
	for rest := r.text; len(rest) > 0; {
		end := bytes.IndexByte(rest, ' ')
		if r.add(rest[:end], mark, where) {
			n++
		}
		rest = rest[end+1:]
	}
	return n
}

// noteOther is note for a text outside the title, whose words are known if it is the one before.
func (r *segmentBuilder) noteOther(before *noted, text string, mark uint32) {
	if before.text != text {
		before.text, before.words = text, before.words[:0]
		r.text = fold(r.text[:0], text)
		for rest := r.text; len(rest) > 0; {
			end := bytes.IndexByte(rest, ' ')
			before.words = append(before.words, r.number(rest[:end]))
			rest = rest[end+1:]
		}
	}
	for _, w := range before.words {
		r.addNumber(w, mark, anywhere)
	}
}

// add notes a word of the market with that mark, unless it was already.
func (r *segmentBuilder) add(word []byte, mark uint32, where int) bool {
	return r.addNumber(r.number(word), mark, where)
}

// addNumber is add for the number of a word.
func (r *segmentBuilder) addNumber(w, mark uint32, where int) bool {
	if r.last[w] == mark {
		return false
	}
	r.last[w] = mark
	r.notes = append(r.notes, w<<1|uint32(where))
	return true
}

// number returns the number of a word.
func (r *segmentBuilder) number(word []byte) uint32 {
	hash := xxhash.Sum64(word)
	for i := int(hash) & (len(r.table) - 1); ; i = (i + 1) & (len(r.table) - 1) {
		w := r.table[i]
		if w == 0 {
			return r.learn(word, hash, i)
		}
		if r.hashes[w-1] == hash && r.words[w-1] == string(word) {
			return w - 1
		}
	}
}

// learn assigns a number to a new word; slot is where its search ended.
func (r *segmentBuilder) learn(word []byte, hash uint64, slot int) uint32 {
	w := uint32(len(r.words))
	r.words, r.hashes, r.last = append(r.words, string(word)), append(r.hashes, hash), append(r.last, 0)
	r.table[slot] = w + 1
	if 2*len(r.words) > len(r.table) {
		r.table = make([]uint32, 2*len(r.table))
		for other, hash := range r.hashes {
			i := int(hash) & (len(r.table) - 1)
			for r.table[i] != 0 {
				i = (i + 1) & (len(r.table) - 1)
			}
			r.table[i] = uint32(other + 1)
		}
	}
	return w
}

// segment distributes the notes to the words.
func (r *segmentBuilder) segment(docs []doc, span int) *segment {
	order := make([]uint32, len(r.words))
	for w := range order {
		order[w] = uint32(w)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(r.words[a], r.words[b]) })
	// Each word has a range of ids for titles and one for elsewhere.
	next := make([]uint32, 2*len(r.words)+1)
	for _, n := range r.notes {
		next[n+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	ids, from := make([]uint32, len(r.notes)), 0
	for i, end := range r.ends {
		for _, n := range r.notes[from:end] {
			ids[next[n]] = docs[i].id
			next[n]++
		}
		from = end
	}
	// next[n] is now where range n ends, which is where the next one begins.
	start := func(n uint32) uint32 {
		if n == 0 {
			return 0
		}
		return next[n-1]
	}
	out := newWriter(len(order), span)
	for _, w := range order {
		out.add(r.words[w], ids[start(2*w):next[2*w]], ids[start(2*w+1):next[2*w+1]])
	}
	return out.done(len(docs))
}
