package spill

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Cursor reads the entries of a Sorter in order.
type Cursor struct {
	list   []entry // if all of them are in memory
	chunks merge
	last   *reader // the chunk of the entry that was returned last
	buf    []byte
}

// Sorted returns a Cursor at the first entry. There may be several cursors. After the first call,
// Add must not be called.
func (s *Sorter) Sorted() (*Cursor, error) {
	if s.err != nil {
		return nil, s.err
	}
	if len(s.chunks) == 0 {
		if len(s.list) > 0 {
			s.sort()
		}
		return &Cursor{list: s.list}, nil
	}
	if err := s.write(); err != nil {
		return nil, err
	}
	c := &Cursor{}
	size := min(256<<10, max(4<<10, s.budget/len(s.chunks)))
	for i, r := range s.chunks {
		part := &reader{nth: i, r: bufio.NewReaderSize(io.NewSectionReader(s.file, r.from, r.to-r.from), size), left: r.to - r.from}
		if err := c.advance(part); err != nil {
			return nil, err
		}
	}
	heap.Init(&c.chunks)
	return c, nil
}

// Each calls f with every entry in order and stops at the first error. Key and value are valid
// until f returns. Afterwards, Add must not be called.
func (s *Sorter) Each(f func(key, value []byte) error) error {
	c, err := s.Sorted()
	if err != nil {
		return err
	}
	for {
		key, value, err := c.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = f(key, value)
		}
		if err != nil {
			return err
		}
	}
}

// Next returns the next entry, and io.EOF after the last. Key and value are valid until the next
// call.
func (c *Cursor) Next() (key, value []byte, err error) {
	if len(c.list) > 0 {
		e := c.list[0]
		c.list = c.list[1:]
		return e.text[:e.key], e.text[e.key:], nil
	}
	if c.last != nil {
		if err := c.last.head(); err == nil {
			heap.Fix(&c.chunks, 0)
		} else if errors.Is(err, io.EOF) {
			heap.Pop(&c.chunks)
		} else {
			return nil, nil, err
		}
		c.last = nil
	}
	if len(c.chunks) == 0 {
		return nil, nil, io.EOF
	}
	c.last = c.chunks[0]
	c.buf, err = c.last.take(c.buf[:0], c.last.value)
	return c.last.key, c.buf, err
}

// advance reads the next key of a chunk and adds the chunk to the heap.
func (c *Cursor) advance(r *reader) error {
	err := r.head()
	if err == nil {
		c.chunks = append(c.chunks, r)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// reader reads one chunk. Only the key of its next entry is in memory.
type reader struct {
	nth   int
	r     *bufio.Reader
	left  int64 // bytes of the chunk that were not read yet
	key   []byte
	value int64 // length of the value after the key
}

// ErrDamaged is the error of a file that does not have the contents that were written.
var ErrDamaged = errors.New("the temporary file for data that does not fit into memory is damaged")

// head reads up to the value of the next entry; io.EOF if there is none.
func (r *reader) head() error {
	if r.left == 0 {
		return io.EOF
	}
	key, err := r.length()
	if err == nil {
		r.value, err = r.length()
	}
	if err == nil && key > r.left-r.value {
		err = ErrDamaged
	}
	if err == nil {
		r.key, err = r.take(r.key[:0], key)
	}
	return noEOF(err)
}

// length reads a length and checks that the rest of the chunk is as long.
func (r *reader) length() (int64, error) {
	n, err := binary.ReadUvarint(r.r)
	if err != nil {
		return 0, err
	}
	r.left -= int64(len(binary.AppendUvarint(nil, n)))
	if r.left < 0 || n > uint64(r.left) {
		return 0, ErrDamaged
	}
	return int64(n), nil
}

// take appends the next n bytes to b.
func (r *reader) take(b []byte, n int64) ([]byte, error) {
	r.left -= n
	if int64(cap(b)) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	_, err := io.ReadFull(r.r, b)
	return b, noEOF(err)
}

// noEOF turns an unexpected end of file into ErrDamaged.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	return err
}

// merge is a heap of chunks. The first is the one with the smallest key; among equal keys, the one
// that was written first.
type merge []*reader

func (m merge) Len() int { return len(m) }
func (m merge) Less(a, b int) bool {
	return cmp.Or(bytes.Compare(m[a].key, m[b].key), cmp.Compare(m[a].nth, m[b].nth)) < 0
}
func (m merge) Swap(a, b int) { m[a], m[b] = m[b], m[a] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { *m = append(*m, x.(*reader)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
