package segments

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
)

// Writer writes a file front to back, extent by extent, followed by the checksums of its pages.
// The header is written last: a file without it is not a segment.
type Writer struct {
	Header
	file *os.File
	sums *pageSums
	out  *bufio.Writer
	at   uint64
}

// pageSums takes the checksums of pages as they are written.
type pageSums struct {
	to   io.Writer
	room int    // bytes missing in the current page
	sum  uint32 // checksum of the current page
	sums []byte
}

// Write writes b.
func (p *pageSums) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(p.room, len(rest))
		p.sum = crc32.Update(p.sum, castagnoli, rest[:n])
		if p.room -= n; p.room == 0 {
			p.sums = binary.LittleEndian.AppendUint32(p.sums, p.sum)
			p.room, p.sum = PageSize, 0
		}
		rest = rest[n:]
	}
	return p.to.Write(b)
}

// Create begins a file at path.
func Create(path string, format *Format) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	sums := &pageSums{to: f, room: PageSize}
	w := &Writer{file: f, sums: sums, out: bufio.NewWriterSize(sums, 1<<20), at: PageSize,
		Header: Header{format: format, Counts: make([]uint64, len(format.Entries))}}
	_, err = f.Write(make([]byte, PageSize))
	return w, err
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += uint64(n)
	return err
}

// Add writes entries of an extent; the extents come in their order.
func (w *Writer) Add(extent int, b []byte) error {
	w.Counts[extent] += uint64(len(b)) / w.format.Entries[extent]
	return w.write(b)
}

// Copy writes entries of an extent that were gathered elsewhere and counted already.
func (w *Writer) Copy(r io.Reader) error {
	n, err := io.Copy(w.out, r)
	w.at += uint64(n)
	return err
}

// Pad ends an extent.
func (w *Writer) Pad() error { return w.write(make([]byte, padded(w.at)-w.at)) }

// Finish writes the checksums and the header, makes the file durable with sync and
// closes it.
func (w *Writer) Finish(c Coverage, sync func(*os.File) error) error {
	w.Coverage = c
	err := w.Pad()
	if err == nil {
		err = w.out.Flush()
	}
	if want := PageSize * (1 + w.pages()); err == nil && w.at != want {
		err = fmt.Errorf("%d bytes written, want %d", w.at, want)
	}
	w.Header.sums = xxhash.Sum64(w.sums.sums)
	if err == nil {
		_, err = w.file.Write(w.sums.sums)
	}
	if err == nil {
		_, err = w.file.WriteAt(w.encode(), 0)
	}
	if err == nil {
		err = sync(w.file)
	}
	return errors.Join(err, w.Close())
}

// Close closes the file as it is; after Finish it does nothing.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}

// Sum is the running checksum of data that is written to a spill file: it is compared when that is
// read back.
type Sum uint32

// Write adds b to the checksum.
func (s *Sum) Write(b []byte) (int, error) {
	*s = Sum(crc32.Update(uint32(*s), castagnoli, b))
	return len(b), nil
}
