// Package textseg keeps the long texts of every market in one file, mapped into memory, with a
// memtable of those that changed since: they are too large to keep in memory, and requested one
// market at a time. It is derived data: the database is the truth, the file can be rebuilt from it
// at any time, and a reader that does not find a market reads the database.
package textseg

import (
	"encoding/binary"
	"errors"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// The file: the header of package segments, then extents. Numbers are little-endian.
//
//	texts  a record per market: the source of its payout, the lengths of the first two texts, the three texts
//	index  where the record of each market begins, and where the last one's end
//
// The index is verified and its bounds checked when a file is opened, texts page by page at their
// first read.
const (
	texts = iota
	index
)

const indexSize = 8

var format = &segments.Format{Magic: "pmx market run\r\n", Version: 3, Entries: []uint64{texts: 1, index: indexSize}, Names: []string{texts: "texts", index: "index"}}

func appendRecord(b []byte, t *serving.MarketTexts) []byte {
	b = append(b, byte(t.PayoutSource))
	b = binary.AppendUvarint(b, uint64(len(t.Description)))
	b = binary.AppendUvarint(b, uint64(len(t.ResolutionSource)))
	b = append(append(b, t.Description...), t.ResolutionSource...)
	return append(b, t.GroupItemTitle...)
}

// readRecord returns copies of the texts of a record; false if it is invalid.
func readRecord(b []byte) (t serving.MarketTexts, ok bool) {
	if len(b) == 0 {
		return t, false
	}
	t.PayoutSource, b = data.ResolutionSource(b[0]), b[1:]
	var long [2]uint64
	for i := range long {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			return t, false
		}
		long[i], b = n, b[size:]
	}
	if long[0] > uint64(len(b)) || long[1] > uint64(len(b))-long[0] {
		return t, false
	}
	all, first := string(b), long[0]
	t.Description, t.ResolutionSource, t.GroupItemTitle = all[:first], all[first:first+long[1]], all[first+long[1]:]
	return t, true
}

// open maps a finished file and verifies its index.
func open(path string) (*segments.File, error) {
	f, err := segments.Open(path, format)
	if err != nil {
		return nil, err
	}
	if err := segments.Try(func() error { return bounds(f) }); err != nil {
		return nil, errors.Join(err, f.Release())
	}
	return f, nil
}

// bounds checks the positions of records.
func bounds(f *segments.File) error {
	at := uint64(0)
	for b := f.Bytes(index, 0, f.Len(index)); len(b) > 0; b = b[indexSize:] {
		next := binary.LittleEndian.Uint64(b)
		if next < at || next > f.Counts[texts] {
			return f.Damaged("index: %d after %d of %d", next, at, f.Counts[texts])
		}
		at = next
	}
	if at != f.Counts[texts] || f.Counts[index] == 0 {
		return f.Damaged("index: it ends with %d of %d", at, f.Counts[texts])
	}
	return nil
}

// record is the record of a market; empty if the file has none. It panics with a *segments.Damage
// if the file is corrupted.
func record(f *segments.File, market int32) []byte {
	if market < 0 || uint64(market)+1 >= f.Counts[index] {
		return nil
	}
	b := f.Bytes(index, int(market)*indexSize, (int(market)+2)*indexSize)
	return f.Bytes(texts, int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[indexSize:])))
}
