// Package runfile is what the files of derived data have in common: a header that
// says which imports they hold and carries a checksum, sections of entries of one
// size, the writing of such a file front to back, and its mapping into memory.
package runfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// PageSize is what the header takes, and what sections begin at a multiple of.
const PageSize = 4096

// Format is a kind of file: what its files begin with, and how they are laid out.
type Format struct {
	Magic   string
	Version uint64
	Entries []uint64 // bytes of an entry, by section in the order of the file
}

// Covers says which facts a file holds.
type Covers struct {
	Batch  int64  // the last import in it; −1: none
	Ledger uint64 // a fingerprint of the imports up to it, so that another history is told apart
	Facts  int64  // how many there are up to it
}

// Header is what a file begins with. Numbers are little-endian.
type Header struct {
	Covers Covers
	Counts []uint64 // entries, by section
	format *Format
}

// Same tells whether two files hold the same, by their headers.
func (h *Header) Same(o *Header) bool {
	return h.format == o.format && h.Covers == o.Covers && slices.Equal(h.Counts, o.Counts)
}

// ErrFormat is returned for a file that is no run, is damaged, or was written by
// another version: it is made anew.
var ErrFormat = errors.New("not a run of this version")

// Span is where a section lies, in bytes from the beginning of the file.
func (h *Header) Span(section int) (from, to uint64) {
	from = PageSize
	for s := range section {
		from += padded(h.Counts[s] * h.format.Entries[s])
	}
	return from, from + h.Counts[section]*h.format.Entries[section]
}

func padded(n uint64) uint64 { return (n + PageSize - 1) / PageSize * PageSize }

// Size is that of the whole file in bytes.
func (h *Header) Size() uint64 {
	_, to := h.Span(len(h.Counts) - 1)
	return to
}

func (h *Header) encode() []byte {
	b := append(make([]byte, 0, PageSize), h.format.Magic...)
	b = binary.LittleEndian.AppendUint64(b, h.format.Version)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Covers.Batch))
	b = binary.LittleEndian.AppendUint64(b, h.Covers.Ledger)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Covers.Facts))
	for _, n := range h.Counts {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	return b[:PageSize]
}

func (f *Format) decode(b []byte) (Header, error) {
	h := Header{format: f}
	sum := len(f.Magic) + 8*(4+len(f.Entries))
	if len(b) < PageSize || string(b[:len(f.Magic)]) != f.Magic {
		return h, ErrFormat
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[len(f.Magic)+8*i:]) }
	if v := field(0); v != f.Version {
		return h, fmt.Errorf("version %d: %w", v, ErrFormat)
	}
	if binary.LittleEndian.Uint64(b[sum:]) != xxhash.Sum64(b[:sum]) {
		return h, fmt.Errorf("header checksum: %w", ErrFormat)
	}
	h.Covers = Covers{Batch: int64(field(1)), Ledger: field(2), Facts: int64(field(3))}
	for s := range f.Entries {
		h.Counts = append(h.Counts, field(4+s))
	}
	return h, nil
}
