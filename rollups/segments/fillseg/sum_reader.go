package fillseg

import (
	"encoding/binary"
	"math/bits"

	"pmx/data"
)

// About how many bytes the sums of a wallet, of an hour and of a token take.
const (
	walletBytes = 10
	hourBytes   = 13
	tokenBytes  = 18
)

// sumReader decodes numbers from the bytes of sums.
type sumReader struct {
	segment
	b    []byte
	key  uint64 // of the last sum
	some bool   // a sum was read
}

// unsigned is the next number. Nearly all have at most eight bytes, whose ends and bits are found without a step for
// each of them.
func (r *sumReader) unsigned() uint64 {
	if len(r.b) >= 8 {
		v := binary.LittleEndian.Uint64(r.b)
		if ends := ^v & 0x8080808080808080; ends != 0 {
			r.b = r.b[bits.TrailingZeros64(ends)/8+1:]
			return joinSevens(v & (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7f)
		}
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		panic(r.Damaged("sums end within a number"))
	}
	r.b = r.b[n:]
	return v
}

// joinSevens joins the lower seven bits of eight bytes.
func joinSevens(v uint64) uint64 {
	v = v&0x007f007f007f007f | v>>1&0x3f803f803f803f80
	v = v&0x00003fff00003fff | v>>2&0x0fffc0000fffc000
	return v&0x000000000fffffff | v>>4&0x00fffffff0000000
}

func (r *sumReader) amount() data.Micro {
	v := r.unsigned()
	return data.Micro(v>>1) ^ -data.Micro(v&1)
}

// nextKey is the key of the next sum: it is larger than the one before, and at most most.
func (r *sumReader) nextKey(most uint64) uint64 {
	v := r.unsigned()
	if v > most-r.key || v == 0 && r.some {
		panic(r.Damaged("sums: a key %d behind %d", v, r.key))
	}
	r.key, r.some = r.key+v, true
	return r.key
}
