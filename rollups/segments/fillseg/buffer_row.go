package fillseg

import (
	"encoding/binary"

	"pmx/data"
	"pmx/rollups/serving"
)

// row is a fill in a buffer, in four words of 64, 64, 64 and 32 bits.
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

const (
	sideBit     = 1
	wideBit     = 2
	maxUSD      = 1<<38 - 1 // of shares too
	maxFee      = 1<<39 - 1 // and −maxFee
	maxLogIndex = 1<<14 - 2
	wideSize    = 40
)

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

// fits reports whether a fill needs no wide part.
func fits(f *serving.Fill) bool {
	return f.TS%second == 0 && uint64(f.Shares) <= maxUSD && uint64(f.USD) <= maxUSD && -maxFee <= f.Fee && f.Fee <= maxFee &&
		f.LogIndex >= data.NoIndex && f.LogIndex <= maxLogIndex && f.Repeat == 1
}

// pack makes a row of f; wideAt is the place of its wide part if it needs one.
func (k *kind) pack(f *serving.Fill, tx uint32, wideAt uint64) (row, error) {
	if err := k.check(f); err != nil {
		return row{}, err
	}
	at, other := f.TS/second-epoch, k.other(f)
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
