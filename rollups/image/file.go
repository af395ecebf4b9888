package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"sync/atomic"

	"pmx/engine/guard"
)

// A file has a head with the key, the blocks of each part, and a tail that says where the parts are. Each of these has a checksum, which is
// checked before anything of it is used. Numbers are little-endian.
const (
	magic     = "pmx image 1\n"
	blockSize = 256 << 10
	blockHead = 8       // bytes: the size of a block and its checksum
	tailPart  = 16      // bytes: where a part begins and how many bytes its values take
	tailEnd   = 8       // bytes: the number of parts and a checksum
	mostKey   = 1 << 16 // bytes
)

var table = crc32.MakeTable(crc32.Castagnoli)

// ErrOther is the error of Read for a file with another key.
var ErrOther = errors.New("the image was written for something else")

// blockSum is the checksum of a block: a block in the wrong place has another one.
func blockSum(part, nth int, b []byte) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], uint64(part))
	binary.LittleEndian.PutUint64(place[8:], uint64(nth))
	return crc32.Update(crc32.Checksum(place[:], table), table, b)
}

// writer counts what it writes.
type writer struct {
	w  io.Writer
	at int64
}

func (w *writer) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	w.at += int64(n)
	return n, err
}

// blocks writes each Write as a block of a part.
type blocks struct {
	w           *writer
	part, count int
	size        int64
}

func (w *blocks) Write(b []byte) (int, error) {
	var head [blockHead]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(b)))
	binary.LittleEndian.PutUint32(head[4:], blockSum(w.part, w.count, b))
	if _, err := w.w.Write(head[:]); err != nil {
		return 0, err
	}
	w.count++
	w.size += int64(len(b))
	return w.w.Write(b)
}

// plansOf makes the plans of the values that parts point to.
func plansOf(parts [][]any, named []Named) (plans [][]*plan, places int, err error) {
	p := newPlanner(named)
	for _, roots := range parts {
		var of []*plan
		for _, root := range roots {
			t := reflect.TypeOf(root).Elem()
			made, err := p.of(t, t.String())
			if err != nil {
				return nil, 0, err
			}
			of = append(of, made)
		}
		plans = append(plans, of)
	}
	return plans, p.places, nil
}

// Write writes values. Each part is a list of pointers to some; what parts share is written for each of them.
func Write(to io.Writer, key []byte, parts [][]any, named ...Named) error {
	plans, places, err := plansOf(parts, named)
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(key)))
	head = append(head, key...)
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, table))
	w := &writer{w: to}
	if _, err := w.Write(head); err != nil {
		return err
	}
	var tail []byte
	for i, roots := range parts {
		tail = binary.LittleEndian.AppendUint64(tail, uint64(w.at))
		b := &blocks{w: w, part: i}
		if err := writePart(b, roots, plans[i], places); err != nil {
			return err
		}
		tail = binary.LittleEndian.AppendUint64(tail, uint64(b.size))
	}
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(parts)))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(tail, table))
	_, err = w.Write(tail)
	return err
}

// caught makes an error of a panic with failure.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.err
	default:
		panic(p)
	}
}

func writePart(w io.Writer, roots []any, plans []*plan, places int) (err error) {
	defer caught(&err)
	e := newEncoder(w, places)
	for i, root := range roots {
		plans[i].write(e, reflect.ValueOf(root).UnsafePointer())
	}
	e.flush()
	return nil
}

// lanes is how many parts are read at the same time.
const lanes = 2

