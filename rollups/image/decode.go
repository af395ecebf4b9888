package image

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unsafe"
)

// ErrDamaged is the error of Read for a file that is not whole, or not what Write wrote.
var ErrDamaged = errors.New("the image is damaged")

// decoder reads values. It panics with failure at what no encoder writes. No count makes it allocate more than a multiple of
// the bytes that are left.
type decoder struct {
	next   func() ([]byte, error) // the next block, valid until the next call; io.EOF after the last
	buf    []byte
	left   int64 // bytes after buf
	known  [][]sliceHeader
	texts  []string
	memory []byte // for strings
}

// textMemory is how many bytes of strings are allocated together: as long as one of them is in use, all are.
const textMemory = 16 << 10

func newDecoder(next func() ([]byte, error), size int64, places int) *decoder {
	return &decoder{next: next, left: size, known: make([][]sliceHeader, places)}
}

func (d *decoder) fail(format string, args ...any) {
	panic(failure{fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)})
}

func (d *decoder) refill() {
	if d.left <= 0 {
		d.fail("it ends too early")
	}
	b, err := d.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: it ends too early", ErrDamaged)
		}
		panic(failure{err})
	}
	d.buf, d.left = b, d.left-int64(len(b))
}

func (d *decoder) bytes(dst []byte) {
	for {
		n := copy(dst, d.buf)
		d.buf = d.buf[n:]
		if dst = dst[n:]; len(dst) == 0 {
			return
		}
		d.refill()
	}
}

func (d *decoder) number() uint64 {
	if len(d.buf) > 0 && d.buf[0] < 0x80 {
		n := d.buf[0]
		d.buf = d.buf[1:]
		return uint64(n)
	}
	if n, size := binary.Uvarint(d.buf); size > 0 {
		d.buf = d.buf[size:]
		return n
	}
	var one [1]byte
	n := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		d.bytes(one[:])
		n |= uint64(one[0]&0x7f) << shift
		if one[0] < 0x80 {
			return n
		}
	}
	d.fail("a number is too long")
	return 0
}

// length reads a count of values that take so many bytes each, at least.
func (d *decoder) length(least int) int {
	n := d.number()
	if n > uint64(d.left+int64(len(d.buf)))/uint64(max(1, least)) {
		d.fail("%d values of %d bytes do not fit in", n, least)
	}
	return int(n)
}

func (d *decoder) text(p unsafe.Pointer) {
	head := d.number()
	size := head >> 1
	if head&1 != 0 {
		switch at := d.number(); {
		case at == 1:
		case at >= 2 && at-2 < uint64(len(d.texts)) && uint64(len(d.texts[at-2])) == size:
			*(*string)(p) = d.texts[at-2]
			return
		default:
			d.fail("a text refers to none")
		}
	}
	if size > uint64(d.left+int64(len(d.buf))) {
		d.fail("a text of %d bytes does not fit in", size)
	}
	s := d.string(int(size))
	if head&1 != 0 {
		d.texts = append(d.texts, s)
	}
	*(*string)(p) = s
}

func (d *decoder) string(n int) string {
	if n == 0 {
		return ""
	}
	var b []byte
	if n > textMemory/8 {
		b = make([]byte, n)
	} else {
		if len(d.memory) < n {
			d.memory = make([]byte, textMemory)
		}
		b, d.memory = d.memory[:n:n], d.memory[n:]
	}
	d.bytes(b)
	return unsafe.String(&b[0], n)
}

// newValue allocates a value.
func newValue(of *plan) unsafe.Pointer {
	if of.flat {
		return newSlice(of, 1)
	}
	return reflect.New(of.of).UnsafePointer()
}

// newSlice allocates n > 0 values one after another.
func newSlice(of *plan, n int) unsafe.Pointer {
	if of.flat && of.size > 0 {
		return unsafe.Pointer(unsafe.SliceData(make([]uint64, (n*of.size+7)/8))) // the collector need not look into it, and it is aligned
	}
	switch of.of.Kind() {
	case reflect.String:
		return unsafe.Pointer(unsafe.SliceData(make([]string, n)))
	case reflect.Pointer:
		return unsafe.Pointer(unsafe.SliceData(make([]unsafe.Pointer, n)))
	}
	return reflect.MakeSlice(reflect.SliceOf(of.of), n, n).UnsafePointer()
}

// seen returns what a number of a reference means; false if it is new.
func (d *decoder) seen(place int, n uint64) (sliceHeader, bool) {
	if n == 1 {
		return sliceHeader{}, false
	}
	if n-2 >= uint64(len(d.known[place])) {
		d.fail("a reference refers to nothing")
	}
	return d.known[place][n-2], true
}

func (d *decoder) pointer(place int, of *plan) unsafe.Pointer {
	n := d.number()
	if n == 0 {
		return nil
	}
	if s, ok := d.seen(place, n); ok {
		return s.first
	}
	to := newValue(of)
	d.known[place] = append(d.known[place], sliceHeader{first: to})
	of.read(d, to)
	return to
}

func (d *decoder) slice(place int, of *plan, s *sliceHeader) {
	n := d.number()
	if n == 0 {
		return
	}
	if known, ok := d.seen(place, n); ok {
		*s = known
		return
	}
	size := d.length(of.least)
	room := d.number()
	if room > uint64(size/8) {
		d.fail("room for %d values after %d", room, size)
	}
	if size == 0 {
		reflect.NewAt(reflect.SliceOf(of.of), unsafe.Pointer(s)).Elem().Set(reflect.MakeSlice(reflect.SliceOf(of.of), 0, 0))
		return
	}
	first := newSlice(of, size+int(room))
	s.first, s.len, s.cap = first, size, size+int(room)
	d.known[place] = append(d.known[place], *s)
	if of.flat {
		d.bytes(unsafe.Slice((*byte)(first), size*of.size))
		return
	}
	for i := range size {
		of.read(d, unsafe.Add(first, i*of.size))
	}
}
