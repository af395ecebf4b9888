package fillseg

import (
	"encoding/binary"
	"math/bits"
)

// wordSize is how many bytes follow the last bits that are read, so that any bits can be read as one word.
const wordSize = 8

// bitWriter appends numbers of so many bits each.
type bitWriter struct {
	b    []byte
	word uint64 // the bits that are not in b yet
	n    uint   // how many these are, below 64
}

// put appends the lower bits of v.
func (w *bitWriter) put(v uint64, width uint) {
	v &= 1<<width - 1
	w.word |= v << w.n
	if w.n+width < 64 {
		w.n += width
		return
	}
	w.b = binary.LittleEndian.AppendUint64(w.b, w.word)
	w.word, w.n = v>>(64-w.n), w.n+width-64
}

// end appends the remaining bits, filled up to a byte.
func (w *bitWriter) end() []byte {
	for ; w.n > 0; w.n -= min(w.n, 8) {
		w.b = append(w.b, byte(w.word))
		w.word >>= 8
	}
	return w.b
}

// signed appends a number with its length, for headers.
func (w *bitWriter) signed(v int64) {
	u := uint64(v<<1 ^ v>>63)
	n := uint(bits.Len64(u))
	w.put(uint64(n), widthLen)
	w.put(u, n)
}

// bitReader reads what a bitWriter wrote. It panics with a *segments.Damage where bits after the end are asked for.
type bitReader struct {
	segment
	b   []byte // wordSize bytes follow the last bits
	at  uint
	end uint
	v   [blockRows]uint64 // of the last column
}

// require panics if there are fewer bits left.
func (r *bitReader) require(width uint) {
	if width > r.end-r.at {
		panic(r.Damaged("rows: %d bits after %d of %d", width, r.at, r.end))
	}
}

// take is the next number of so many bits, at most 64.
func (r *bitReader) take(width uint) uint64 {
	r.require(width)
	if width == 0 {
		return 0
	}
	v := r.word(r.at, width)
	r.at += width
	return v
}

// word is the number at a place before the end.
func (r *bitReader) word(at, width uint) uint64 {
	b := r.b[at>>3:]
	v := binary.LittleEndian.Uint64(b) >> (at & 7)
	if width > 57 {
		v |= uint64(b[8]) << (64 - at&7)
	}
	return v & (1<<width - 1)
}

// width is the number of bits of the numbers of a column.
func (r *bitReader) width() uint {
	w := uint(r.take(widthLen))
	if w > 64 {
		panic(r.Damaged("rows: numbers of %d bits", w))
	}
	return w
}

// signed is what bitWriter.signed wrote.
func (r *bitReader) signed() int64 {
	u := r.take(r.width())
	return int64(u>>1) ^ -int64(u&1)
}

// column are the next n numbers, at most blockRows, of so many bits; the next column overwrites them.
func (r *bitReader) column(n int, width uint) []uint64 {
	r.require(uint(n) * width)
	v := r.v[:n]
	switch {
	case width == 0:
		clear(v)
		return v
	case width > 57:
		for i := range v {
			v[i] = r.word(r.at, width)
			r.at += width
		}
		return v
	}
	at, mask, b := r.at, uint64(1)<<width-1, r.b
	for i := range v {
		v[i] = binary.LittleEndian.Uint64(b[at>>3:]) >> (at & 7) & mask
		at += width
	}
	r.at = at
	return v
}
