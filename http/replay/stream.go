package replay

import (
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// stream is an answer that is written while it is made: compressed, where that was asked for.
type stream struct {
	w   io.Writer
	to  io.Writer // what zip writes to
	zip *gzip.Writer
	b   []byte // what is not written yet
}

// part is how much of an answer is written at once.
const part = 1 << 16

var zips = sync.Pool{New: func() any {
	z, err := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	return z
}}

func newStream(w http.ResponseWriter, r *http.Request) *stream {
	s := &stream{w: w, to: w, b: make([]byte, 0, part+1<<13)}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		s.zip = zips.Get().(*gzip.Writer)
		s.zip.Reset(w)
		s.w = s.zip
	}
	return s
}

// more writes what there is once it is worth it. The error is that the caller has gone.
func (s *stream) more() error {
	if len(s.b) < part {
		return nil
	}
	return s.flush()
}

func (s *stream) flush() error {
	_, err := s.w.Write(s.b)
	s.b = s.b[:0]
	return err
}

// member adds text that is packed already, as a member of a gzip file of its own; nil: none.
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
		zips.Put(s.zip)
	}
}
