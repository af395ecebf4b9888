package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"

	"pmx/data"
)

// journal is a rollback journal of checkpoints. DuckDB 1.5 writes a checkpoint's new metadata into
// free parts of metadata blocks and writes these blocks in place (MetadataManager::Flush), also those
// in which the checkpoint before has its metadata. If the process is killed, or power fails, within
// such a write, the block does not match its checksum and the database cannot be opened. So the
// blocks are copied to a file before a checkpoint begins; before the database is opened, those that
// are torn are put back. That is exact: until its header is written, the checkpoint has not
// happened, and what it wrote is free space.
type journal struct {
	path     string
	database *databaseFile

	mu       sync.Mutex
	file     *os.File // nil: it is not open
	headers  []byte   // of the database file when its blocks were copied
	now      []byte   // scratch memory for comparing them
	restored int      // blocks and headers that were put back
}

// The format of the file: a text, the CRC-32C of all that follows it, the head of the database file,
// the number of metadata blocks, for each its id and which of its parts are free, and the blocks.
const (
	journalText   = "pmxjrnl1"
	journalPrefix = len(journalText) + 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newJournal(d Dir, database *databaseFile) *journal {
	return &journal{path: d.journal(), database: database, headers: make([]byte, FileHead-headerSize), now: make([]byte, FileHead-headerSize)}
}

// keep copies the metadata blocks unless they have been copied since the last checkpoint. It must
// run before each statement that may begin a checkpoint, which every commit may.
func (j *journal) keep() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	file, err := j.database.open()
	if err != nil {
		return err
	}
	if _, err := file.ReadAt(j.now, headerSize); err != nil {
		return fmt.Errorf("the head of the database file: %w", err)
	}
	if bytes.Equal(j.now, j.headers) {
		return nil
	}
	if err := j.write(file); err != nil {
		if data.IsNoSpace(err) {
			return fullError{fmt.Sprintf("the disk has no room for %s, without which a checkpoint is not safe: free some space; a running server goes on by itself", j.path)}
		}
		return fmt.Errorf("%s, without which a checkpoint is not safe: %w", j.path, err)
	}
	copy(j.headers, j.now)
	return nil
}

// write writes the file in place: while it is torn, no checkpoint has begun.
func (j *journal) write(database io.ReaderAt) (err error) {
	head := make([]byte, FileHead)
	if _, err := database.ReadAt(head, 0); err != nil {
		return err
	}
	h, err := parseHead(head)
	if err != nil {
		return err
	}
	blocks, err := h.metadataBlocks(database)
	if err != nil {
		return err
	}
	if j.file == nil {
		if j.file, err = data.OpenOrCreateRegular(j.path, 0o600); err != nil {
			return err
		}
		if err := data.SyncFolder(filepath.Dir(j.path)); err != nil {
			return err
		}
	}
	out := &journalWriter{to: j.file, at: int64(journalPrefix)}
	out.write(head)
	list := binary.LittleEndian.AppendUint64(nil, uint64(len(blocks)))
	for _, b := range blocks {
		list = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(list, b.id), b.free)
	}
	out.write(list)
	block := make([]byte, h.blockSize)
	for _, b := range blocks {
		if _, err := database.ReadAt(block, h.offset(b.id)); err != nil {
			return fmt.Errorf("metadata block %d: %w", b.id, err)
		}
		out.write(block)
	}
	if out.err == nil {
		_, out.err = j.file.WriteAt(binary.LittleEndian.AppendUint64([]byte(journalText), uint64(out.sum)), 0)
	}
	return errors.Join(out.err, j.file.Truncate(out.at), j.file.Sync())
}

// journalWriter writes and adds to the checksum.
type journalWriter struct {
	to  io.WriterAt
	at  int64
	sum uint32
	err error
}

func (w *journalWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.WriteAt(b, w.at)
	}
	w.at += int64(len(b))
	w.sum = crc32.Update(w.sum, castagnoli, b)
}

// close closes the file, which stays: the next process may need it.
func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	clear(j.headers)
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	j.file = nil
	return err
}

