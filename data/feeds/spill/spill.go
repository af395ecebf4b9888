// Package spill sorts entries that may not fit into memory. Up to a limit they are kept in memory;
// beyond it, sorted chunks are written to a temporary file and merged when they are read.
package spill

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Budget is the default number of bytes that a Sorter keeps in memory.
const Budget = 64 << 20

// Sorter returns entries in order of their keys, and those with equal keys in the order in which
// they were added. It must be used by one goroutine.
type Sorter struct {
	dir    string
	budget int

	list  []entry
	block []byte // offset of the next entry
	bytes int    // of the entries in memory

	file   *os.File
	size   int64
	chunks []chunk // parts of the file, each sorted, in the order they were written
	err    error   // error of a write: the file is incomplete
}

// entry is a key followed by a value.
type entry struct {
	text []byte
	key  int // length of the key
}

// chunk is a sorted part of the file.
type chunk struct{ from, to int64 }

// overhead is about how much memory an entry takes besides its bytes.
const overhead = 48

// New returns a Sorter. If it needs a file, it creates it in dir; "" means the system's temporary
// directory. budget is how many bytes it keeps in memory; 0 means Budget.
func New(dir string, budget int) *Sorter {
	return &Sorter{dir: dir, budget: cmp.Or(budget, Budget)}
}

// Add adds a copy of an entry.
func (s *Sorter) Add(key, value []byte) error {
	if s.err != nil {
		return s.err
	}
	n := len(key) + len(value)
	if cap(s.block)-len(s.block) < n {
		s.block = make([]byte, 0, max(n, min(1<<20, max(4<<10, 2*cap(s.block)))))
	}
	at := len(s.block)
	s.block = append(append(s.block, key...), value...)
	s.list = append(s.list, entry{s.block[at:len(s.block):len(s.block)], len(key)})
	if s.bytes += n + overhead; s.bytes > s.budget {
		return s.write()
	}
	return nil
}

// Close removes the file.
func (s *Sorter) Close() error {
	s.list, s.block = nil, nil
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// sort sorts the entries in memory.
func (s *Sorter) sort() {
	slices.SortStableFunc(s.list, func(a, b entry) int { return bytes.Compare(a.text[:a.key], b.text[:b.key]) })
}

// write writes the entries in memory to the file as one chunk.
func (s *Sorter) write() error {
	if len(s.list) == 0 {
		return nil
	}
	if s.err = s.writeChunk(); s.err != nil {
		s.err = fmt.Errorf("write data that does not fit into memory: %w", s.err)
		return s.err
	}
	s.list, s.block, s.bytes = s.list[:0], nil, 0
	return nil
}

func (s *Sorter) writeChunk() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "spill-*"); err != nil {
			return err
		}
	}
	s.sort()
	w, from := bufio.NewWriterSize(s.file, 256<<10), s.size
	var head [2 * binary.MaxVarintLen64]byte
	for i, e := range s.list {
		h := binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(e.key)), uint64(len(e.text)-e.key))
		if _, err := w.Write(h); err != nil {
			return err
		}
		if _, err := w.Write(e.text); err != nil {
			return err
		}
		s.size += int64(len(h) + len(e.text))
		s.list[i] = entry{} // allow its block to be freed
	}
	s.chunks = append(s.chunks, chunk{from, s.size})
	return w.Flush()
}
