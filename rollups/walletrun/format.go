// Package walletrun keeps the fills of every wallet side by side in one file in
// wallet order, mapped into memory, with what came in since beside it. It is
// derived data: the facts in the database are the truth, the file is made anew
// from them at will, and a reader that finds a wallet not at hand asks there.
package walletrun

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/rollups/serving"
)

// The file: a header, then sections, each from a multiple of pageSize on. Numbers
// are little-endian.
//
//	txs     transaction hashes, shared by the fills of one
//	wide    what does not fit into rows
//	rows    fills by wallet, then in the order of serving.Fill.Compare
//	tokens  a serving.TokenSum per token of each heavy wallet, by token
//	days    a serving.DaySum per day of each heavy wallet, by day
//	heavy   which wallets are heavy and where their sums begin; the last names none
//	index   where the rows of each wallet begin, and where the last one's end
const (
	magic      = "pmx wallet run\r\n"
	version    = 1
	pageSize   = 4096
	rowSize    = 32
	wideSize   = 32
	hashSize   = 32
	tokenSize  = 80
	daySize    = 40
	heavySize  = 24
	indexSize  = 8
	headerSize = pageSize
)

// The sections in the order of the file.
const (
	txs = iota
	wide
	rows
	tokens
	days
	heavy
	index
	sections
)

// noTx is the ordinal of a fill without a transaction hash.
const noTx = 1<<32 - 1

// Covers says which facts a file holds.
type Covers struct {
	Batch  int64  // the last import in it; −1: none
	Ledger uint64 // a fingerprint of the imports up to it, so that another history is told apart
	Fills  int64
}

// header is what a file begins with.
type header struct {
	covers Covers
	counts [sections]uint64 // entries
}

var entrySize = [sections]uint64{txs: hashSize, rows: rowSize, wide: wideSize, tokens: tokenSize, days: daySize, heavy: heavySize, index: indexSize}

// ErrFormat is returned for a file that is no run, is damaged, or was written by
// another version: it is made anew.
var ErrFormat = errors.New("not a wallet run of this version")

// span is where a section lies.
func (h *header) span(section int) (from, to uint64) {
	from = headerSize
	for s := range section {
		from += padded(h.counts[s] * entrySize[s])
	}
	return from, from + h.counts[section]*entrySize[section]
}

func padded(n uint64) uint64 { return (n + pageSize - 1) / pageSize * pageSize }

// size is that of the whole file.
func (h *header) size() uint64 {
	_, to := h.span(index)
	return to
}

func (h *header) encode() []byte {
	b := append(make([]byte, 0, headerSize), magic...)
	b = binary.LittleEndian.AppendUint64(b, version)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.covers.Batch))
	b = binary.LittleEndian.AppendUint64(b, h.covers.Ledger)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.covers.Fills))
	for _, n := range h.counts {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	return b[:headerSize]
}

func decodeHeader(b []byte) (h header, err error) {
	const sum = len(magic) + 8*(4+sections)
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return h, ErrFormat
	}
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[len(magic)+8*i:]) }
	if v := field(0); v != version {
		return h, fmt.Errorf("version %d: %w", v, ErrFormat)
	}
	if binary.LittleEndian.Uint64(b[sum:]) != xxhash.Sum64(b[:sum]) {
		return h, fmt.Errorf("header checksum: %w", ErrFormat)
	}
	h.covers = Covers{Batch: int64(field(1)), Ledger: field(2), Fills: int64(field(3))}
	for s := range h.counts {
		h.counts[s] = field(4 + s)
	}
	if h.counts[index] == 0 {
		return h, fmt.Errorf("no index: %w", ErrFormat)
	}
	return h, nil
}

// row is a fill as it lies in a file.
//
//	word 0: time in µs 56 bits; wide 1, repeat 4, role 2, side 1
//	word 1: ordinal of the transaction 32; token 32
//	word 2: shares 40; log index + 1 16 (0: none); fee, upper 8
//	word 3: dollars 40; fee, lower 24
//
// Of a wide row, word 2 is the place of its amounts, log index and repeat.
type row [4]uint64

const (
	wideBit    = 1 << 7
	bits40     = 1<<40 - 1
	mostFee    = 1<<32 - 1
	mostLog    = 1<<16 - 2
	mostRepeat = 15
	mostTS     = 1<<56 - 1
)

