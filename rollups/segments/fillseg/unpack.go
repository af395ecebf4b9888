package fillseg

import (
	"encoding/binary"
	"math/bits"

	"pmx/data"
)

// unpack reads n rows that block.pack wrote; wordSize bytes follow them in b. Whatever the bytes are, it reads none
// outside of b, and ids are valid numbers; it panics with a *segments.Damage if the rows are not as long as they say.
func (k *block) unpack(r segment, b []byte, n int) {
	in := bitReader{segment: r, b: b}
	k.unpackPlaces(&in, n)
	low, width := in.take(idLen), in.width()
	for i, v := range in.column(n, width) {
		k.other[i] = int32((low + v) & maxID)
	}
	low, width = in.take(roleLen), in.width()
	for i, v := range in.column(n, width) {
		k.roleSide[i] = uint8((low + v) & (1<<roleLen - 1))
	}
	in.amounts(k.shares[:n], shareUnits[in.take(2)])
	k.unpackDollars(&in)
	k.unpackRest(&in)
	if (in.at+7)/8 != in.end/8 {
		panic(r.Damaged("rows: %d of %d bits are used", in.at, in.end))
	}
}

// unpackPlaces reads the times and the places of hashes only.
func (k *block) unpackPlaces(in *bitReader, n int) {
	if n < 1 || n > blockRows || len(in.b) < 4+wordSize {
		panic(in.Damaged("rows: %d in %d bytes", n, len(in.b)))
	}
	k.n, in.at, in.end = n, 32, uint(len(in.b)-wordSize)*8
	unit, first := int64(second), int64(0)
	if in.take(1) == 0 {
		first = int64(in.take(secondLen)) * second
	} else {
		unit, first = 1, int64(in.take(timeLen))
	}
	k.ts[0] = epoch*second + first
	width, ts := in.width(), k.ts[0]
	for i, step := range in.column(n-1, width) {
		ts += int64(step) * unit
		k.ts[i+1] = ts
	}
	k.unpackTxs(in, binary.LittleEndian.Uint32(in.b))
}

func (k *block) unpackTxs(in *bitReader, base uint32) {
	n, way := k.n, in.take(txWayLen)
	if way == txNone {
		for i := range n {
			k.tx[i] = noTx
		}
		return
	}
	width := in.width()
	switch way {
	case txPlain:
		for i, v := range in.column(n, width) {
			k.tx[i] = base + uint32(v)
		}
	case txSteps:
		for i, v := range in.column(n, width) {
			base += uint32(v)
			k.tx[i] = base
		}
	case txSome:
		for i, v := range in.column(n, width) {
			k.tx[i] = noTx
			if v > 0 {
				k.tx[i] = base + uint32(v) - 1
			}
		}
	case txChain:
		next, members := base+uint32(in.take(32)), in.take(uint(n))
		rest := in.column(n-bits.OnesCount64(members), width)
		for i := range n {
			if members>>i&1 != 0 {
				k.tx[i] = next
				next++
			} else {
				k.tx[i], rest = base+uint32(rest[0]), rest[1:]
			}
		}
	default:
		panic(in.Damaged("rows: hashes in the way %d", way))
	}
}

// amounts reads what packAmounts wrote.
func (r *bitReader) amounts(list []data.Micro, unit data.Micro) {
	low, width := data.Micro(r.signed()), r.width()
	for i, v := range r.column(len(list), width) {
		list[i] = (low + data.Micro(v)) * unit
	}
	r.exceptions(list)
}

// exceptions reads what packExceptions wrote.
func (r *bitReader) exceptions(list []data.Micro) {
	if r.take(1) == 0 {
		return
	}
	n, low, width := r.take(placeLen), data.Micro(r.signed()), r.width()
	for range n {
		at := int(r.take(placeLen))
		if at >= len(list) {
			panic(r.Damaged("rows: an exception of row %d of %d", at, len(list)))
		}
		list[at] = low + data.Micro(r.take(width))
	}
}

func (k *block) unpackDollars(in *bitReader) {
	n, unit := k.n, in.take(pricesLen)
	usd, shares := k.usd[:n], k.shares[:n]
	if unit == noPrices {
		in.amounts(usd, 1)
		return
	}
	low, width, anyRest := in.take(priceLen), in.width(), in.take(1)
	prices := in.column(n, width)
	switch unit { // a division by a constant takes a fraction of the time
	case 0:
		for i, p := range prices {
			usd[i] = data.Micro(uint64(shares[i]) * (low + p) / 100)
		}
	case 1:
		for i, p := range prices {
			usd[i] = data.Micro(uint64(shares[i]) * (low + p) / 1_000)
		}
	default:
		for i, p := range prices {
			usd[i] = data.Micro(uint64(shares[i]) * (low + p) / 10_000)
		}
	}
	if anyRest != 0 {
		for i, rest := range in.column(n, 1) {
			usd[i] += data.Micro(rest)
		}
	}
	in.exceptions(usd)
}

func (k *block) unpackRest(in *bitReader) {
	n := k.n
	if in.take(1) != 0 {
		in.amounts(k.fee[:n], 1)
	} else {
		clear(k.fee[:n])
	}
	if in.take(1) != 0 {
		unpackFromLowest(in, k.logIndex[:n], logLen)
	} else {
		for i := range n {
			k.logIndex[i] = data.NoIndex
		}
	}
	if in.take(1) != 0 {
		unpackFromLowest(in, k.repeat[:n], repeatLen)
	} else {
		for i := range n {
			k.repeat[i] = 1
		}
	}
}

// unpackFromLowest is the inverse of packFromLowest. Of a damaged block it keeps the lower bits.
func unpackFromLowest[T int16 | int32](in *bitReader, column []T, size uint) {
	low, width := in.take(size), in.width()
	for i, v := range in.column(len(column), width) {
		column[i] = T(low + v)
	}
}
