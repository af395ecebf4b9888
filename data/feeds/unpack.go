package feeds

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"
)

// The first bytes of the supported compressed files.
var (
	gzipMagic = []byte{0x1F, 0x8B}
	zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}
)

// unpacked is a decompressor with its input.
type unpacked struct {
	io.Reader
	close []func() error
}

// Close closes both.
func (u *unpacked) Close() error {
	var err error
	for _, c := range u.close {
		err = errors.Join(err, c())
	}
	return err
}

// unpack decompresses a file; one that is not compressed is returned as it is.
func unpack(file *os.File) (io.ReadCloser, error) {
	magic := make([]byte, len(zstdMagic))
	n, err := io.ReadFull(file, magic)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	switch magic = magic[:n]; {
	case bytes.HasPrefix(magic, gzipMagic):
		z := &gunzip{from: bufio.NewReaderSize(file, 1<<16)}
		if err := z.begin(); err != nil {
			return nil, packedError("gzip", err)
		}
		return &unpacked{named{"gzip", z}, []func() error{file.Close}}, nil
	case bytes.Equal(magic, zstdMagic):
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return &unpacked{named{"zstd", z}, []func() error{func() error { z.Close(); return nil }, file.Close}}, nil
	}
	return file, nil
}

// errBehind is the error of a compressed file that is followed by other data.
var errBehind = errors.New("other data follows it")

// gunzip reads the members of a gzip file one after another. It distinguishes a truncated file from
// one with other data after its end, which the standard reader takes for another member.
type gunzip struct {
	from   *bufio.Reader
	member *gzip.Reader
}

// begin opens the first member.
func (g *gunzip) begin() (err error) {
	if g.member, err = gzip.NewReader(g.from); err == nil {
		g.member.Multistream(false)
	}
	return err
}

// Read returns the text of all members.
func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.member.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if n > 0 { // the next call reads what follows
			return n, nil
		}
		next, err := g.from.Peek(len(gzipMagic))
		switch {
		case len(next) == 0 && err != nil:
			return 0, err // io.EOF: that was the last member
		case !bytes.Equal(next, gzipMagic):
			return 0, errBehind
		}
		if err := g.member.Reset(g.from); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		g.member.Multistream(false)
	}
}

// named replaces the errors of a decompressor with a packError.
type named struct {
	format string
	r      io.Reader
}

// Read implements io.Reader.
func (u named) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	return n, packedError(u.format, err)
}

// packedError returns an error that explains what is wrong with a compressed file. Errors of the
// system are returned unchanged.
func packedError(format string, err error) error {
	var system *fs.PathError
	what := format + " data is damaged"
	switch {
	case err == nil || errors.Is(err, io.EOF) || errors.As(err, &system):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "file ends inside its " + format + " data: it was truncated, or has extra bytes at its end"
		if format == "gzip" {
			what = "file ends inside its gzip data: it was truncated"
		}
	case errors.Is(err, errBehind), errors.Is(err, zstd.ErrMagicMismatch):
		what = format + " data is complete, but other data follows it: the file is damaged, or two files were concatenated"
	}
	return &packError{"the " + what, err}
}

// packError describes what is wrong with a compressed file.
type packError struct {
	what  string
	cause error
}

// Error returns the description.
func (e *packError) Error() string { return e.what }

// Unwrap returns the error of the decompressor.
func (e *packError) Unwrap() error { return e.cause }
