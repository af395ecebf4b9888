package fillseg

import (
	"encoding/binary"
	"fmt"

	"pmx/data"
	"pmx/rollups/serving"
)

// fill adds one row of the key, whose transaction's hash is at a place.
func (w *rangeWriter) fill(f *serving.Fill, tx uint32) error {
	if w.sums != nil {
		w.sums.add(f)
	}
	w.pending.add(f, tx, w.to.kind.other(f))
	if w.pending.n < blockRows {
		return nil
	}
	return w.endBlock()
}

// endBlock packs the pending rows.
func (w *rangeWriter) endBlock() error {
	b := &w.pending
	if w.to.kind.most > 0 && b.hasTx() {
		w.moved = append(w.moved, len(w.rows))
	}
	before := len(w.rows)
	w.rows = b.pack(w.rows, !w.to.slice)
	err := w.endOfBlock(before, b.ts[0]/second-epoch, b.n)
	b.n = 0
	return err
}

// endOfBlock ends a block of n rows that begins at a second since epoch. The rows before it had so many bytes.
func (w *rangeWriter) endOfBlock(before int, at int64, n int) error {
	if w.blocks > 0 {
		if w.size >= 1<<dirPlace {
			return fmt.Errorf("%d bytes of one key: %w", w.size, ErrRange)
		}
		w.dir = append(w.dir, uint64(at)<<dirPlace|w.size)
	}
	w.blocks++
	w.last = n
	w.size += uint64(len(w.rows) - before)
	w.rowCount += uint64(n)
	if w.to.kind.most > 0 {
		return nil // the hashes of a key are added together
	}
	return w.flushFull()
}

// endRows adds what follows the blocks of a key, if it has any.
func (w *rangeWriter) endRows() error {
	if w.pending.n > 0 {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if w.blocks == 0 {
		return nil
	}
	last := byte(w.last - 1)
	if w.blocks > 1 {
		for _, entry := range w.dir {
			w.rows = binary.LittleEndian.AppendUint64(w.rows, entry)
		}
		w.rows = binary.LittleEndian.AppendUint32(w.rows, uint32(w.blocks))
		last |= severalBit
	}
	w.rows = append(w.rows, last)
	w.dir, w.blocks, w.size = w.dir[:0], 0, 0
	return nil
}

// copyBlock adds a block as it is in another file, whose hashes begin at a place of this one. There are no pending
// rows.
func (w *rangeWriter) copyBlock(k *keyRows, i int, txBase uint32) error {
	b, before := k.packed(i), len(w.rows)
	w.rows = append(w.rows, b[:len(b)-wordSize]...)
	addTxBase(w.rows[before:], txBase)
	at := int64(0)
	if i > 0 {
		at = int64(k.entry(i-1) >> dirPlace)
	} else if w.blocks > 0 {
		at = k.ts(0)/second - epoch
	}
	return w.endOfBlock(before, at, k.rowsOf(i))
}

// addTxBase moves the places of the hashes of a packed block.
func addTxBase(b []byte, txBase uint32) {
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)+txBase)
}

// moved is the place of a hash in a file that has so many before those of the one that it is from.
func moved(tx, txBase uint32) uint32 {
	if tx == noTx {
		return noTx
	}
	return tx + txBase
}

// sumBlock adds all rows of a block to the sums of a heavy wallet.
func (w *rangeWriter) sumBlock(b *block) {
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
