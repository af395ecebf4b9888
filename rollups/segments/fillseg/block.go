package fillseg

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// blockRows is how many rows are packed together; the last block of a key may have fewer.
const blockRows = 64

// block is a block of rows, unpacked: consecutive rows of one key.
type block struct {
	n                int
	ts               [blockRows]int64 // unix µs
	shares, usd, fee [blockRows]data.Micro
	tx               [blockRows]uint32 // place of the transaction's hash, or noTx
	other, logIndex  [blockRows]int32  // other is the id that is not the key
	repeat           [blockRows]int16
	roleSide         [blockRows]uint8 // the role, and in the last bit the side
}

// add adds a row.
func (k *block) add(f *serving.Fill, tx uint32, other int32) {
	i := k.n
	k.n++
	k.ts[i], k.shares[i], k.usd[i], k.fee[i] = f.TS, f.Shares, f.USD, f.Fee
	k.tx[i], k.other[i], k.logIndex[i], k.repeat[i] = tx, other, f.LogIndex, f.Repeat
	k.roleSide[i] = uint8(f.Role&3)<<1 | uint8(f.Side)&1
}

// get sets all fields of f except its transaction and its ids.
func (k *block) get(i int, f *serving.Fill) {
	f.TS, f.Shares, f.USD, f.Fee = k.ts[i], k.shares[i], k.usd[i], k.fee[i]
	f.LogIndex, f.Repeat = k.logIndex[i], k.repeat[i]
	f.Role, f.Side = data.Role(k.roleSide[i]>>1), data.Side(k.roleSide[i]&1)
}

// A block is packed column by column: each column says how many bits its numbers take, and what is to be
// added to them, the smallest one. So a column of equal numbers takes no bits.
//
//	the smallest place of a transaction's hash, in four bytes, so that it can be changed where rows are copied
//	times     the first one, then the difference of each to the one before
//	hashes    their places, in one of the ways of txWay
//	ids       the ids that are not the key
//	roles     and sides
//	shares    and dollars as amounts; dollars mostly as prices
//	fees, log indexes, repeats: a bit tells whether they differ from 0, none and 1
//
// An amount that does not fit the way of its column is an exception: its place and the amount follow the column.

// txWay is how the places of hashes are packed.
const (
	txNone   = iota // no row has a hash
	txPlain         // places
	txSteps         // differences to the one before, which are not negative
	txChain         // places, except of rows that have the hash behind the one of such a row before: a bit says which
	txSome          // places, or 0 for a row without hash
	txWayLen = 3
)

// The widths of fields in the headers of columns.
const (
	widthLen  = 7
	secondLen = 30 // a time since epoch, in seconds
	timeLen   = 50 // the same in µs
	roleLen   = 3
	idLen     = 28
	priceLen  = 14
	logLen    = 32
	repeatLen = 16
	placeLen  = 6 // a row of the block, or how many exceptions there are
)

// pack appends the block. The chain of hashes is only looked for if asked: that takes time.
func (k *block) pack(b []byte, chains bool) []byte {
	base := k.smallestTx()
	w := bitWriter{b: binary.LittleEndian.AppendUint32(b, base)}
	k.packTimes(&w)
	k.packTxs(&w, base, chains)
	n := k.n
	low, high := slices.Min(k.other[:n]), slices.Max(k.other[:n])
	width := uint(bits.Len32(uint32(high - low)))
	w.put(uint64(low), idLen)
	w.put(uint64(width), widthLen)
	for _, id := range k.other[:n] {
		w.put(uint64(id-low), width)
	}
	lowRole, highRole := slices.Min(k.roleSide[:n]), slices.Max(k.roleSide[:n])
	width = uint(bits.Len8(highRole - lowRole))
	w.put(uint64(lowRole), roleLen)
	w.put(uint64(width), widthLen)
	for _, v := range k.roleSide[:n] {
		w.put(uint64(v-lowRole), width)
	}
	k.packShares(&w)
	k.packDollars(&w)
	k.packRest(&w)
	return w.end()
}

// smallestTx is the smallest place of a hash; 0 if there is none.
func (k *block) smallestTx() uint32 {
	low := uint32(noTx)
	for _, tx := range k.tx[:k.n] {
		low = min(low, tx)
	}
	if low == noTx {
		return 0
	}
	return low
}

// hasTx reports whether a row has a hash.
func (k *block) hasTx() bool {
	for _, tx := range k.tx[:k.n] {
		if tx != noTx {
			return true
		}
	}
	return false
}

func (k *block) packTimes(w *bitWriter) {
	unit := int64(second)
	for _, ts := range k.ts[:k.n] {
		if ts%second != 0 {
			unit = 1
			break
		}
	}
	var steps [blockRows]uint64
	all := uint64(0)
	for i := 1; i < k.n; i++ {
		steps[i] = uint64(k.ts[i]/unit - k.ts[i-1]/unit)
		all |= steps[i]
	}
	width := uint(bits.Len64(all))
	if unit == 1 {
		w.put(1, 1)
		w.put(uint64(k.ts[0]-epoch*second), timeLen)
	} else {
		w.put(0, 1)
		w.put(uint64(k.ts[0]/second-epoch), secondLen)
	}
	w.put(uint64(width), widthLen)
	for _, step := range steps[1:k.n] {
		w.put(step, width)
	}
}

