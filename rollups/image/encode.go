package image

import (
	"encoding/binary"
	"io"
	"unsafe"
)

// sliceHeader is the memory of a slice of any type.
type sliceHeader struct {
	first    unsafe.Pointer
	len, cap int
}

// shared identifies memory that is written once.
type shared struct {
	first unsafe.Pointer
	len   int // of a slice or a string
}

// encoder writes values. Errors of the writer panic as failure.
type encoder struct {
	w     io.Writer
	buf   []byte
	known []map[shared]int // by place of the plan
	texts map[shared]int
}

// failure ends an encoder or decoder.
type failure struct{ err error }

// longText is from how many bytes on a string is written once.
const longText = 16

func newEncoder(w io.Writer, places int) *encoder {
	return &encoder{w: w, buf: make([]byte, 0, blockSize), known: make([]map[shared]int, places), texts: map[shared]int{}}
}

func (e *encoder) bytes(b []byte) {
	for {
		n := min(len(b), cap(e.buf)-len(e.buf))
		e.buf = append(e.buf, b[:n]...)
		if b = b[n:]; len(b) == 0 {
			return
		}
		e.flush()
	}
}

func (e *encoder) flush() {
	if _, err := e.w.Write(e.buf); err != nil {
		panic(failure{err})
	}
	e.buf = e.buf[:0]
}

func (e *encoder) count(n int) {
	if cap(e.buf)-len(e.buf) < binary.MaxVarintLen64 {
		var b [binary.MaxVarintLen64]byte
		e.bytes(b[:binary.PutUvarint(b[:], uint64(n))])
		return
	}
	e.buf = binary.AppendUvarint(e.buf, uint64(n))
}

// ref writes a reference to what is known under a key; false if it is new and has to be written now.
func ref(e *encoder, known map[shared]int, key shared) bool {
	if n, ok := known[key]; ok {
		e.count(n + 2)
		return true
	}
	known[key] = len(known)
	e.count(1)
	return false
}

func (e *encoder) knownAt(place int) map[shared]int {
	if e.known[place] == nil {
		e.known[place] = map[shared]int{}
	}
	return e.known[place]
}

func (e *encoder) text(p unsafe.Pointer) {
	s := *(*string)(p)
	if len(s) < longText {
		e.count(len(s) << 1)
		e.bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
		return
	}
	e.count(len(s)<<1 | 1)
	if !ref(e, e.texts, shared{unsafe.Pointer(unsafe.StringData(s)), len(s)}) {
		e.bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
	}
}

func (e *encoder) pointer(place int, of *plan, to unsafe.Pointer) {
	if to == nil {
		e.count(0)
	} else if !ref(e, e.knownAt(place), shared{first: to}) {
		of.write(e, to)
	}
}

func (e *encoder) slice(place int, of *plan, s *sliceHeader) {
	switch {
	case s.first == nil:
		e.count(0)
		return
	case s.len == 0: // all empty slices may share memory
		e.count(1)
	case ref(e, e.knownAt(place), shared{s.first, s.len}):
		return
	}
	e.count(s.len)
	e.count(min(s.cap-s.len, s.len/8)) // room for what is appended next
	if of.flat {
		e.bytes(unsafe.Slice((*byte)(s.first), s.len*of.size))
		return
	}
	for i := range s.len {
		of.write(e, unsafe.Add(s.first, i*of.size))
	}
}
