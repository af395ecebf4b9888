package fillseg

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// heavyFills is the number of fills from which a wallet's sums are stored in addition to its rows:
// summing the rows for every request would take too long.
const heavyFills = 20_000

// laterHeavyFills is heavyFills for files that continue others: a wallet may have almost so many in each.
const laterHeavyFills = 5_000

// writer writes a segment front to back: first the bytes of txs, then the
// rows of one key after the other.
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
	sums      *sums // of the wallet being written, nil if it is not heavy
	heavyFrom int   // heavyFills; lower in tests
	// For a file of the newest fills, whose hashes become known only with its rows.
	rows   spill
	hashes []data.Hash // of the key being written
	text   []byte      // of its sums
	// Of the rows of the key being written.
	slice   bool     // the file will only be merged: it is not packed as tightly as it could be
	pending block    // those of the next block
	packed  []byte   // the block before
	dir     []uint64 // directory entries
	blocks  int
	last    int    // how many rows the last block has
	keyAt   uint64 // where they begin
	at      uint64 // where the next block begins
}

// sums add the rows of one wallet up.
type sums struct {
	tokens map[data.TokenID]*serving.TokenSum
	days   []serving.DaySum
}

func (s *sums) add(f *serving.Fill) {
	t := s.tokens[f.Token]
	if t == nil {
		t = &serving.TokenSum{}
		s.tokens[f.Token] = t
	}
	t.Add(f)
	if n := len(s.days) - 1; n < 0 || s.days[n].Day != serving.DayOf(f.TS) {
		s.days = append(s.days, serving.DaySum{})
	}
	s.days[len(s.days)-1].Add(f)
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

// beginKey begins the rows of a key, of which there will be n; keys come in ascending
// order.
func (w *writer) beginKey(key int32, n uint64) error {
	if err := w.endKey(); err != nil {
		return err
	}
	if w.later {
		w.ids, w.places = append(w.ids, key), append(w.places, w.at)
	}
	for !w.later && len(w.places) <= int(key) {
		w.places = append(w.places, w.at)
	}
	if n >= uint64(w.heavyFrom) {
		w.addHeavy(uint64(key))
		w.sums = &sums{tokens: map[data.TokenID]*serving.TokenSum{}}
	}
	return nil
}

// addHeavy says where the sums of a key begin.
func (w *writer) addHeavy(key uint64) {
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, key)
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.tokens.size)
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.days.size)
}

// addSums adds the sums of a key whose rows are about to be added.
func (w *writer) addSums(key int32, wallets, hours []byte) error {
	w.addHeavy(uint64(key))
	return errors.Join(w.tokens.write(wallets), w.days.write(hours))
}

// addSettled is addSums for sums that are not encoded yet.
func (w *writer) addSettled(key int32, b *tokenSums) error {
	b.settle()
	w.text = appendWallets(w.text[:0], b.wallets)
	at := len(w.text)
	w.text = appendHours(w.text, b.hours)
	return w.addSums(key, w.text[:at], w.text[at:])
}

// endKey ends the rows of a key, and writes the sums of a heavy wallet.
func (w *writer) endKey() error {
	if err := w.endRows(); err != nil || w.sums == nil {
		return err
	}
	s := w.sums
	w.sums = nil
	ids := make([]data.TokenID, 0, len(s.tokens))
	for id := range s.tokens {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	byToken := make([]serving.TokenSum, 0, len(ids))
	for _, id := range ids {
		byToken = append(byToken, *s.tokens[id])
	}
	w.text = appendTokens(w.text[:0], byToken)
	at := len(w.text)
	w.text = appendDays(w.text, s.days)
	return errors.Join(w.tokens.write(w.text[:at]), w.days.write(w.text[at:]))
}

// addNewest adds the rows of a key to a file of the newest fills, oldest first; keys come
// in ascending order.
func (w *writer) addNewest(key int32, fills []serving.Fill) error {
	if err := w.beginKey(key, 0); err != nil {
		return err
	}
	w.hashes = w.hashes[:0]
	for i := range fills {
		f := &fills[i]
		tx, err := w.ordinal(&f.Tx)
		if err != nil {
			return err
		}
		if err := w.fill(f, tx); err != nil {
			return err
		}
	}
	return nil
}

// ordinal returns the place of a hash, and writes the hash if the key does not have it yet.
func (w *writer) ordinal(h *data.Hash) (uint32, error) {
	if h.IsZero() {
		return noTx, nil
	}
	at := slices.Index(w.hashes, *h)
	if at < 0 {
		if w.Counts[txs] >= noTx {
			return 0, errTooManyTransactions
		}
		at = len(w.hashes)
		w.hashes = append(w.hashes, *h)
		if err := w.Add(txs, h[:]); err != nil {
			return 0, err
		}
	}
	return uint32(w.Counts[txs]) - uint32(len(w.hashes)-at), nil
}

// finish writes what is left after the last key and the header, makes the file durable with sync and
// closes it.
func (w *writer) finish(c segments.Coverage, sync func(*os.File) error) (err error) {
	w.addHeavy(1<<64 - 1)
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