// restore puts back what a checkpoint that did not end has torn in the database file, which this
// process must not have open. It changes nothing unless the file is at the checkpoint that the
// journal was written for, and all that the checkpoint uses in blocks that are not torn is the same
// in both.
func (j *journal) restore() error {
	kept, err := readJournal(j.path)
	if kept == nil || err != nil {
		return err
	}
	file, err := os.OpenFile(j.database.path, os.O_RDWR, 0)
	if err != nil {
		return nil // it does not exist, or opening it will fail with a better error
	}
	defer func() { _ = file.Close() }()
	if !lockFile(file) { // another process may be writing the checkpoint
		return nil
	}
	torn, err := kept.compare(file)
	if err != nil || len(torn) == 0 {
		return err
	}
	for _, t := range torn {
		if _, err := file.WriteAt(t.bytes, t.at); err != nil {
			return fmt.Errorf("restore the metadata of %s: %w", j.database.path, err)
		}
	}
	j.restored += len(torn)
	return file.Sync()
}

// Torn returns how many blocks and headers of the database file a checkpoint that did not end has torn, and the next
// start restores. It must not be called by a process that has the database open.
func (d Dir) Torn() (n int, err error) {
	kept, err := readJournal(d.journal())
	if kept == nil || err != nil {
		return 0, err
	}
	file, err := data.OpenRegular(d.Database())
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	torn, err := kept.compare(file)
	return len(torn), err
}

// keptMetadata is the content of a journal.
type keptMetadata struct {
	of     header
	head   []byte
	blocks []metadataBlock
	bytes  []byte // of all blocks
}

// readJournal returns nil for a file that is missing or not whole: its checkpoint had not begun.
func readJournal(path string) (*keptMetadata, error) {
	b, err := data.ReadRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	body := b[min(journalPrefix, len(b)):]
	if len(body) < FileHead+8 || string(b[:len(journalText)]) != journalText ||
		binary.LittleEndian.Uint64(b[len(journalText):]) != uint64(crc32.Checksum(body, castagnoli)) {
		return nil, nil
	}
	kept := &keptMetadata{head: body[:FileHead]}
	if kept.of, err = parseHead(kept.head); err != nil {
		return nil, nil
	}
	count, list := binary.LittleEndian.Uint64(body[FileHead:]), body[FileHead+8:]
	if count > maxMetadata || uint64(len(list)) != count*uint64(16+kept.of.blockSize) {
		return nil, nil
	}
	for ; uint64(len(kept.blocks)) < count; list = list[16:] {
		kept.blocks = append(kept.blocks, metadataBlock{binary.LittleEndian.Uint64(list), binary.LittleEndian.Uint64(list[8:])})
	}
	kept.bytes = list
	return kept, nil
}

// tornPiece is a part of the database file to be written again.
type tornPiece struct {
	at    int64
	bytes []byte
}

// compare returns what is torn in a database file, nothing if the journal is not of its last
// checkpoint.
func (k *keptMetadata) compare(file io.ReaderAt) (torn []tornPiece, err error) {
	head := make([]byte, FileHead)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil, ignoreEOF(err)
	}
	now, err := parseHead(head)
	if err != nil || now.slot != k.of.slot || !bytes.Equal(now.bytes(head), k.of.bytes(k.head)) || !bytes.Equal(head[:headerSize], k.head[:headerSize]) {
		return nil, nil
	}
	other := header{slot: 3 - now.slot}
	if !intact(other.bytes(head)) && intact(other.bytes(k.head)) {
		torn = append(torn, tornPiece{int64(other.slot * headerSize), other.bytes(k.head)})
	}
	block := make([]byte, now.blockSize)
	for i, b := range k.blocks {
		kept := k.bytes[int64(i)*now.blockSize:][:now.blockSize]
		// A checkpoint never makes the file shorter than the blocks that the one before uses.
		if _, err := file.ReadAt(block, now.offset(b.id)); err != nil {
			return nil, ignoreEOF(err)
		}
		switch {
		case intact(block):
			if !now.sameParts(block, kept, ^b.free) {
				return nil, nil
			}
		case !intact(kept):
			return nil, nil
		default:
			torn = append(torn, tornPiece{now.offset(b.id), kept})
		}
	}
	return torn, nil
}

// sameParts reports whether two metadata blocks have the same in parts, a bit for each.
func (h header) sameParts(a, b []byte, parts uint64) bool {
	for i := range metadataParts {
		from, to := h.part(i), h.part(i+1)
		if parts>>i&1 == 1 && !bytes.Equal(a[from:to], b[from:to]) {
			return false
		}
	}
	return true
}

// ignoreEOF drops the error of a file that ends early.
func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Restored returns how many blocks and headers of the database file were torn by a checkpoint that
// did not end, and put back when the file was opened.
func (db *DB) Restored() int {
	if db.opts.journal == nil {
		return 0
	}
	return db.opts.journal.restored
}
