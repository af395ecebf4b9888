// Package textrun keeps the long texts of every market in one file, mapped into
// memory, with those of markets that changed since beside it: too much to hold, and
// asked for one market at a time. It is derived data: the database is the truth,
// the file is made anew from it at will, and a reader that finds a market not at
// hand asks there.
package textrun

import (
	"encoding/binary"

	"pmx/data"
	"pmx/rollups/runfile"
	"pmx/rollups/serving"
)

// The file: the header of package runfile, then sections. Numbers are little-endian.
//
//	texts  a record per market: the source of its payout, the lengths of the first two texts, the three texts
//	index  where the record of each market begins, and where the last one's end
const (
	texts = iota
	index
)

const indexSize = 8

var format = &runfile.Format{Magic: "pmx market run\r\n", Version: 1, Entries: []uint64{texts: 1, index: indexSize}}

// Covers says which markets a file holds.
type Covers = runfile.Covers

func appendRecord(b []byte, t *serving.MarketTexts) []byte {
	b = append(b, byte(t.PayoutSource))
	b = binary.AppendUvarint(b, uint64(len(t.Description)))
	b = binary.AppendUvarint(b, uint64(len(t.ResolutionSource)))
	b = append(append(b, t.Description...), t.ResolutionSource...)
	return append(b, t.GroupItemTitle...)
}

// readRecord gives the texts of a record in memory of their own; false where it is
// none.
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

// record is what a file has of a market; empty where it has none.
func record(f *runfile.File, market int32) []byte {
	if market < 0 || uint64(market)+1 >= f.Counts[index] {
		return nil
	}
	b := f.Parts[index][int(market)*indexSize:]
	lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[indexSize:])
	if lo > hi || hi > uint64(len(f.Parts[texts])) {
		return nil
	}
	return f.Parts[texts][lo:hi]
}
