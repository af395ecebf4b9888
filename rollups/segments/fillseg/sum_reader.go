package fillseg

import (
	"encoding/binary"

	"pmx/data"
)

// Sums of a key are a list of bits: how many they are, and each as numbers in codes (number_code.go), in order of what they
// are by. Nothing is written if there are none.

// counts is of how many sums a list has, less one. A sum takes a byte at least.
var counts = newCode(class{0, 2, 6, 1}, class{0, 2, 10, 1}, class{0, 2, 16, 1}, class{0, 2, anyNumber, 1})

// sumWriter writes sums.
type sumWriter struct {
	bitWriter
	next int64 // the lowest key of the next one
}

// writeSums begins a list of n sums behind b.
func writeSums(b []byte, n int) sumWriter {
	w := sumWriter{bitWriter: bitWriter{b: b}}
	if n > 0 {
		w.number(counts, int64(n)-1)
	}
	return w
}

// number writes a number in a code with one kind.
func (w *sumWriter) number(c *code, v int64) { c.put(&w.bitWriter, 0, v) }

// key writes the key of a sum, larger than those before.
func (w *sumWriter) key(steps *code, key int64) {
	w.number(steps, key-w.next)
	w.next = key + 1
}

// sumReader decodes sums.
type sumReader struct {
	segment
	b    []byte
	at   uint   // the next bit
	left int    // how many sums follow
	next uint64 // the lowest key of the next one
}

// readSums returns a reader of a list of sums.
func (r segment) readSums(b []byte) sumReader {
	in := sumReader{segment: r, b: b}
	if len(b) > 0 {
		n, _ := in.number(counts)
		if n < 0 || n >= int64(len(b)) {
			panic(r.Damaged("%d sums in %d bytes", n, len(b)))
		}
		in.left = int(n) + 1
	}
	return in
}

// word has the next 57 bits, and zeros after the end.
func (r *sumReader) word() uint64 {
	if at := r.at >> 3; at+wordSize <= uint(len(r.b)) {
		return binary.LittleEndian.Uint64(r.b[at:]) >> (r.at & 7)
	}
	return r.lastWord()
}

func (r *sumReader) lastWord() uint64 {
	var b [wordSize]byte
	if at := r.at >> 3; at < uint(len(r.b)) {
		copy(b[:], r.b[at:])
	}
	return binary.LittleEndian.Uint64(b[:]) >> (r.at & 7)
}

// number is the next number, and its kind.
func (r *sumReader) number(c *code) (v int64, kind uint8) {
	word := r.word()
	k := &c.byPrefix[word%(1<<longestPrefix)]
	r.at += uint(k.length)
	if k.length > anyNumber {
		r.at -= anyNumber
		low := r.bits(32)
		return int64(low | r.bits(32)<<32), k.kind
	}
	return (k.from + int64(word>>(k.prefix&63)&k.mask)) * k.unit, k.kind
}

// bits are the next bits, at most 57.
func (r *sumReader) bits(n uint) uint64 {
	v := r.word() & (1<<n - 1)
	r.at += n
	return v
}

// key is the key of the next sum: it is larger than the one before, and at most most.
func (r *sumReader) key(steps *code, most uint64) uint64 {
	v, _ := r.number(steps)
	if r.next > most || uint64(v) > most-r.next {
		panic(r.Damaged("sums: a key %d above %d", v, r.next))
	}
	key := r.next + uint64(v)
	r.next = key + 1
	return key
}

// end ends a sum. The last one ends in the last byte.
func (r *sumReader) end() {
	r.left--
	if end := uint(len(r.b)) * 8; r.at > end || r.left == 0 && end-r.at > 7 {
		panic(r.Damaged("sums: %d bits of %d are read, %d sums follow", r.at, end, r.left))
	}
}

// Shares and fees are mostly whole hundredths.
var amounts = newCode(
	class{0, 4, 8, 10_000}, class{0, 3, 9, 10_000}, class{0, 3, 10, 10_000}, class{0, 3, 11, 10_000}, class{0, 3, 12, 10_000},
	class{0, 3, 13, 10_000}, class{0, 3, 14, 10_000}, class{0, 4, 15, 10_000}, class{0, 5, 18, 10_000}, class{0, 6, 26, 10_000},
	class{0, 6, 20, 100}, class{0, 6, 28, 100}, class{0, 6, 28, 1}, class{0, 6, 40, 1}, class{0, 6, anyNumber, 1},
)

func (w *sumWriter) amount(m data.Micro) { w.number(amounts, int64(m)) }

func (r *sumReader) amount() data.Micro {
	v, _ := r.number(amounts)
	return data.Micro(v)
}

// Dollars are mostly shares at a price, rounded down, or a millionth more. They are written as that price in 10,000ths, most of which are
// whole hundredths or thousandths; or as an amount, if they have no price.
const (
	asAmount = iota
	asPrice
	asPriceAndMore
)

var dollars = newCode(
	class{asPrice, 2, 7, 100}, class{asPrice, 2, 10, 10}, class{asPrice, 5, 14, 1}, class{asPriceAndMore, 5, 14, 1},
	class{asAmount, 5, 13, 100}, class{asAmount, 5, 16, 100}, class{asAmount, 5, 18, 100}, class{asAmount, 4, 20, 100}, class{asAmount, 5, 22, 100}, class{asAmount, 5, 28, 100},
	class{asAmount, 5, 17, 10}, class{asAmount, 5, 20, 10}, class{asAmount, 5, 22, 10}, class{asAmount, 5, 24, 10}, class{asAmount, 5, 30, 10},
	class{asAmount, 6, 30, 1}, class{asAmount, 6, 44, 1}, class{asAmount, 5, anyNumber, 1},
)

// dollars writes dollars that so many shares cost.
func (w *sumWriter) dollars(usd, shares data.Micro) {
	if p, rest, ok := price(shares, usd); ok {
		dollars.put(&w.bitWriter, uint8(asPrice+rest), int64(p))
		return
	}
	w.number(dollars, int64(usd))
}

// dollars are the next dollars, that so many shares cost.
func (r *sumReader) dollars(shares data.Micro) data.Micro {
	v, kind := r.number(dollars)
	if kind == asAmount {
		return data.Micro(v)
	}
	return shares*data.Micro(v)/10_000 + data.Micro(kind-asPrice)
}