// Read reads what Write wrote of the same parts with the same key. The values that parts point to must be zero, and are useless after an error,
// except those of parts that whole was called with. Goroutines of its own read parts, several at a time, and begin them in their order. whole is
// called in one of these once a part was read to its end and is not damaged, while others are still read; its error ends Read. It may be nil.
func Read(from io.ReaderAt, size int64, key []byte, parts [][]any, whole func(part int) error, named ...Named) error {
	plans, places, err := plansOf(parts, named)
	if err != nil {
		return err
	}
	if err := checkHead(from, size, key); err != nil {
		return err
	}
	begins, sizes, err := readTail(from, size, len(parts))
	if err != nil {
		return err
	}
	var begun atomic.Int64 // parts; after an error, all count
	lane := func() error {
		for i := int(begun.Add(1)) - 1; i < len(parts); i = int(begun.Add(1)) - 1 {
			err := readPart(&source{from: from, part: i, at: begins[i], left: sizes[i]}, parts[i], plans[i], places)
			if err == nil && whole != nil {
				err = whole(i)
			}
			if err != nil {
				begun.Store(int64(len(parts)))
				return err
			}
		}
		return nil
	}
	var ends []<-chan error
	for range lanes {
		ends = append(ends, guard.Start(lane))
	}
	for _, end := range ends {
		err = errors.Join(err, <-end) // nothing calls whole after Read
	}
	return guard.Repanic(err)
}

func checkHead(from io.ReaderAt, size int64, key []byte) error {
	head := make([]byte, min(size, int64(len(magic)+4+mostKey+4)))
	if _, err := from.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	rest, ok := bytes.CutPrefix(head, []byte(magic))
	if !ok || len(rest) < 8 {
		return fmt.Errorf("%w: it is not an image", ErrDamaged)
	}
	n := int64(binary.LittleEndian.Uint32(rest))
	if n > int64(len(rest)-8) {
		return fmt.Errorf("%w: its key is too long", ErrDamaged)
	}
	end := len(magic) + 4 + int(n)
	if crc32.Checksum(head[:end], table) != binary.LittleEndian.Uint32(head[end:]) {
		return fmt.Errorf("%w: the checksum of its head is wrong", ErrDamaged)
	}
	if !bytes.Equal(head[len(magic)+4:end], key) {
		return ErrOther
	}
	return nil
}

func readTail(from io.ReaderAt, size int64, parts int) (begins, sizes []int64, err error) {
	tail := make([]byte, parts*tailPart+tailEnd)
	if size < int64(len(tail)) {
		return nil, nil, fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	if _, err := from.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	sum := len(tail) - 4
	if crc32.Checksum(tail[:sum], table) != binary.LittleEndian.Uint32(tail[sum:]) || binary.LittleEndian.Uint32(tail[sum-4:]) != uint32(parts) {
		return nil, nil, fmt.Errorf("%w: the checksum of its tail is wrong", ErrDamaged)
	}
	for i := range parts {
		at := tail[i*tailPart:]
		begin, n := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
		if begin > uint64(size) || n > uint64(size)-begin {
			return nil, nil, fmt.Errorf("%w: a part does not fit in", ErrDamaged)
		}
		begins, sizes = append(begins, int64(begin)), append(sizes, int64(n))
	}
	return begins, sizes, nil
}

// source reads the blocks of a part one after another.
type source struct {
	from     io.ReaderAt
	part     int
	nth      int
	at, left int64
	buf      []byte
}

// next returns the next block, once its checksum was found to be right.
func (s *source) next() ([]byte, error) {
	if s.left <= 0 {
		return nil, io.EOF
	}
	if s.buf == nil {
		s.buf = make([]byte, blockHead+blockSize)
	}
	want := int(min(s.left, blockSize))
	b := s.buf[:blockHead+want]
	if _, err := s.from.ReadAt(b, s.at); err != nil {
		return nil, err
	}
	data := b[blockHead:]
	if binary.LittleEndian.Uint32(b) != uint32(want) || binary.LittleEndian.Uint32(b[4:]) != blockSum(s.part, s.nth, data) {
		return nil, fmt.Errorf("%w: the checksum of block %d of part %d is wrong", ErrDamaged, s.nth, s.part)
	}
	s.nth++
	s.at, s.left = s.at+int64(len(b)), s.left-int64(want)
	return data, nil
}

func readPart(s *source, roots []any, plans []*plan, places int) (err error) {
	defer caught(&err)
	d := newDecoder(s.next, s.left, places)
	for i, root := range roots {
		plans[i].read(d, reflect.ValueOf(root).UnsafePointer())
	}
	if d.left+int64(len(d.buf)) > 0 {
		d.fail("there is more than the values of the part")
	}
	return nil
}
