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
	version    = 2
	pageSize   = 4096
	rowSize    = 28
	wideSize   = 40
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

// row is a fill as it lies in a file, in four words of 64, 64, 64 and 32 bits.
//
//	word 0: ordinal of the transaction 32, seconds since epoch 30, wide 1, side 1
//	word 1: shares, lower 34; token 28; role 2
//	word 2: dollars 38; fee, lower 22; shares, upper 4
//	word 3: fee, upper 18; log index + 1 14 (0: none)
//
// A row that is not wide has whole seconds and is not repeated. Of a wide one, the
// place of shares holds that of the rest.
type row struct {
	w0, w1, w2 uint64
	w3         uint32
}

// epoch is the second that rows count from: imports refuse what is older.
const epoch = 1_577_836_800 // 2020-01-01

const (
	second    = 1_000_000
	sideBit   = 1
	wideBit   = 2
	mostTime  = 1<<30 - 1 // in seconds, until 2054
	mostToken = 1<<28 - 1
	mostUSD   = 1<<38 - 1 // of shares too
	mostFee   = 1<<40 - 1
	mostLog   = 1<<14 - 2
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
func (r *row) seconds() int64  { return int64(r.w0>>2&mostTime) + epoch }
func (r *row) side() data.Side { return data.Side(r.w0 & sideBit) }
func (r *row) wide() bool      { return r.w0&wideBit != 0 }
func (r *row) tx() uint32      { return uint32(r.w0 >> 32) }
func (r *row) token() int32    { return int32(r.w1 >> 2 & mostToken) }
func (r *row) role() data.Role { return data.Role(r.w1 & 3) }

// shares of a wide row are the place of its wide part.
func (r *row) shares() uint64     { return r.w1>>30 | r.w2&15<<34 }
func (r *row) setShares(v uint64) { r.w1, r.w2 = r.w1&(1<<30-1)|v<<30, r.w2&^15|v>>34 }
func (r *row) usd() uint64        { return r.w2 >> 26 }
func (r *row) fee() uint64        { return r.w2>>4&(1<<22-1) | uint64(r.w3>>14)<<22 }
func (r *row) logIndex() int32    { return int32(r.w3&(1<<14-1)) - 1 }

// moved is the row where its transaction and wide part lie further on.
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

// fits tells whether a fill needs no wide part.
func fits(f *serving.Fill) bool {
	return f.TS%second == 0 && uint64(f.Shares) <= mostUSD && uint64(f.USD) <= mostUSD && uint64(f.Fee) <= mostFee &&
		f.LogIndex >= data.NoIndex && f.LogIndex <= mostLog && f.Repeat == 1
}

// ErrRange is returned for a fill that no row can hold, which no import lets pass.
var ErrRange = errors.New("out of a wallet run's range")

// pack makes a row of f; wideAt is the place of its wide part where it needs one.
func pack(f *serving.Fill, tx uint32, wideAt uint64) (row, error) {
	at := f.TS/second - epoch
	if f.TS < epoch*second || at > mostTime || f.Token < 0 || f.Token > mostToken || wideAt > mostUSD {
		return row{}, fmt.Errorf("fill at %d µs of token %d: %w", f.TS, f.Token, ErrRange)
	}
	r := row{w0: uint64(tx)<<32 | uint64(at)<<2 | uint64(f.Side&sideBit), w1: uint64(f.Token)<<2 | uint64(f.Role&3)}
	if !fits(f) {
		r.w0 |= wideBit
		r.setShares(wideAt)
		return r, nil
	}
	fee := uint64(f.Fee)
	r.w2 = uint64(f.USD)<<26 | fee&(1<<22-1)<<4
	r.w3 = uint32(fee>>22)<<14 | uint32(f.LogIndex+1)
	r.setShares(uint64(f.Shares))
	return r, nil
}

// unpack gives the fill without its transaction; wide is its wide part.
func (r *row) unpack(wide []byte) (f serving.Fill) {
	r.unpackTo(&f, wide)
	return f
}

// unpackTo sets all of f but its transaction.
func (r *row) unpackTo(f *serving.Fill, wide []byte) {
	f.Token, f.Side, f.Role = r.token(), r.side(), r.role()
	if r.wide() {
		amount := func(i int) data.Micro { return data.Micro(binary.LittleEndian.Uint64(wide[8*i:])) }
		f.TS = int64(amount(0))
		f.Shares, f.USD, f.Fee = amount(1), amount(2), amount(3)
		f.LogIndex = int32(binary.LittleEndian.Uint32(wide[32:]))
		f.Repeat = int16(binary.LittleEndian.Uint16(wide[36:]))
		return
	}
	f.TS, f.Repeat, f.LogIndex = r.seconds()*second, 1, r.logIndex()
	f.Shares, f.USD, f.Fee = data.Micro(r.shares()), data.Micro(r.usd()), data.Micro(r.fee())
}

func appendWide(b []byte, f *serving.Fill) []byte {
	for _, n := range [...]int64{f.TS, int64(f.Shares), int64(f.USD), int64(f.Fee)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
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
