package fillseg

import (
	"encoding/binary"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// The sums of a heavy wallet. Each begins with how much its token, or day, is larger than the one before,
// and its number of fills. Then comes a byte that says which amounts are not 0, and these amounts.

// wholeSeconds in the byte of amounts says that both times of a sum are whole seconds, as nearly all are.
const wholeSeconds = 1 << 6

// appendTokens writes sums in order of token.
func appendTokens(b []byte, sums []serving.TokenSum) []byte {
	last := data.TokenID(0)
	for i := range sums {
		s := &sums[i]
		b = binary.AppendUvarint(b, uint64(s.Token-last))
		b = binary.AppendUvarint(b, uint64(s.Fills))
		last = s.Token
		unit, flags := int64(1), byte(0)
		if s.FirstTS%second == 0 && s.LastTS%second == 0 {
			unit, flags = second, wholeSeconds
		}
		b = appendAmounts(b, flags, s.BuyShares, s.SellShares, s.FeeShares, s.BuyUSD, s.SellUSD, s.FeeUSD)
		b = binary.AppendUvarint(b, uint64(s.FirstTS/unit-epoch*second/unit))
		b = binary.AppendUvarint(b, uint64(s.LastTS/unit-s.FirstTS/unit))
	}
	return b
}

// appendDays writes sums in order of day.
func appendDays(b []byte, sums []serving.DaySum) []byte {
	last := int32(0)
	for i := range sums {
		s := &sums[i]
		b = binary.AppendUvarint(b, uint64(s.Day-last))
		b = binary.AppendUvarint(b, uint64(s.Fills))
		b = appendAmounts(b, 0, s.BuyUSD, s.SellUSD, s.FeeUSD)
		last = s.Day
	}
	return b
}

// appendAmounts writes a byte with flags and a bit for each amount that is not 0, and these amounts.
func appendAmounts(b []byte, flags byte, amounts ...data.Micro) []byte {
	at := len(b)
	b = append(b, flags)
	for i, m := range amounts {
		if m != 0 {
			b[at] |= 1 << i
			b = appendAmount(b, m)
		}
	}
	return b
}

// Most amounts are whole hundredths of a share or of a cent. An amount is written as a number whose lower
// two bits name one of these powers of ten, by which the rest is to be multiplied; the last code stands for
// the amount as it is, in a number of its own.
var amountUnits = [...]data.Micro{1, 100, 10_000}

const (
	amountAlone = uint64(len(amountUnits))
	maxAmount   = 1 << 60 // what fits next to the two bits, and its negative
)

func appendAmount(b []byte, m data.Micro) []byte {
	if m >= maxAmount || m <= -maxAmount {
		return binary.AppendVarint(binary.AppendUvarint(b, amountAlone), int64(m))
	}
	unit := len(amountUnits) - 1
	for m%amountUnits[unit] != 0 {
		unit--
	}
	m /= amountUnits[unit]
	return binary.AppendUvarint(b, uint64(m<<1^m>>63)<<2|uint64(unit))
}

// compact is the next amount as appendAmount wrote it.
func (r *sumReader) compact() data.Micro {
	v := r.unsigned()
	if v&3 == amountAlone {
		return r.amount()
	}
	m := v >> 2
	return (data.Micro(m>>1) ^ -data.Micro(m&1)) * amountUnits[v&3]
}

// Dollars are mostly shares at a price of a 10,000th, rounded down, or a millionth more. They are written as such a price in
// hundredths or in 10,000ths, twice, plus one for the millionth; or as an amount, if they have no price. The lower two bits
// say which; a number above those of prices stands for the amount as it is, in a number of its own.
const (
	asMicros = iota
	asHundreds
	asPrice
	asHundredths
	dollarsAlone = (2*maxPrice+2)<<2 | asPrice
)

// appendDollars writes dollars that so many shares cost.
func appendDollars(b []byte, usd, shares data.Micro) []byte {
	if p, rest, ok := price(shares, usd); ok {
		if p%100 == 0 {
			return binary.AppendUvarint(b, (p/100<<1|rest)<<2|asHundredths)
		}
		return binary.AppendUvarint(b, (p<<1|rest)<<2|asPrice)
	}
	if usd >= maxAmount || usd <= -maxAmount {
		return binary.AppendVarint(binary.AppendUvarint(b, dollarsAlone), int64(usd))
	}
	unit := uint64(asMicros)
	if usd%100 == 0 {
		unit, usd = asHundreds, usd/100
	}
	return binary.AppendUvarint(b, uint64(usd<<1^usd>>63)<<2|unit)
}

// dollars is the next amount as appendDollars wrote it.
func (r *sumReader) dollars(shares data.Micro) data.Micro {
	v := r.unsigned()
	m := v >> 2
	switch unit := v & 3; {
	case v == dollarsAlone:
		return r.amount()
	case unit == asHundredths:
		return shares*data.Micro(m>>1)/100 + data.Micro(m&1)
	case unit == asPrice:
		return shares*data.Micro(m>>1)/10_000 + data.Micro(m&1)
	case unit == asHundreds:
		return 100 * (data.Micro(m>>1) ^ -data.Micro(m&1))
	default:
		return data.Micro(m>>1) ^ -data.Micro(m&1)
	}
}

// compactIf is the next amount if a bit of flags says that it is not 0.
func (r *sumReader) compactIf(flags byte, bit int) data.Micro {
	if flags>>bit&1 == 0 {
		return 0
	}
	return r.compact()
}

// flags is the next byte.
func (r *sumReader) flags() byte {
	if len(r.b) == 0 {
		panic(r.Damaged("sums end within a sum"))
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

// token sets the next sum by token.
func (r *sumReader) token(s *serving.TokenSum) {
	s.Token, s.Fills = data.TokenID(r.nextKey(maxID)), int64(r.unsigned())
	flags := r.flags()
	s.BuyShares, s.SellShares, s.FeeShares = r.compactIf(flags, 0), r.compactIf(flags, 1), r.compactIf(flags, 2)
	s.BuyUSD, s.SellUSD, s.FeeUSD = r.compactIf(flags, 3), r.compactIf(flags, 4), r.compactIf(flags, 5)
	unit := int64(1)
	if flags&wholeSeconds != 0 {
		unit = second
	}
	s.FirstTS = int64(r.unsigned())*unit + epoch*second
	s.LastTS = s.FirstTS + int64(r.unsigned())*unit
}

// allTokens adds all sums by token to dst.
func (r *sumReader) allTokens(dst []serving.TokenSum) []serving.TokenSum {
	dst = slices.Grow(dst, len(r.b)/tokenBytes)
	for len(r.b) > 0 {
		dst = append(dst, serving.TokenSum{})
		r.token(&dst[len(dst)-1])
	}
	return dst
}

// day sets the next sum by day.
func (r *sumReader) day(s *serving.DaySum) {
	s.Day, s.Fills = int32(r.nextKey(maxTime)), int64(r.unsigned())
	flags := r.flags()
	s.BuyUSD, s.SellUSD, s.FeeUSD = r.compactIf(flags, 0), r.compactIf(flags, 1), r.compactIf(flags, 2)
}

// tokens returns a reader of the sums by token of a heavy wallet, in order; false of any other.
func (r segment) tokens(wallet int32) (sumReader, bool) {
	b, _, ok := r.sumBytes(wallet)
	return sumReader{segment: r, b: b}, ok
}

// days returns a reader of the sums by day of a heavy wallet, in order; false of any other.
func (r segment) days(wallet int32) (sumReader, bool) {
	_, b, ok := r.sumBytes(wallet)
	return sumReader{segment: r, b: b}, ok
}
