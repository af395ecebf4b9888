package runfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Writer writes a file front to back, section by section. The header comes last: a
// file without it is no run.
type Writer struct {
	Header
	file *os.File
	out  *bufio.Writer
	at   uint64
}

// Create begins a file at path.
func Create(path string, format *Format) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f, out: bufio.NewWriterSize(f, 1<<20), Header: Header{format: format, Counts: make([]uint64, len(format.Entries))}}
	return w, w.write(make([]byte, PageSize))
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += uint64(n)
	return err
}

// Add writes entries of a section; the sections come in their order.
func (w *Writer) Add(section int, b []byte) error {
	w.Counts[section] += uint64(len(b)) / w.format.Entries[section]
	return w.write(b)
}

// Copy writes entries of a section that were gathered elsewhere and are counted
// already.
func (w *Writer) Copy(r io.Reader) error {
	n, err := io.Copy(w.out, r)
	w.at += uint64(n)
	return err
}

// Pad ends a section.
func (w *Writer) Pad() error { return w.write(make([]byte, padded(w.at)-w.at)) }

// Finish writes the header, makes the file durable with sync and closes it.
func (w *Writer) Finish(c Covers, sync func(*os.File) error) error {
	w.Covers = c
	err := w.out.Flush()
	if err == nil && w.at != w.Size() {
		err = fmt.Errorf("%d bytes written, want %d", w.at, w.Size())
	}
	if err == nil {
		_, err = w.file.WriteAt(w.encode(), 0)
	}
	if err == nil {
		err = sync(w.file)
	}
	return errors.Join(err, w.Close())
}

// Close gives the file back as it is; after Finish it does nothing.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	f := w.file
	w.file = nil
	return f.Close()
}
