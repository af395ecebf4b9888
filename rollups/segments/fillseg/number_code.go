package fillseg

import (
	"fmt"
	"math/bits"
	"slices"
)

// A class is a range of numbers that are written alike: a prefix, with which no other class of the code begins, and then how
// many units the number is above the lowest one of the class. That one is 0, or where the class before of the same kind
// and unit ends.
type class struct {
	kind   uint8 // a second thing that the prefix says, as the user of the code defines it
	prefix uint8 // how many bits these are, at most longestPrefix
	width  uint8 // of what follows, in bits
	unit   int64 // numbers of the class are multiples of it
}

const (
	longestPrefix = 6
	widest        = 57 - longestPrefix // what is read as one word with the prefix, at any bit of a byte
	anyNumber     = 64                 // the width of a class of all numbers of 64 bits
)

// A code writes numbers of 64 bits, each in a class that has it: frequent ones with few bits. The classes of the codes were chosen by how
// often numbers occur in the segment files of 100 million fills of the sample venue.
type code struct {
	kinds    [][]group                 // by kind
	byPrefix [1 << longestPrefix]coded // by the next bits, of which the first ones are the prefix
}

// A group has the classes of a kind and a unit, in order of their numbers.
type group struct {
	unit    int64
	end     uint64 // how many units the numbers of all classes are below, unless any is set
	any     bool   // one class of all numbers
	classes []placed
	first   [widest + 1]uint8 // by how many bits a number of units has, which class is the first that may have it
}

// placed is a class for writing.
type placed struct {
	from, end     uint64 // in units
	bits          uint64 // the prefix
	prefix, width uint
}

// coded is a class for reading.
type coded struct {
	from, unit int64
	mask       uint64
	prefix     uint8
	length     uint8 // with the prefix
	kind       uint8
}

// newCode gives prefixes to classes. It panics if their lengths leave bits that are no prefix, or are too few.
func newCode(classes ...class) *code {
	c := &code{}
	next := uint64(0) // of byPrefix, with the first bit on top
	prefixes := make([]uint64, len(classes))
	for length := uint8(0); length <= longestPrefix; length++ {
		for i, k := range classes {
			if k.prefix == length {
				prefixes[i] = bits.Reverse64(next) >> (64 - longestPrefix)
				next += 1 << (longestPrefix - length)
			}
		}
	}
	if next != 1<<longestPrefix {
		panic(fmt.Sprintf("classes take %d of %d prefixes", next, 1<<longestPrefix))
	}
	for i, k := range classes {
		c.add(&k, prefixes[i])
	}
	return c
}

// add adds a class with its prefix.
func (c *code) add(k *class, prefix uint64) {
	if k.prefix > longestPrefix || k.width > widest && k.width != anyNumber {
		panic(fmt.Sprintf("a class of %d and %d bits", k.prefix, k.width))
	}
	for len(c.kinds) <= int(k.kind) {
		c.kinds = append(c.kinds, nil)
	}
	groups := &c.kinds[k.kind]
	at := slices.IndexFunc(*groups, func(g group) bool { return g.unit == k.unit && !g.any })
	if at < 0 || k.width == anyNumber {
		at = len(*groups)
		*groups = append(*groups, group{unit: k.unit, any: k.width == anyNumber})
	}
	g := &(*groups)[at]
	p := placed{from: g.end, end: g.end + 1<<k.width, bits: prefix, prefix: uint(k.prefix), width: uint(k.width)}
	if p.end > 1<<widest {
		panic(fmt.Sprintf("classes of %d numbers", p.end))
	}
	for length := range g.first {
		if lowest := uint64(1) << length >> 1; lowest >= p.end {
			g.first[length] = uint8(len(g.classes) + 1)
		}
	}
	g.classes, g.end = append(g.classes, p), p.end
	read := coded{from: int64(p.from), unit: k.unit, mask: 1<<k.width - 1, prefix: k.prefix, length: k.prefix + k.width, kind: k.kind}
	for ; prefix < 1<<longestPrefix; prefix += 1 << k.prefix {
		c.byPrefix[prefix] = read
	}
}

// put writes a number of a kind. False if no class of that kind has it.
func (c *code) put(w *bitWriter, kind uint8, v int64) bool {
	for i := range c.kinds[kind] {
		g := &c.kinds[kind][i]
		if g.any {
			w.put(g.classes[0].bits, g.classes[0].prefix)
			w.put(uint64(v), anyNumber)
			return true
		}
		n := v
		if g.unit != 1 {
			n = v / g.unit
		}
		if n*g.unit != v || uint64(n) >= g.end {
			continue
		}
		at := g.first[bits.Len64(uint64(n))]
		for uint64(n) >= g.classes[at].end {
			at++
		}
		p := &g.classes[at]
		w.put((uint64(n)-p.from)<<p.prefix|p.bits, p.prefix+p.width)
		return true
	}
	return false
}
