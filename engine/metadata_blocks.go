package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"pmx/data"
)

// The format of a database file, as DuckDB 1.5 writes it: a main header, two headers that
// checkpoints write in turn, and blocks. Headers and blocks begin with their checksum. A metadata
// block is divided into parts of equal size; a list of parts is a text that goes on in the part that
// the first eight bytes of each point to.
const (
	headerSize    = 4 << 10
	checksumSize  = 8
	metadataParts = 64 // of a metadata block
	partMask      = 1<<56 - 1
	endOfParts    = 1<<64 - 1
	minBlockSize  = 16 << 10
	maxBlockSize  = 256 << 10
	// maxMetadata bounds the metadata blocks that are believed: a venue of 100 million fills has 62.
	maxMetadata = 1 << 16
)

var errMetadata = errors.New("the list of metadata blocks is damaged")

// databaseFile is the open database file for reading. It is opened once, and closed only after the
// database: closing any descriptor of the file would release DuckDB's lock, which belongs to the
// process (fcntl(2)).
type databaseFile struct {
	path string

	mu   sync.Mutex
	file *os.File // nil: it is not open
}

func (d *databaseFile) open() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		file, err := data.OpenRegular(d.path)
		if err != nil {
			return nil, err
		}
		d.file = file
	}
	return d.file, nil
}

// close closes the file. DuckDB has closed it before.
func (d *databaseFile) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// header is what the head of a database file says of its last checkpoint.
type header struct {
	slot      int // 1 or 2: which of the headers of checkpoints it is
	iteration uint64
	freeList  uint64 // pointer to the list that ends with the metadata blocks; endOfParts: there are none
	blockSize int64
}

// parseHead returns the newest header of a checkpoint in the head of a database file whose checksum
// matches.
func parseHead(head []byte) (h header, err error) {
	for slot := 1; slot <= 2; slot++ {
		b := head[slot*headerSize : (slot+1)*headerSize]
		if !intact(b) {
			continue
		}
		n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[checksumSize+8*i:]) }
		// DuckDB uses the second of two that are equal.
		if h.slot == 0 || n(0) >= h.iteration {
			h = header{slot: slot, iteration: n(0), freeList: n(2), blockSize: int64(n(4))}
		}
	}
	if h.slot == 0 || h.blockSize < minBlockSize || h.blockSize > maxBlockSize || h.blockSize&(h.blockSize-1) != 0 {
		return h, errors.New("the head of the database file is damaged")
	}
	return h, nil
}

// bytes is the part of the head that has the header.
func (h header) bytes(head []byte) []byte { return head[h.slot*headerSize : (h.slot+1)*headerSize] }

// intact reports whether a header or block matches the checksum that it begins with.
func intact(b []byte) bool { return binary.LittleEndian.Uint64(b) == checksum(b[checksumSize:]) }

// metadataBlock is a block of metadata.
type metadataBlock struct {
	id   uint64
	free uint64 // a bit for each part that the last checkpoint does not use
}

func (h header) offset(id uint64) int64 { return FileHead + int64(id)*h.blockSize }

// partSize is the size in bytes of a part of a metadata block.
func (h header) partSize() int64 { return (h.blockSize - checksumSize) / metadataParts &^ 7 }

// part is the position in a block of one of its parts.
func (h header) part(i int) int64 { return checksumSize + int64(i)*h.partSize() }

// metadataBlocks returns the blocks of metadata in a database file that no checkpoint writes to.
func (h header) metadataBlocks(file io.ReaderAt) ([]metadataBlock, error) {
	if h.freeList == endOfParts {
		return nil, nil
	}
	list := &metadataReader{file: file, of: h, next: h.freeList}
	for _, width := range []int64{8, 12} { // free blocks, and blocks that several columns share, with a count
		n := list.number()
		if list.skip(int64(min(n, 1<<40)) * width); list.err != nil {
			return nil, list.err
		}
	}
	count := list.number()
	if list.err == nil && count > maxMetadata {
		return nil, errMetadata
	}
	blocks := make([]metadataBlock, 0, count)
	for range count {
		blocks = append(blocks, metadataBlock{id: list.number(), free: list.number()})
	}
	return blocks, list.err
}

// metadataReader reads a list of parts.
type metadataReader struct {
	file io.ReaderAt
	of   header
	next uint64 // pointer to the part after that of left
	left []byte // of the part
	read int
	err  error
}

// fill reads the next part if nothing is left of the one before.
func (r *metadataReader) fill() bool {
	if len(r.left) > 0 || r.err != nil {
		return r.err == nil
	}
	id, i := r.next&partMask, int(r.next>>56)
	if r.next == endOfParts || i >= metadataParts || id >= partMask/uint64(r.of.blockSize) || r.read > maxMetadata*metadataParts {
		r.err = errMetadata
		return false
	}
	b := make([]byte, r.of.partSize())
	if _, err := r.file.ReadAt(b, r.of.offset(id)+r.of.part(i)); err != nil {
		r.err = fmt.Errorf("%w: %w", errMetadata, err)
		return false
	}
	r.read++
	r.next, r.left = binary.LittleEndian.Uint64(b), b[8:]
	return true
}

func (r *metadataReader) number() uint64 {
	var b [8]byte
	for n := 0; n < len(b) && r.fill(); {
		some := copy(b[n:], r.left)
		r.left = r.left[some:]
		n += some
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (r *metadataReader) skip(n int64) {
	for n > 0 && r.fill() {
		some := min(n, int64(len(r.left)))
		r.left = r.left[some:]
		n -= some
	}
}
