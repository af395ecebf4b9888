package fillseg

import (
	"encoding/binary"
	"fmt"

	"pmx/data"
	"pmx/rollups/serving"
)

// fill adds one row of the key, whose transaction's hash is at a place.
func (w *writer) fill(f *serving.Fill, tx uint32) error {
	if w.sums != nil {
		w.sums.add(f)
	}
	w.pending.add(f, tx, w.kind.other(f))
	if w.pending.n < blockRows {
		return nil
	}
	return w.endBlock()
}

// endBlock packs the pending rows.
func (w *writer) endBlock() error {
	b := &w.pending
	w.packed = b.pack(w.packed[:0], !w.slice)
	err := w.block(w.packed, b.ts[0]/second-epoch, b.n)
	b.n = 0
	return err
}

// block writes a packed block of n rows that begins at a second since epoch.
func (w *writer) block(b []byte, at int64, n int) error {
	if w.blocks == 0 {
		w.keyAt = w.at
	} else {
		if w.at-w.keyAt >= 1<<dirPlace {
			return fmt.Errorf("%d bytes of one key: %w", w.at-w.keyAt, ErrRange)
		}
		w.dir = append(w.dir, uint64(at)<<dirPlace|(w.at-w.keyAt))
	}
	w.blocks++
	w.last = n
	w.Rows += uint64(n)
	return w.addRows(b)
}

// addRows writes bytes of rows.
func (w *writer) addRows(b []byte) error {
	w.at += uint64(len(b))
	if w.kind.most > 0 {
		return w.rows.write(b)
	}
	return w.Add(rows, b)
}

// endRows writes what follows the blocks of a key, if it has any.
func (w *writer) endRows() error {
	if w.pending.n > 0 {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.blocks == 0 {
		return nil
	}
	b, last := w.packed[:0], byte(w.last-1)
	if w.blocks > 1 {
		for _, entry := range w.dir {
			b = binary.LittleEndian.AppendUint64(b, entry)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(w.blocks))
		last |= severalBit
	}
	b = append(b, last)
	w.packed, w.dir, w.blocks = b, w.dir[:0], 0
	return w.addRows(b)
}

// copyBlock writes a block as it is in another file, whose hashes begin at a place of this one. There are no pending
// rows.
func (w *writer) copyBlock(k *keyRows, i int, txBase uint32) error {
	b := k.packed(i)
	w.packed = append(w.packed[:0], b[:len(b)-wordSize]...)
	binary.LittleEndian.PutUint32(w.packed, binary.LittleEndian.Uint32(w.packed)+txBase)
	at := int64(0)
	if i > 0 {
		at = int64(k.entry(i-1) >> dirPlace)
	} else if w.blocks > 0 {
		at = k.ts(0)/second - epoch
	}
	return w.block(w.packed, at, k.rowsOf(i))
}

// moved is the place of a hash in a file that has so many before those of the one that it is from.
func moved(tx, txBase uint32) uint32 {
	if tx == noTx {
		return noTx
	}
	return tx + txBase
}

// sumBlock adds all rows of a block to the sums of a heavy wallet.
func (w *writer) sumBlock(b *block) {
	if w.sums == nil {
		return
	}
	var f serving.Fill
	for at := range b.n {
		b.get(at, &f)
		f.Token = data.TokenID(b.other[at])
		w.sums.add(&f)
	}
}
