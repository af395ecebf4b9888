package engine

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"pmx/data"
)

// LogDamage is what was wrong with the write-ahead log when the database was opened. DuckDB replays
// the transactions before the damage; what follows it is dropped.
type LogDamage struct {
	Copy         string // where a copy of the log as it was found is kept
	At           int64  // the byte after the last transaction that was replayed
	Dropped      int64  // bytes
	Transactions int    // complete ones before the damage
	// Torn is true for a log that ends inside a transaction and is intact before it: its process
	// was killed while it wrote a transaction that it had not acknowledged, or the file was
	// truncated since.
	Torn bool
}

// The format of a log, as DuckDB 1.5 writes it: a short header, then entries with a length, a
// checksum and a body, whose third byte is its kind.
const (
	walHeader     = 8
	walEntry      = 16 // length and checksum
	walFlush      = 100
	walCheckpoint = 99
	walVersion    = 2
)

var walBegin = []byte{0x64, 0, 0x62, 0x65, 0}

// scanLog reads the log at path; with sums it compares every body with its checksum. It returns nil
// if there is none or it ends with a complete transaction.
func scanLog(path string, sums bool) (*LogDamage, error) {
	f, err := data.OpenRegular(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return nil, err
	}
	in, size := bufio.NewReaderSize(f, 1<<20), st.Size()
	d := &LogDamage{Dropped: size}
	head := make([]byte, walHeader)
	if _, err := io.ReadFull(in, head); err != nil || !bytes.HasPrefix(head, walBegin) || head[5] > walVersion || head[6] != 0xff || head[7] != 0xff {
		d.Torn = size < walHeader
		return d, nil
	}
	d.At, d.Dropped, d.Torn = walHeader, size-walHeader, true
	for pos := int64(walHeader); pos < size; {
		kind, length, good, err := scanEntry(in, size-pos, sums)
		if err != nil {
			return nil, err
		}
		if !good {
			d.Torn = length < 0
			return d, nil
		}
		pos += walEntry + length
		if kind == walFlush || kind == walCheckpoint {
			d.At, d.Dropped = pos, size-pos
		}
		if kind == walFlush {
			d.Transactions++
		}
	}
	if d.Dropped == 0 {
		return nil, nil
	}
	return d, nil
}

// scanEntry reads one entry of at most left bytes. good is false if it is cut short, in which case
// the length is -1, or does not match its checksum.
func scanEntry(in *bufio.Reader, left int64, sums bool) (kind byte, length int64, good bool, err error) {
	head := make([]byte, walEntry)
	if left < walEntry {
		return 0, -1, false, nil
	}
	if _, err := io.ReadFull(in, head); err != nil {
		return 0, 0, false, err
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 3 || n > uint64(left-walEntry) {
		return 0, -1, false, nil
	}
	length = int64(n)
	if !sums {
		start, err := in.Peek(3)
		if err != nil {
			return 0, 0, false, err
		}
		kind = start[2]
		for skip := length; skip > 0; {
			n, err := in.Discard(int(min(skip, 1<<20)))
			if err != nil {
				return 0, 0, false, err
			}
			skip -= int64(n)
		}
		return kind, length, true, nil
	}
	body := make([]byte, length) // no longer than the file
	if _, err := io.ReadFull(in, body); err != nil {
		return 0, 0, false, err
	}
	return body[2], length, checksum(body) == binary.LittleEndian.Uint64(head[8:]), nil
}

// checksum is DuckDB's checksum of an entry of a log, of a block and of a header.
func checksum(b []byte) uint64 {
	sum := uint64(5381)
	for ; len(b) >= 8; b = b[8:] {
		sum ^= binary.LittleEndian.Uint64(b) * 0xbf58476d1ce4e5b9
	}
	if len(b) == 0 {
		return sum
	}
	const m, seed, r = uint64(0xc6a4a7935bd1e995), uint64(0xe17a1465), 47
	h := seed ^ uint64(len(b))*m
	var rest [8]byte
	copy(rest[:], b)
	h ^= binary.LittleEndian.Uint64(rest[:])
	h *= m
	h ^= h >> r
	h *= m
	h ^= h >> r
	return sum ^ h
}

// keptLog is what the names of copies of damaged logs have after the name of the log. Of torn logs
// only the newest copy is kept.
const (
	keptLog = ".damaged-"
	tornLog = ".torn"
)

// keepCopy copies the log as it was found. It is called before the database is opened.
func (d *LogDamage) keepCopy(wal string, now time.Time) error {
	d.Copy = wal + keptLog + now.UTC().Format("20060102T150405")
	if d.Torn {
		d.Copy = wal + tornLog
	}
	from, err := os.Open(wal)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(d.Copy, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Sync(), to.Close())
}

// openTruncated opens a database whose log is damaged: it keeps a copy of the log, and truncates it
// after the last transaction before the damage. err is the error of the first attempt to open.
func openTruncated(dir Dir, err error, open func() (*pools, error)) (*pools, *LogDamage, error) {
	if !slices.Contains(errorTypes(err), duckdb.ErrorTypeIO) || errors.Is(err, ErrLocked) {
		return nil, nil, err
	}
	d, scanning := scanLog(dir.wal(), true)
	if d == nil || scanning != nil {
		return nil, nil, errors.Join(err, scanning)
	}
	d.Torn = false // a torn log opens
	if err := d.keepCopy(dir.wal(), time.Now()); err != nil {
		return nil, nil, fmt.Errorf("keep the damaged log: %w", err)
	}
	if err := os.Truncate(dir.wal(), d.At); err != nil {
		return nil, nil, err
	}
	p, err := open()
	return p, d, err
}

// LogDamage reports what was wrong with the log when the database was opened, nil for nothing.
func (db *DB) LogDamage() *LogDamage { return db.damage }

// DamagedLogs lists the copies of damaged logs as Dir.DamagedLogs does.
func (db *DB) DamagedLogs() []string { return db.opts.Dir.DamagedLogs() }
