// Package fillseg keeps the fills of every wallet together in a few files in wallet order, mapped into
// memory, with a memtable of what came in since. Each file continues the one before it with the fills
// of later imports; a new one has those of the memtable, and takes the place of the newest files where
// that is due (levels.go). It is derived data: the facts in the database are the truth, the files can
// be rebuilt from them at any time, and a reader that does not find a wallet reads the database.
//
// Other files have the newest fills of each token, in an order of their own. Both kinds are sorted by
// a key, which is a wallet in the one and a token in the other. A row holds the other id; kind says
// which one that is.
package fillseg

import (
	"errors"
	"fmt"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// The file: the header of package segments, then extents. Numbers are little-endian.
//
//	txs     transaction hashes, shared by the fills of one
//	rows    fills by key, then in the order of kind.order, as package serving has had
//	        it since version 5; packed in blocks (keyRows), and wordSize zeros
//	tokens  a serving.TokenSum per token of each heavy wallet, by token (appendTokens)
//	days    a serving.DaySum per day of each heavy wallet, by day (appendDays)
//	heavy   which wallets are heavy and where their sums begin; the last names none
//	index   where the rows of each key begin, and where the last one's end
//
// A file that continues another one has few of the keys. In it, index has an entry for each key with
// rows and one for the end, and two extents follow:
//
//	ids     the keys with rows, ascending
//	whole   keys of which the files before do not count, ascending: a fill was replaced, and this
//	        file has all of the key
//
// From heavy on, extents are verified and their bounds checked when a file is opened, the others
// page by page at their first read.
//
// In a file of the newest fills, the hashes of a key are adjacent, too, each stored once for the rows of that key. A
// key of which the file lacks fills is heavy: tokens has what each wallet did with it, days its partial candles,
// both over all its fills (appendWallets, appendHours). In a file that continues another
// one, all this is of the fills of its own imports.
const (
	version = 9
	// newestVersion is the version of a file of the newest fills.
	newestVersion = 11
	// laterVersion is the version of files that continue others.
	laterVersion = 4
	// laterNewestVersion is that of files of the newest fills that continue others.
	laterNewestVersion = 5
	hashSize           = 32
	heavySize          = 24
	indexSize          = 8
	idSize             = 4
)

// The extents in the order of the file.
const (
	txs = iota
	rows
	tokens
	days
	heavy
	index
	ids
	whole
)

// noTx is the ordinal of a fill without a transaction hash.
const noTx = 1<<32 - 1

var entrySize = []uint64{txs: hashSize, rows: 1, tokens: 1, days: 1, heavy: heavySize, index: indexSize, ids: idSize, whole: idSize}

var newestName = []string{txs: "transactions", rows: "rows", tokens: "sums by wallet", days: "candles", heavy: "tokens with sums", index: "index",
	ids: "tokens", whole: "whole tokens"}

var extentName = []string{txs: "transactions", rows: "rows", tokens: "sums by token", days: "sums by day", heavy: "heavy wallets", index: "index",
	ids: "wallets", whole: "whole wallets"}

// formats are those of a store's files.
type formats struct{ first, later *segments.Format }

// formatOf is the format of the first file, or of the others.
func (f *formats) formatOf(first bool) *segments.Format {
	if first {
		return f.first
	}
	return f.later
}

var wholeFormats = formats{
	&segments.Format{Magic: "pmx wallet run\r\n", Version: version, Entries: entrySize[:ids], Names: extentName[:ids]},
	&segments.Format{Magic: "pmx wallet add\r\n", Version: laterVersion, Entries: entrySize, Names: extentName},
}

// newestFormats are the formats of files with so many newest fills of each key. The number is part of
// the version: a file with fewer does not have what is asked for.
func newestFormats(most int) formats {
	return formats{
		&segments.Format{Magic: "pmx newest run\r\n", Version: uint64(most)<<32 | newestVersion, Entries: entrySize[:ids], Names: newestName[:ids]},
		&segments.Format{Magic: "pmx newest add\r\n", Version: uint64(most)<<32 | laterNewestVersion, Entries: entrySize, Names: newestName},
	}
}

// epoch is the second that rows count from: imports refuse older fills.
const epoch = 1_577_836_800 // 2020-01-01

const (
	second  = 1_000_000
	maxTime = 1<<secondLen - 1 // in seconds, until 2054
	maxID   = 1<<idLen - 1
)

// ErrRange is returned for a fill that no row can hold. Imports do not accept such fills.
var ErrRange = errors.New("out of the range of a file of fills")

// check returns ErrRange for such a fill.
func (k *kind) check(f *serving.Fill) error {
	if other := k.other(f); f.TS < epoch*second || f.TS/second-epoch > maxTime || other < 0 || other > maxID {
		return fmt.Errorf("fill at %d µs of wallet %d and token %d: %w", f.TS, f.Wallet, f.Token, ErrRange)
	}
	return nil
}
