// Package segments has what files of derived data have in common: a header that says which imports
// they hold, extents with entries of one size, a checksum for every page, writing such a file
// front to back, and mapping it into memory.
package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// PageSize is the size of the header, the alignment of extents, and the size of what one checksum
// covers.
const PageSize = 4096

// sumSize is how many bytes the checksum of a page takes.
const sumSize = 4

// castagnoli has an instruction of its own on common processors: a page takes less time than the
// page fault that loads it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Format is a kind of file: how its files begin and are laid out.
type Format struct {
	Magic   string
	Version uint64
	Entries []uint64 // bytes of an entry, by extent in the order of the file
	Names   []string // of the extents, for messages
}

// Coverage says which facts, or markets, a file holds.
type Coverage struct {
	Batch         int64  // the last import in it; −1: none
	ImportLogHash uint64 // a fingerprint of the imports up to it, so that another history is recognised
	Facts         int64  // how many there are up to it
}

// Header is the header of a file. Numbers are little-endian. The last eight bytes of its page are
// the checksum of the others.
type Header struct {
	Coverage Coverage
	Counts   []uint64 // entries, by extent
	Follows  uint64   // the ID of the file that this one continues; 0: it is the first
	Rows     uint64   // how many rows are packed in the file; 0 if entries are rows
	ID       uint64   // the checksum of the header, of a file that was opened: no two files have the same
	sums     uint64   // the checksum of the checksums of pages, which follow the last extent
	format   *Format
}

// SameContent reports whether two files have the same content, by their headers.
func (h *Header) SameContent(o *Header) bool {
	return h.format == o.format && h.ID == o.ID && h.Coverage == o.Coverage && h.sums == o.sums && slices.Equal(h.Counts, o.Counts)
}

// ErrFormat is returned for a file that another version wrote, and for one that is damaged, whose
// error is also a *Damage. Either is rewritten.
var ErrFormat = errors.New("not a segment of this version")

// Span is where an extent lies, in bytes from the beginning of the file.
func (h *Header) Span(extent int) (from, to uint64) {
	from = PageSize
	for s := range extent {
		from += padded(h.Counts[s] * h.format.Entries[s])
	}
	return from, from + h.Counts[extent]*h.format.Entries[extent]
}

func padded(n uint64) uint64 { return (n + PageSize - 1) / PageSize * PageSize }

// pages is how many pages the extents take.
func (h *Header) pages() uint64 {
	_, to := h.Span(len(h.Counts) - 1)
	return padded(to)/PageSize - 1
}

// Size is the size of the whole file in bytes.
func (h *Header) Size() uint64 { return PageSize + h.pages()*(PageSize+sumSize) }

func (h *Header) encode() []byte {
	b := append(make([]byte, 0, PageSize), h.format.Magic...)
	b = binary.LittleEndian.AppendUint64(b, h.format.Version)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Coverage.Batch))
	b = binary.LittleEndian.AppendUint64(b, h.Coverage.ImportLogHash)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.Coverage.Facts))
	for _, n := range h.Counts {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint64(b, h.sums)
	b = b[:PageSize]
	binary.LittleEndian.PutUint64(b[PageSize-24:], h.Rows)
	binary.LittleEndian.PutUint64(b[PageSize-16:], h.Follows)
	binary.LittleEndian.PutUint64(b[PageSize-8:], xxhash.Sum64(b[:PageSize-8]))
	return b
}

// decode reads the header of a file of so many bytes. Whatever is in it, the
// extents lie within the file.
func (f *Format) decode(b []byte) (Header, error) {
	h := Header{format: f}
	if len(b) < PageSize {
		return h, &Damage{What: fmt.Sprintf("%d bytes", len(b))}
	}
	if string(b[:len(f.Magic)]) != f.Magic {
		return h, &Damage{What: "it does not begin as a segment does"}
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[len(f.Magic)+8*i:]) }
	if v := field(0); v != f.Version {
		return h, fmt.Errorf("version %d: %w", v, ErrFormat)
	}
	h.Rows = binary.LittleEndian.Uint64(b[PageSize-24:])
	h.Follows, h.ID = binary.LittleEndian.Uint64(b[PageSize-16:]), binary.LittleEndian.Uint64(b[PageSize-8:])
	if h.ID != xxhash.Sum64(b[:PageSize-8]) {
		return h, &Damage{What: "header: checksum differs"}
	}
	h.Coverage = Coverage{Batch: int64(field(1)), ImportLogHash: field(2), Facts: int64(field(3))}
	at := uint64(PageSize)
	for s, size := range f.Entries {
		n := field(4 + s)
		if n > uint64(len(b))/size || at > uint64(len(b)) {
			return h, &Damage{What: "extent " + f.Names[s] + " ends after the file"}
		}
		at += padded(n * size)
		h.Counts = append(h.Counts, n)
	}
	h.sums = field(4 + len(f.Entries))
	if h.Size() != uint64(len(b)) {
		return h, &Damage{What: fmt.Sprintf("%d bytes, want %d", len(b), h.Size())}
	}
	return h, nil
}