// packTxs packs the places of hashes.
func (k *block) packTxs(w *bitWriter, base uint32, chains bool) {
	list := k.tx[:k.n]
	high, none, falls, steps, last := uint32(0), 0, false, uint32(0), base
	for _, tx := range list {
		if tx == noTx {
			none++
			continue
		}
		high = max(high, tx-base)
		falls = falls || tx < last
		steps |= tx - last
		last = tx
	}
	width := uint(bits.Len32(high))
	switch {
	case none == k.n:
		w.put(txNone, txWayLen)
	case none > 0:
		packTxSome(w, list, base, uint(bits.Len64(uint64(high)+1)))
	case !falls && uint(bits.Len32(steps)) < width:
		packTxSteps(w, list, base, uint(bits.Len32(steps)))
	case chains && width > 2 && packTxChain(w, list, base, width):
	default:
		packTxPlain(w, list, base, width)
	}
}

func packTxPlain(w *bitWriter, list []uint32, base uint32, width uint) {
	w.put(txPlain, txWayLen)
	w.put(uint64(width), widthLen)
	for _, tx := range list {
		w.put(uint64(tx-base), width)
	}
}

func packTxSome(w *bitWriter, list []uint32, base uint32, width uint) {
	w.put(txSome, txWayLen)
	w.put(uint64(width), widthLen)
	for _, tx := range list {
		place := uint64(0)
		if tx != noTx {
			place = uint64(tx-base) + 1
		}
		w.put(place, width)
	}
}

func packTxSteps(w *bitWriter, list []uint32, last uint32, width uint) {
	w.put(txSteps, txWayLen)
	w.put(uint64(width), widthLen)
	for _, tx := range list {
		w.put(uint64(tx-last), width)
		last = tx
	}
}

// packTxChain reports whether it packed the places in fewer bits than so many each.
func packTxChain(w *bitWriter, list []uint32, base uint32, width uint) bool {
	first, members := chain(list)
	rest, n := uint(bits.Len32(highest(list, base, members))), uint(len(list))
	if members == 0 || 32+n+(n-uint(bits.OnesCount64(members)))*rest >= n*width {
		return false
	}
	w.put(txChain, txWayLen)
	w.put(uint64(rest), widthLen)
	w.put(uint64(first-base), 32)
	w.put(members, n)
	for i, tx := range list {
		if members>>i&1 == 0 {
			w.put(uint64(tx-base), rest)
		}
	}
	return true
}

// chainReach is how many rows may lie between two of a chain.
const chainReach = 8

// chain finds hashes that follow each other among those of others, as the hashes gathered for a wallet do: the
// first one, and a bit for each row of the chain.
func chain(list []uint32) (first uint32, members uint64) {
	var firsts [blockRows]uint32
	var lengths [blockRows]uint8
	most := uint8(1)
	for i, tx := range list {
		firsts[i], lengths[i] = tx, 1
		for j := i - 1; j >= max(0, i-chainReach); j-- {
			if list[j]+1 == tx {
				firsts[i], lengths[i] = firsts[j], lengths[j]+1
				break
			}
		}
		if lengths[i] > most {
			most, first = lengths[i], firsts[i]
		}
	}
	if most == 1 {
		return 0, 0
	}
	next := first
	for i, tx := range list {
		if tx == next {
			members |= 1 << i
			next++
		}
	}
	return first, members
}

// highest is the highest place from base on of the rows that are no members.
func highest(list []uint32, base uint32, members uint64) (high uint32) {
	for i, tx := range list {
		if members>>i&1 == 0 {
			high = max(high, tx-base)
		}
	}
	return high
}

// packAmounts packs amounts in a unit, except for those of a bit set, which are exceptions.
func packAmounts(w *bitWriter, list []data.Micro, unit data.Micro, exceptions uint64) {
	low, high, some := data.Micro(0), data.Micro(0), false
	for i, m := range list {
		if exceptions>>i&1 != 0 {
			continue
		}
		if !some {
			low, high, some = m, m, true
		}
		low, high = min(low, m), max(high, m)
	}
	low, high = low/unit, high/unit
	width := uint(bits.Len64(uint64(high - low)))
	w.signed(int64(low))
	w.put(uint64(width), widthLen)
	for i, m := range list {
		if exceptions>>i&1 != 0 {
			m = low * unit
		}
		w.put(uint64(m/unit-low), width)
	}
	packExceptions(w, list, exceptions)
}

// packExceptions packs the amounts of a bit set as they are.
func packExceptions(w *bitWriter, list []data.Micro, exceptions uint64) {
	if exceptions == 0 {
		w.put(0, 1)
		return
	}
	w.put(1, 1)
	w.put(uint64(bits.OnesCount64(exceptions)), placeLen)
	var alone [blockRows]data.Micro
	n := 0
	for left := exceptions; left != 0; left &= left - 1 {
		alone[n] = list[bits.TrailingZeros64(left)]
		n++
	}
	low, high := slices.Min(alone[:n]), slices.Max(alone[:n])
	width := uint(bits.Len64(uint64(high - low)))
	w.signed(int64(low))
	w.put(uint64(width), widthLen)
	i := 0
	for left := exceptions; left != 0; left &= left - 1 {
		w.put(uint64(bits.TrailingZeros64(left)), placeLen)
		w.put(uint64(alone[i]-low), width)
		i++
	}
}

