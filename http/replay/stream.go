package replay

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// stream is a response that is written while it is made, compressed if the request allows it.
type stream struct {
	w   io.Writer
	to  io.Writer // what zip writes to
	zip packer    // nil: not compressed
	enc encoding
	b   []byte // not written yet
}

// writeSize is how much of a response is written at once.
const writeSize = 1 << 16

// packer compresses what is written to it. It may be reused after it is closed.
type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// encoding is a content coding.
type encoding int

// The encodings, best first: the first one that a client accepts is used.
const (
	inZstd encoding = iota
	inGzip
	encodings
)

var encodingNames = [encodings]string{inZstd: "zstd", inGzip: "gzip"}

// newPacker returns a packer, which must be reset before it is used.
func newPacker(e encoding) packer {
	var p packer
	var err error
	if e == inZstd {
		// A window of the size of one write is enough.
		p, err = zstd.NewWriter(io.Discard, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(writeSize<<2))
	} else {
		p, err = gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	}
	if err != nil {
		panic(err) // all options are constants
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

// more writes the buffer if it is large enough. It returns an error if the caller has disconnected.
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

// member adds text that is already compressed, as a gzip member or zstd frame of its own; nil:
// none.
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
	_ = s.flush() // fails only if the caller has disconnected
	if s.zip != nil {
		_ = s.zip.Close()
		packers[s.enc].Put(s.zip)
	}
}
