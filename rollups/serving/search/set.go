package search

import "math/bits"

// Set is a set of market ids, one bit each. Sets of one Index have one length.
type Set []uint64

// Has reports whether id is in s.
func (s Set) Has(id int32) bool { return int(id>>6) < len(s) && s[id>>6]&(1<<(id&63)) != 0 }

// Count is how many ids are in s.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s Set) add(id uint32) { s[id>>6] |= 1 << (id & 63) }

// union adds the ids of o, which may be shorter, that are not in but.
func (s Set) union(o, but Set) {
	if but == nil {
		for i, w := range o {
			s[i] |= w
		}
		return
	}
	for i, w := range o {
		if i < len(but) {
			w &^= but[i]
		}
		s[i] |= w
	}
}

// grown returns a copy of s with room for id.
func (s Set) grown(id uint32) Set {
	return append(make(Set, 0, max(len(s), int(id>>6)+1)), s...)[:max(len(s), int(id>>6)+1)]
}
