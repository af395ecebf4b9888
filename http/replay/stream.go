package replay

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// stream is an answer that is written while it is made: compressed, where that was asked for.
type stream struct {
	w   io.Writer
	to  io.Writer // what zip writes to
	zip packer    // nil: it is not packed
	enc encoding
	b   []byte // what is not written yet
}

// writeSize is how much of an answer is written at once.
const writeSize = 1 << 16

// packer packs what is written to it. It may be used again once it is closed.
type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// encoding is how an answer is packed.
type encoding int

// The encodings, the best first: of what a caller accepts, the first is taken.
const (
	inZstd encoding = iota
	inGzip
	encodings
)

var encodingNames = [encodings]string{inZstd: "zstd", inGzip: "gzip"}

// newPacker returns a packer that is to be reset before it is used.
func newPacker(e encoding) packer {
	var p packer
	var err error
	if e == inZstd {
		// A window as large as what is written at once is enough.
		p, err = zstd.NewWriter(io.Discard, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(writeSize<<2))
	} else {
		p, err = gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	}
	if err != nil {
		panic(err) // all that is said is constant
	}
	return p
}

var packers = [encodings]sync.Pool{
	inZstd: {New: func() any { return newPacker(inZstd) }},
	inGzip: {New: func() any { return newPacker(inGzip) }},
}

func newStream(w http.ResponseWriter, r *http.Request) *stream {
	s := &stream{w: w, to: w, b: make([]byte, 0, writeSize+1<<13)}
	for e, name := range encodingNames {
		if strings.Contains(r.Header.Get("Accept-Encoding"), name) {
			w.Header().Set("Content-Encoding", name)
			s.enc, s.zip = encoding(e), packers[e].Get().(packer)
			s.zip.Reset(w)
			s.w = s.zip
			break
		}
	}
	return s
}

// more writes what there is once it is worth it. The error is that the caller has gone.
func (s *stream) more() error {
	if len(s.b) < writeSize {
		return nil
	}
	return s.flush()
}

func (s *stream) flush() error {
	_, err := s.w.Write(s.b)
	s.b = s.b[:0]
	return err
}

// member adds text that is packed already, as a member of a gzip file, or a frame of zstd, of its own; nil: none.
func (s *stream) member(packed []byte) error {
	if packed == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.zip.Close(); err != nil {
		return err
	}
	_, err := s.to.Write(packed)
	s.zip.Reset(s.to)
	return err
}

func (s *stream) close() {
	_ = s.flush() // a caller that has gone needs no more
	if s.zip != nil {
		_ = s.zip.Close()
		packers[s.enc].Put(s.zip)
	}
}