// mostExceptions is how many rows of n may be exceptions: each takes more than without its column.
func mostExceptions(n int) int { return n * 3 / 8 }

// Most numbers of shares are whole hundredths.
var shareUnits = [...]data.Micro{1, 10_000, 1_000_000, 1}

func (k *block) packShares(w *bitWriter) {
	list, odd, parts := k.shares[:k.n], uint64(0), false
	for i, m := range list {
		if m%10_000 != 0 {
			odd |= 1 << i
		}
		parts = parts || m%1_000_000 != 0
	}
	unit := 1
	switch {
	case !parts:
		unit = 2
	case bits.OnesCount64(odd) > mostExceptions(k.n):
		unit, odd = 0, 0
	}
	w.put(uint64(unit), 2)
	packAmounts(w, list, shareUnits[unit], odd)
}

// priceUnits are in how many parts of a dollar the prices of a block are given.
var priceUnits = [...]uint64{100, 1_000, 10_000}

const (
	pricesLen   = 2                       // of the header of dollars: which unit, or none
	noPrices    = uint64(len(priceUnits)) // dollars are given as amounts
	maxPrice    = 1<<priceLen - 1         // in 10,000ths
	maxOfPrices = data.Micro(1) << 40     // shares and dollars of a price
)

// price returns the price in 10,000ths at which shares cost so many dollars, rounded down, or a millionth more:
// the rest. False if there is none.
func price(shares, usd data.Micro) (p, rest uint64, ok bool) {
	if shares <= 0 || shares >= maxOfPrices || usd < 0 || usd >= maxOfPrices {
		return 0, 0, false
	}
	p = (uint64(usd)*10_000 + uint64(shares)/2) / uint64(shares)
	rest = uint64(usd) - uint64(shares)*p/10_000 // what is below is a huge number
	return p, rest, p <= maxPrice && rest <= 1
}

// packDollars packs dollars as prices, from which they are computed with the shares; or as amounts, if
// too many are not a price times shares.
func (k *block) packDollars(w *bitWriter) {
	var prices, rests [blockRows]uint64
	alone, anyRest, low, high, hundredths, thousandths := uint64(0), uint64(0), uint64(maxPrice), uint64(0), true, true
	for i := range k.n {
		p, rest, ok := price(k.shares[i], k.usd[i])
		if !ok {
			alone |= 1 << i
			continue
		}
		prices[i], rests[i] = p, rest
		anyRest |= rest
		low, high = min(low, p), max(high, p)
		hundredths, thousandths = hundredths && p%100 == 0, thousandths && p%10 == 0
	}
	if bits.OnesCount64(alone) > mostExceptions(k.n) {
		w.put(noPrices, pricesLen)
		packAmounts(w, k.usd[:k.n], 1, 0)
		return
	}
	unit, div := uint64(2), uint64(1)
	if hundredths {
		unit, div = 0, 100
	} else if thousandths {
		unit, div = 1, 10
	}
	low, high = low/div, high/div
	width := uint(bits.Len64(high - low))
	w.put(unit, pricesLen)
	w.put(low, priceLen)
	w.put(uint64(width), widthLen)
	w.put(anyRest, 1)
	for i, p := range prices[:k.n] {
		if alone>>i&1 != 0 {
			p = low * div
		}
		w.put(p/div-low, width)
	}
	for _, rest := range rests[:k.n] {
		w.put(rest, uint(anyRest))
	}
	packExceptions(w, k.usd[:k.n], alone)
}

// packRest packs what is mostly the same.
func (k *block) packRest(w *bitWriter) {
	fees, logs, repeats := data.Micro(0), int32(0), int16(0)
	for i := range k.n {
		fees |= k.fee[i]
		logs |= k.logIndex[i] ^ data.NoIndex
		repeats |= k.repeat[i] ^ 1
	}
	flag := func(some bool) bool {
		if some {
			w.put(1, 1)
		} else {
			w.put(0, 1)
		}
		return some
	}
	if flag(fees != 0) {
		packAmounts(w, k.fee[:k.n], 1, 0)
	}
	if flag(logs != 0) {
		packFromLowest(w, k.logIndex[:k.n], logLen)
	}
	if flag(repeats != 0) {
		packFromLowest(w, k.repeat[:k.n], repeatLen)
	}
}

// packFromLowest packs the lowest number of a column in size bits, then how far each is above it.
func packFromLowest[T int16 | int32](w *bitWriter, column []T, size uint) {
	low := int64(slices.Min(column))
	width := uint(bits.Len64(uint64(int64(slices.Max(column)) - low)))
	w.put(uint64(low), size)
	w.put(uint64(width), widthLen)
	for _, v := range column {
		w.put(uint64(int64(v)-low), width)
	}
}
