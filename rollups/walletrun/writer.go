package walletrun

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"pmx/rollups/serving"
)

// heavyFills is from how many fills on a wallet's sums are kept beside its rows:
// adding them up for every request would take too long.
const heavyFills = 20_000

// writer writes a run front to back: first the bytes of txs and wide, then the
// rows of one wallet after the other.
type writer struct {
	file   *os.File
	out    *bufio.Writer
	at     uint64
	h      header
	heavy  []byte
	index  []byte
	tokens spill
	days   spill
	sums   *sums // of the wallet being written, nil where it is not heavy
	from   int   // heavyFills; lower in tests
}

// sums add the rows of one wallet up.
type sums struct {
	tokens map[int32]*serving.TokenSum
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

// newWriter begins a run at path that keeps the sums of wallets of from fills or
// more.
func newWriter(path string, from int) (*writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &writer{file: f, out: bufio.NewWriterSize(f, 1<<20), from: from,
		tokens: spill{path: path + ".tokens"}, days: spill{path: path + ".days"}}
	return w, w.write(make([]byte, headerSize))
}

func (w *writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += uint64(n)
	return err
}

// add writes entries of a section; the sections come in their order.
func (w *writer) add(section int, b []byte) error {
	w.h.counts[section] += uint64(len(b)) / entrySize[section]
	return w.write(b)
}

// pad ends a section.
func (w *writer) pad() error { return w.write(make([]byte, padded(w.at)-w.at)) }

// wallet begins the rows of a wallet, of which there will be n; wallets come in
// ascending order.
func (w *writer) wallet(id int32, n uint64) error {
	if err := w.endWallet(); err != nil {
		return err
	}
	for len(w.index) <= int(id)*indexSize {
		w.index = binary.LittleEndian.AppendUint64(w.index, w.h.counts[rows])
	}
	if n >= uint64(w.from) {
		w.heavy = binary.LittleEndian.AppendUint64(w.heavy, uint64(id))
		w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.tokens.entries(tokenSize))
		w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.days.entries(daySize))
		w.sums = &sums{tokens: map[int32]*serving.TokenSum{}}
	}
	return nil
}

// fill adds one row of the wallet; wide is its wide part.
func (w *writer) fill(r *row, wide []byte) error {
	if w.sums != nil {
		f := r.unpack(wide)
		w.sums.add(&f)
	}
	var text [rowSize]byte
	return w.add(rows, r.append(text[:0]))
}

// endWallet writes the sums of a heavy wallet.
func (w *writer) endWallet() error {
	s := w.sums
	if s == nil {
		return nil
	}
	w.sums = nil
	ids := make([]int32, 0, len(s.tokens))
	for id := range s.tokens {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b []byte
	for _, id := range ids {
		b = appendToken(b[:0], s.tokens[id])
		if err := w.tokens.write(b); err != nil {
			return err
		}
	}
	for i := range s.days {
		b = appendDay(b[:0], &s.days[i])
		if err := w.days.write(b); err != nil {
			return err
		}
	}
	return nil
}

// finish writes what is left and the header, makes the file durable with sync and
// closes it.
func (w *writer) finish(c Covers, sync func(*os.File) error) error {
	err := w.endWallet()
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, 1<<64-1)
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.tokens.entries(tokenSize))
	w.heavy = binary.LittleEndian.AppendUint64(w.heavy, w.days.entries(daySize))
	w.index = binary.LittleEndian.AppendUint64(w.index, w.h.counts[rows])
	c.Fills = int64(w.h.counts[rows])
	w.h.covers = c
	w.h.counts[tokens], w.h.counts[days] = w.tokens.entries(tokenSize), w.days.entries(daySize)
	for _, step := range []func() error{
		w.pad, func() error { return w.unspill(&w.tokens) }, w.pad, func() error { return w.unspill(&w.days) }, w.pad,
		func() error { return w.add(heavy, w.heavy) }, w.pad, func() error { return w.add(index, w.index) },
		w.out.Flush,
	} {
		if err == nil {
			err = step()
		}
	}
	if err == nil && w.at != w.h.size() {
		err = fmt.Errorf("wallet run: %d bytes written, want %d", w.at, w.h.size())
	}
	if err == nil {
		_, err = w.file.WriteAt(w.h.encode(), 0) // last: a file without it is no run
	}
	if err == nil {
		err = sync(w.file)
	}
	return errors.Join(err, w.close())
}

// close gives back what the writer holds; the file stays as it is.
func (w *writer) close() error {
	err := errors.Join(w.tokens.close(), w.days.close())
	if w.file == nil {
		return err
	}
	f := w.file
	w.file = nil
	return errors.Join(err, f.Close())
}

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
	n, err := io.Copy(w.out, s.file)
	w.at += uint64(n)
	return err
}

// spill is a section that is written while another one is under way: a file made
// at its first use and gone when it is closed.
type spill struct {
	path string
	file *os.File
	out  *bufio.Writer
	size uint64
}

func (s *spill) entries(size uint64) uint64 { return s.size / size }

func (s *spill) write(b []byte) error {
	if s.file == nil {
		f, err := os.Create(s.path)
		if err != nil {
			return err
		}
		s.file, s.out = f, bufio.NewWriterSize(f, 1<<16)
	}
	s.size += uint64(len(b))
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
