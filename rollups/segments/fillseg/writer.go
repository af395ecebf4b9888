package fillseg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pmx/rollups/segments"
)

// heavyFills is the number of fills from which a wallet's sums are stored in addition to its rows:
// summing the rows for every request would take too long.
const heavyFills = 20_000

// laterHeavyFills is heavyFills for files that continue others: a wallet may have almost so many in each.
const laterHeavyFills = 5_000

// writer writes a segment front to back: first the bytes of txs, then the
// rows of one key after the other, which rangeWriters gather.
type writer struct {
	*segments.Writer
	kind      *kind
	later     bool // it continues another file
	heavy     []byte
	places    []uint64 // where the rows begin of each key, or in a later file of each in ids
	ids       []int32  // of a later file: its keys, ascending
	whole     []int32  // of a later file: keys of which files before do not count, ascending
	tokens    spill
	days      spill
	heavyFrom int    // heavyFills; lower in tests
	rows      spill  // of a file of the newest fills, whose hashes become known only with its rows
	slice     bool   // the file will only be merged: it is not packed as tightly as it could be
	at        uint64 // where the next rows begin
}

// newWriter begins a segment at path that keeps the sums of wallets of from fills or
// more, to be the first one or a later one.
func newWriter(path string, k *kind, later bool, from int) (*writer, error) {
	f, err := segments.Create(path, k.formatOf(!later))
	if err != nil {
		return nil, err
	}
	return &writer{Writer: f, kind: k, later: later, heavyFrom: from, tokens: spill{path: path + ".tokens"}, days: spill{path: path + ".days"},
		rows: spill{path: path + ".rows"}}, nil
}

// addHeavy says where the sums of a key begin.
func (w *writer) addHeavy(key, tokens, days uint64) {
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, key)
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, tokens)
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, days)
}

// add adds what was gathered of a range; ranges come in order of key.
func (w *writer) add(r *rangeWriter) error {
	for _, k := range r.keys {
		at := w.at + k.at
		if w.later {
			w.ids, w.places = append(w.ids, k.key), append(w.places, at)
		}
		for !w.later && len(w.places) <= int(k.key) {
			w.places = append(w.places, at)
		}
	}
	for _, h := range r.heavy {
		w.addHeavy(h.wallet, w.tokens.size+h.tokens, w.days.size+h.days)
	}
	if err := errors.Join(w.tokens.write(r.tokens), w.days.write(r.days), w.addRows(r)); err != nil {
		return err
	}
	r.empty()
	return nil
}

// addRows adds the rows of a range and the hashes that come with them.
func (w *writer) addRows(r *rangeWriter) error {
	w.at += uint64(len(r.rows))
	w.Rows += r.rowCount
	if w.kind.most == 0 {
		return w.Add(rows, r.rows)
	}
	before := w.Counts[txs]
	if before+uint64(len(r.txs)/hashSize) >= noTx {
		return errTooManyTransactions
	}
	for _, at := range r.moved {
		addTxBase(r.rows[at:], uint32(before))
	}
	return errors.Join(w.Add(txs, r.txs), w.rows.write(r.rows))
}

// finish writes what is left after the last key and the header, makes the file durable with sync and
// closes it.
func (w *writer) finish(c segments.Coverage, sync func(*os.File) error) (err error) {
	w.addHeavy(1<<64-1, w.tokens.size, w.days.size)
	w.Counts[tokens], w.Counts[days] = w.tokens.size, w.days.size
	w.Counts[rows] += w.rows.size
	steps := []func() error{
		func() error { return w.Add(rows, make([]byte, wordSize)) }, w.Pad, func() error { return w.unspill(&w.tokens) }, w.Pad, func() error { return w.unspill(&w.days) }, w.Pad,
		func() error { return w.Add(heavy, w.heavy) }, w.Pad, w.writeIndex,
	}
	if w.kind.most > 0 {
		steps = append([]func() error{w.Pad, func() error { return w.unspill(&w.rows) }}, steps...)
	}
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = w.Finish(c, sync)
	}
	return errors.Join(err, w.close())
}

// writeIndex writes where the rows of each key begin, and in a later file of which keys.
func (w *writer) writeIndex() error {
	if err := addNumbers(w, index, append(w.places, w.at), binary.LittleEndian.AppendUint64); err != nil || !w.later {
		return err
	}
	id := func(b []byte, key int32) []byte { return binary.LittleEndian.AppendUint32(b, uint32(key)) }
	return errors.Join(w.Pad(), addNumbers(w, ids, w.ids, id), w.Pad(), addNumbers(w, whole, w.whole, id))
}

// addNumbers writes the entries of an extent, some at a time.
func addNumbers[T any](w *writer, extent int, list []T, appendTo func([]byte, T) []byte) error {
	var b []byte
	for some := range slices.Chunk(list, 1<<16) {
		b = b[:0]
		for _, v := range some {
			b = appendTo(b, v)
		}
		if err := w.Add(extent, b); err != nil {
			return err
		}
	}
	return nil
}

// close releases the writer's resources; the file stays as it is.
func (w *writer) close() error {
	return errors.Join(w.tokens.close(), w.days.close(), w.rows.close(), w.Close())
}

// spilled is how many bytes were written to other files first.
func (w *writer) spilled() uint64 { return w.tokens.size + w.days.size + w.rows.size }

func (w *writer) unspill(s *spill) error {
	if s.file == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var back segments.Sum
	if err := w.Copy(io.TeeReader(s.file, &back)); err != nil {
		return err
	}
	if back != s.sum {
		return fmt.Errorf("%s: what was read is not what was written", s.path)
	}
	return nil
}

// spill is an extent that is written while another one is under way: a temporary file that is
// created at its first use and removed when it is closed.
type spill struct {
	path string
	file *os.File
	out  *bufio.Writer
	size uint64
	sum  segments.Sum
}

func (s *spill) write(b []byte) error {
	if s.file == nil {
		f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		s.file, s.out = f, bufio.NewWriterSize(f, 1<<16)
	}
	s.size += uint64(len(b))
	if _, err := s.sum.Write(b); err != nil {
		return err
	}
	_, err := s.out.Write(b)
	return err
}

func (s *spill) close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return errors.Join(f.Close(), os.Remove(s.path))
}
