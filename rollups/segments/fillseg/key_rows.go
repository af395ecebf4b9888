package fillseg

import (
	"encoding/binary"
	"sort"

	"pmx/rollups/serving"
)

// keyRows are the rows of one key in a file. First come its blocks; all but the last one have blockRows rows. Then
// follow, if there are several, a directory entry for each block but the first one, and the number of blocks in four
// bytes. A last byte has one less than the number of rows of the last block, and whether there are several blocks.
type keyRows struct {
	segment
	n        int    // rows
	blocks   int    // of rows
	from, to int    // where the blocks are, and behind them the directory
	unpacked *block // holds a block of the key; its owner lends it
	which    int    // which block that is; −1: none
}

// A directory entry is the first second of a block since epoch, and how far from the first one it begins.
const (
	dirSize    = 8
	dirPlace   = 34 // bits of the latter
	severalBit = 1 << 6
)

// keyRows finds the rows in the bytes from lo to hi, which are those of one key. Blocks are unpacked to room.
func (r segment) keyRows(lo, hi int, room *block) keyRows {
	k := keyRows{segment: r, from: lo, to: hi - 1, blocks: 1, unpacked: room, which: -1}
	if lo >= hi {
		k.blocks = 0
		return k
	}
	last := int(r.Bytes(rows, hi-1, hi)[0])
	if last >= 2*severalBit {
		panic(r.Damaged("rows: %d at the end of a key", last))
	}
	if last&severalBit != 0 {
		if hi-lo < 5 {
			panic(r.Damaged("rows: %d bytes have several blocks", hi-lo))
		}
		k.blocks = int(binary.LittleEndian.Uint32(r.Bytes(rows, hi-5, hi-1)))
		size := (k.blocks - 1) * dirSize
		if k.blocks < 2 || size > hi-lo-5 {
			panic(r.Damaged("rows: %d blocks in %d bytes", k.blocks, hi-lo))
		}
		k.to = hi - 5 - size
	}
	k.n = (k.blocks-1)*blockRows + last&(blockRows-1) + 1
	return k
}

// entry is the directory entry of block i + 1.
func (k *keyRows) entry(i int) uint64 {
	at := k.to + i*dirSize
	return binary.LittleEndian.Uint64(k.Bytes(rows, at, at+dirSize))
}

// rowsOf is how many rows a block has.
func (k *keyRows) rowsOf(i int) int { return min(blockRows, k.n-i*blockRows) }

// packed returns the bytes of a block, and what bitReader needs behind them.
func (k *keyRows) packed(i int) []byte {
	lo, hi := k.place(i)
	return k.Bytes(rows, lo, hi+wordSize)
}

// place is where a block is.
func (k *keyRows) place(i int) (lo, hi int) {
	lo, hi = k.from, k.to
	if i > 0 {
		lo += int(k.entry(i-1) & (1<<dirPlace - 1))
	}
	if i < k.blocks-1 {
		hi = k.from + int(k.entry(i)&(1<<dirPlace-1))
	}
	if lo >= hi || hi > k.to {
		panic(k.Damaged("rows: block %d is from %d to %d of %d", i, lo, hi, k.to))
	}
	return lo, hi
}

// block unpacks a block, unless it is the one that was unpacked last.
func (k *keyRows) block(i int) *block {
	if k.which != i {
		k.which = -1
		k.unpacked.unpack(k.segment, k.packed(i), k.rowsOf(i))
		k.which = i
	}
	return k.unpacked
}

// row returns the block of a row, and its place there.
func (k *keyRows) row(i int) (*block, int) { return k.block(i / blockRows), i % blockRows }

func (k *keyRows) ts(i int) int64 {
	b, at := k.row(i)
	return b.ts[at]
}

// fill returns a row of the key as a fill.
func (k *keyRows) fill(of *kind, key int32, i int) (f serving.Fill) {
	b, at := k.row(i)
	b.get(at, &f)
	of.setIDs(&f, key, b.other[at])
	f.Tx = k.hash(b.tx[at])
	return f
}

// each calls add with every row, oldest first, without its transaction.
func (k *keyRows) each(of *kind, key int32, add func(f *serving.Fill)) {
	var f serving.Fill
	for i := range k.blocks {
		b := k.block(i)
		for at := range b.n {
			b.get(at, &f)
			of.setIDs(&f, key, b.other[at])
			add(&f)
		}
	}
}

// compare orders row i of k and row j of o, both of one key.
func (k *keyRows) compare(of *kind, key int32, i int, o *keyRows, j int) int {
	if x, y := k.ts(i), o.ts(j); x != y {
		if x < y {
			return -1
		}
		return 1
	}
	a, b := k.fill(of, key, i), o.fill(of, key, j)
	return of.order(&a, &b)
}

// below returns how many rows come before f.
func (k *keyRows) below(of *kind, key int32, f *serving.Fill) int {
	if k.n == 0 {
		return 0
	}
	at := f.TS/second - epoch
	second := func(i int) int64 { return int64(k.entry(i) >> dirPlace) }
	lo := sort.Search(k.blocks-1, func(i int) bool { return second(i) >= at }) // block lo is the last one that begins before
	hi := 1 + sort.Search(k.blocks-1, func(i int) bool { return second(i) > at })
	lo, hi = lo*blockRows, min(hi*blockRows, k.n)
	return lo + sort.Search(hi-lo, func(i int) bool {
		if ts := k.ts(lo + i); ts != f.TS {
			return ts > f.TS
		}
		g := k.fill(of, key, lo+i)
		return of.order(&g, f) >= 0
	})
}

// prefetch makes the system read the rows from lo to hi, which are about to be read in order, if they are many: for
// few, the system call costs more than it saves.
func (r segment) prefetch(lo, hi int) {
	const longSpan = 64 << 10
	if hi-lo >= longSpan {
		r.Prefetch(rows, lo, hi)
	}
}

// expectBlocks makes the system read the blocks of the rows from lo to hi.
func (k *keyRows) expectBlocks(lo, hi int) {
	first, last := lo/blockRows, (hi-1)/blockRows
	if first == last {
		return // it is about to be read
	}
	from, _ := k.place(first)
	_, to := k.place(last)
	k.Expect(rows, from, to)
}

// expectHashes makes the system read the hashes of the rows from lo to hi that nobody has read yet: they may be
// anywhere.
func (k *keyRows) expectHashes(lo, hi int, spare *block) {
	before := uint32(noTx)
	for lo < hi {
		i := lo / blockRows
		b, to := spare, min(hi, (i+1)*blockRows)
		if to == hi {
			b = k.block(i) // the newest rows, which are read first
		} else {
			in := bitReader{segment: k.segment, b: k.packed(i)}
			b.unpackPlaces(&in, k.rowsOf(i))
		}
		for ; lo < to; lo++ {
			tx := b.tx[lo%blockRows]
			page := tx / pageHashes
			if tx == noTx || page == before {
				continue
			}
			before = page
			at := int(tx) * hashSize
			k.Expect(txs, at, at+hashSize)
		}
	}
}
