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
	"encoding/binary"
	"errors"
	"fmt"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// The file: the header of package segments, then extents. Numbers are little-endian.
//
//	txs     transaction hashes, shared by the fills of one
//	wide    what does not fit into rows
//	rows    fills by key, then in the order of kind.order, as package serving has had
//	        it since version 5
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
	version = 7
	// newestVersion is the version of a file of the newest fills.
	newestVersion = 7
	// laterVersion is the version of files that continue others.
	laterVersion = 2
	// laterNewestVersion is that of files of the newest fills that continue others.
	laterNewestVersion = 1
	rowSize            = 28
	wideSize           = 40
	hashSize           = 32
	heavySize          = 24
	indexSize          = 8
	idSize             = 4
)

// The extents in the order of the file.
const (
	txs = iota
	wide
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

var entrySize = []uint64{txs: hashSize, rows: rowSize, wide: wideSize, tokens: 1, days: 1, heavy: heavySize, index: indexSize, ids: idSize, whole: idSize}

var newestName = []string{txs: "transactions", wide: "wide parts", rows: "rows", tokens: "sums by wallet", days: "candles", heavy: "tokens with sums", index: "index",
	ids: "tokens", whole: "whole tokens"}

var extentName = []string{txs: "transactions", wide: "wide parts", rows: "rows", tokens: "sums by token", days: "sums by day", heavy: "heavy wallets", index: "index",
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

// row is a fill as stored in a file, in four words of 64, 64, 64 and 32 bits.
//
//	word 0: ordinal of the transaction 32, seconds since epoch 30, wide 1, side 1
//	word 1: shares, lower 34; the id that is not the key 28; role 2
//	word 2: dollars 38; fee, lower 22; shares, upper 4
//	word 3: whether the fee is below 0 1; fee, upper 17; log index + 1 14 (0: none)
//
// A row that is not wide has whole seconds and is not repeated. In a wide row, the field of shares
// has the place of the wide part.
type row struct {
	w0, w1, w2 uint64
	w3         uint32
}

// epoch is the second that rows count from: imports refuse older fills.
const epoch = 1_577_836_800 // 2020-01-01

const (
	second      = 1_000_000
	sideBit     = 1
	wideBit     = 2
	maxTime     = 1<<30 - 1 // in seconds, until 2054
	maxID       = 1<<28 - 1
	maxUSD      = 1<<38 - 1 // of shares too
	maxFee      = 1<<39 - 1 // and −maxFee
	maxLogIndex = 1<<14 - 2
)

func getRow(b []byte) row {
	_ = b[rowSize-1]
	return row{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]),
		binary.LittleEndian.Uint32(b[24:])}
}

func (r *row) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.w0)
	b = binary.LittleEndian.AppendUint64(b, r.w1)
	b = binary.LittleEndian.AppendUint64(b, r.w2)
	return binary.LittleEndian.AppendUint32(b, r.w3)
}

// seconds is the time of the fill in whole seconds, rounded down.
func (r *row) seconds() int64  { return int64(r.w0>>2&maxTime) + epoch }
func (r *row) side() data.Side { return data.Side(r.w0 & sideBit) }
func (r *row) wide() bool      { return r.w0&wideBit != 0 }
func (r *row) tx() uint32      { return uint32(r.w0 >> 32) }
func (r *row) other() int32    { return int32(r.w1 >> 2 & maxID) }
func (r *row) role() data.Role { return data.Role(r.w1 & 3) }

// shares of a wide row are the place of its wide part.
func (r *row) shares() uint64     { return r.w1>>30 | r.w2&15<<34 }
func (r *row) setShares(v uint64) { r.w1, r.w2 = r.w1&(1<<30-1)|v<<30, r.w2&^15|v>>34 }
func (r *row) usd() uint64        { return r.w2 >> 26 }
func (r *row) fee() data.Micro {
	fee := data.Micro(r.w2>>4&(1<<22-1) | uint64(r.w3>>14)<<22)
	if fee > maxFee {
		return maxFee + 1 - fee
	}
	return fee
}

func (r *row) logIndex() int32 { return int32(r.w3&(1<<14-1)) - 1 }

// moved is the row with its transaction and wide part at shifted places.
func (r *row) moved(txBase uint32, wideBase uint64) row {
	m := *r
	if m.tx() != noTx {
		m.w0 += uint64(txBase) << 32
	}
	if m.wide() {
		m.setShares(m.shares() + wideBase)
	}
	return m
}

// fits reports whether a fill needs no wide part.
func fits(f *serving.Fill) bool {
	return f.TS%second == 0 && uint64(f.Shares) <= maxUSD && uint64(f.USD) <= maxUSD && -maxFee <= f.Fee && f.Fee <= maxFee &&
		f.LogIndex >= data.NoIndex && f.LogIndex <= maxLogIndex && f.Repeat == 1
}

// ErrRange is returned for a fill that no row can hold. Imports do not accept such fills.
var ErrRange = errors.New("out of the range of a file of fills")

// pack makes a row of f; wideAt is the place of its wide part if it needs one.
func (k *kind) pack(f *serving.Fill, tx uint32, wideAt uint64) (row, error) {
	at, other := f.TS/second-epoch, k.other(f)
	if f.TS < epoch*second || at > maxTime || other < 0 || other > maxID || wideAt > maxUSD {
		return row{}, fmt.Errorf("fill at %d µs of wallet %d and token %d: %w", f.TS, f.Wallet, f.Token, ErrRange)
	}
	r := row{w0: uint64(tx)<<32 | uint64(at)<<2 | uint64(f.Side&sideBit), w1: uint64(other)<<2 | uint64(f.Role&3)}
	if !fits(f) {
		r.w0 |= wideBit
		r.setShares(wideAt)
		return r, nil
	}
	fee := uint64(f.Fee)
	if f.Fee < 0 {
		fee = maxFee + 1 + uint64(-f.Fee)
	}
	r.w2 = uint64(f.USD)<<26 | fee&(1<<22-1)<<4
	r.w3 = uint32(fee>>22)<<14 | uint32(f.LogIndex+1)
	r.setShares(uint64(f.Shares))
	return r, nil
}

// unpackTo sets all fields of f except its transaction and its ids; wide is the wide part of the
// row.
func (r *row) unpackTo(f *serving.Fill, wide []byte) {
	f.Side, f.Role = r.side(), r.role()
	if r.wide() {
		amount := func(i int) data.Micro { return data.Micro(binary.LittleEndian.Uint64(wide[8*i:])) }
		f.TS = int64(amount(0))
		f.Shares, f.USD, f.Fee = amount(1), amount(2), amount(3)
		f.LogIndex = int32(binary.LittleEndian.Uint32(wide[32:]))
		f.Repeat = int16(binary.LittleEndian.Uint16(wide[36:]))
		return
	}
	f.TS, f.Repeat, f.LogIndex = r.seconds()*second, 1, r.logIndex()
	f.Shares, f.USD, f.Fee = data.Micro(r.shares()), data.Micro(r.usd()), r.fee()
}

func appendWide(b []byte, f *serving.Fill) []byte {
	for _, n := range [...]int64{f.TS, int64(f.Shares), int64(f.USD), int64(f.Fee)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(f.LogIndex))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Repeat))
	return append(b, 0, 0)
}
