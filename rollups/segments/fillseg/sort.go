package fillseg

import (
	"bytes"
	"slices"
)

// sortKey is what an entry is sorted by first, its key and its second, and its place.
type sortKey struct {
	by uint64
	at uint32
}

const (
	digitLen = 11 // bits of a sort key that entries are distributed by at once
	digits   = 1 << digitLen
)

// sort puts the entries in their order into to, which has the same hashes.
func (s *buffer) sort(to *buffer) {
	s.keys = s.keys[:0]
	for i := range s.entries {
		e := &s.entries[i]
		s.keys = append(s.keys, sortKey{by: uint64(uint32(e.key))<<secondLen | e.w0>>2&maxTime, at: uint32(i)})
	}
	s.sortKeys()
	to.entries = slices.Grow(to.entries[:0], len(s.keys))
	for i := range s.keys {
		to.entries = append(to.entries, s.entries[s.keys[i].at])
	}
	for i := 0; i < len(s.keys); {
		end := i + 1
		for end < len(s.keys) && s.keys[end].by == s.keys[i].by {
			end++
		}
		if end > i+1 {
			slices.SortFunc(to.entries[i:end], func(x, y entry) int { return s.compare(&x, &y) })
		}
		i = end
	}
}

// compare orders entries of one key and one second as kind.order does. Their transactions mostly tell.
func (s *buffer) compare(x, y *entry) int {
	if !x.wide() && !y.wide() && x.tx() != noTx && y.tx() != noTx && (!s.byToken || x.logIndex() == y.logIndex()) {
		if c := bytes.Compare(s.hashes[x.tx()][:], s.hashes[y.tx()][:]); c != 0 {
			return c
		}
	}
	a, b := s.fill(x), s.fill(y)
	return s.order(&a, &b)
}

// sortKeys sorts the keys by radix, from the last digit to the first. Digits that are the same in all keys are skipped: those of the
// fills of some days are few.
func (s *buffer) sortKeys() {
	if len(s.keys) == 0 {
		return
	}
	differ := uint64(0)
	for i := range s.keys {
		differ |= s.keys[i].by ^ s.keys[0].by
	}
	s.spareKeys = slices.Grow(s.spareKeys[:0], len(s.keys))[:len(s.keys)]
	for shift := 0; differ>>shift != 0; shift += digitLen {
		if differ>>shift%digits == 0 {
			continue
		}
		var places [digits]uint32
		for i := range s.keys {
			places[s.keys[i].by>>shift%digits]++
		}
		at := uint32(0)
		for d, n := range places {
			places[d] = at
			at += n
		}
		for i := range s.keys {
			place := &places[s.keys[i].by>>shift%digits]
			s.spareKeys[*place] = s.keys[i]
			*place++
		}
		s.keys, s.spareKeys = s.spareKeys, s.keys
	}
}