func getRow(b []byte) (r row) {
	_ = b[rowSize-1]
	for i := range r {
		r[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return r
}

func (r *row) append(b []byte) []byte {
	for _, w := range r {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

func (r *row) ts() int64       { return int64(r[0] >> 8) }
func (r *row) side() data.Side { return data.Side(r[0] & 1) }
func (r *row) wide() bool      { return r[0]&wideBit != 0 }
func (r *row) token() int32    { return int32(uint32(r[1])) }
func (r *row) tx() uint32      { return uint32(r[1] >> 32) }

// moved is the row where its transaction and wide part lie further on.
func (r *row) moved(txBase uint32, wideBase uint64) row {
	m := *r
	if m.tx() != noTx {
		m[1] += uint64(txBase) << 32
	}
	if m.wide() {
		m[2] += wideBase
	}
	return m
}

// fits tells whether a fill needs no wide part.
func fits(f *serving.Fill) bool {
	return uint64(f.Shares) <= bits40 && uint64(f.USD) <= bits40 && uint64(f.Fee) <= mostFee &&
		f.LogIndex >= data.NoIndex && f.LogIndex <= mostLog && f.Repeat >= 0 && f.Repeat <= mostRepeat
}

// errTime is returned for a fill whose time no row can hold, which no import lets
// pass.
var errTime = errors.New("a fill's time is out of range")

// pack makes a row of f; wideAt is the place of its wide part where it needs one.
func pack(f *serving.Fill, tx uint32, wideAt uint64) (row, error) {
	if f.TS < 0 || f.TS > mostTS || f.Token < 0 {
		return row{}, fmt.Errorf("%d µs, token %d: %w", f.TS, f.Token, errTime)
	}
	r := row{uint64(f.TS)<<8 | uint64(f.Role&3)<<1 | uint64(f.Side&1), uint64(tx)<<32 | uint64(uint32(f.Token))}
	if !fits(f) {
		r[0] |= wideBit
		r[2] = wideAt
		return r, nil
	}
	fee := uint64(f.Fee)
	r[0] |= uint64(f.Repeat) << 3
	r[2] = uint64(f.Shares)<<24 | uint64(f.LogIndex+1)<<8 | fee>>24
	r[3] = uint64(f.USD)<<24 | fee&(1<<24-1)
	return r, nil
}

// unpack gives the fill without its transaction; wide is its wide part.
func (r *row) unpack(wide []byte) serving.Fill {
	f := serving.Fill{TS: r.ts(), Token: r.token(), Side: r.side(), Role: data.Role(r[0] >> 1 & 3)}
	if r.wide() {
		f.Shares = data.Micro(binary.LittleEndian.Uint64(wide))
		f.USD = data.Micro(binary.LittleEndian.Uint64(wide[8:]))
		f.Fee = data.Micro(binary.LittleEndian.Uint64(wide[16:]))
		f.LogIndex = int32(binary.LittleEndian.Uint32(wide[24:]))
		f.Repeat = int16(binary.LittleEndian.Uint16(wide[28:]))
		return f
	}
	f.Repeat = int16(r[0] >> 3 & 15)
	f.Shares = data.Micro(r[2] >> 24)
	f.LogIndex = int32(r[2]>>8&(1<<16-1)) - 1
	f.USD = data.Micro(r[3] >> 24)
	f.Fee = data.Micro(r[2]&(1<<8-1)<<24 | r[3]&(1<<24-1))
	return f
}

func appendWide(b []byte, f *serving.Fill) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Shares))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.USD))
	b = binary.LittleEndian.AppendUint64(b, uint64(f.Fee))
	b = binary.LittleEndian.AppendUint32(b, uint32(f.LogIndex))
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Repeat))
	return append(b, 0, 0)
}

func appendToken(b []byte, s *serving.TokenSum) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(uint32(s.Token)))
	for _, n := range [...]int64{s.Fills, int64(s.BuyShares), int64(s.SellShares), int64(s.FeeShares), int64(s.BuyUSD),
		int64(s.SellUSD), int64(s.FeeUSD), s.FirstTS, s.LastTS} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func getToken(b []byte) serving.TokenSum {
	_ = b[tokenSize-1]
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	m := func(i int) data.Micro { return data.Micro(n(i)) }
	return serving.TokenSum{Token: int32(n(0)), Fills: n(1), BuyShares: m(2), SellShares: m(3), FeeShares: m(4), BuyUSD: m(5),
		SellUSD: m(6), FeeUSD: m(7), FirstTS: n(8), LastTS: n(9)}
}

func appendDay(b []byte, s *serving.DaySum) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(uint32(s.Day)))
	for _, n := range [...]int64{s.Fills, int64(s.BuyUSD), int64(s.SellUSD), int64(s.FeeUSD)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	return b
}

func getDay(b []byte) serving.DaySum {
	_ = b[daySize-1]
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	return serving.DaySum{Day: int32(n(0)), Fills: n(1), BuyUSD: data.Micro(n(2)), SellUSD: data.Micro(n(3)), FeeUSD: data.Micro(n(4))}
}
