package fillseg

import (
	"encoding/binary"
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// hourLength is an hour in µs.
const hourLength = 3_600_000_000

// Flags of a partial candle, in the byte with its number of fills.
const (
	hasPlaces   = 1 << iota // it has a first and a last trade
	inSeconds               // at whole seconds
	atOnePrice              // its dollars are its shares at the price of the first trade, rounded down
	oneMore                 // or a millionth more
	withIndexes             // of logs
)

// A place of a trade has the index of its log plus one above the bits of the price.
const (
	indexAt   = 20
	priceMask = 1<<indexAt - 1
)

// appendHours writes partial candles in order of hour.
func appendHours(b []byte, partials []serving.PartialCandle) []byte {
	last := int64(0)
	for i := range partials {
		p := &partials[i]
		b = binary.AppendUvarint(b, uint64(p.Hour-last))
		b = appendHour(b, p)
		last = p.Hour
	}
	return b
}

func appendHour(b []byte, p *serving.PartialCandle) []byte {
	if p.First.TS < 0 {
		return appendAmount(appendAmount(appendFills(b, 0, p.Fills), p.Shares), p.USD)
	}
	flags, unit := byte(hasPlaces), int64(1)
	if p.First.TS%second == 0 && p.Last.TS%second == 0 {
		flags, unit = flags|inSeconds, second
	}
	if (p.First.At|p.Last.At)>>indexAt != 0 {
		flags |= withIndexes
	}
	switch rest, ok := restAtPrice(p.USD, p.Shares, p.First.Price()); {
	case ok && rest == 0:
		flags |= atOnePrice
	case ok:
		flags |= atOnePrice | oneMore
	}
	b = appendAmount(appendFills(b, flags, p.Fills), p.Shares)
	if flags&atOnePrice == 0 {
		b = appendAmount(b, p.USD)
	}
	b = appendPlace(b, (p.First.TS-p.Hour*hourLength)/unit, p.First.At, flags)
	if p.Fills == 1 {
		return b // the last trade is the first one
	}
	b = appendPlace(b, p.Last.TS/unit-p.First.TS/unit, p.Last.At, flags)
	low, high := lowHigh(p.First.Price(), p.Last.Price())
	return appendPrice(appendPrice(b, p.High-high), low-p.Low)
}

// lowHigh is the lower and the higher one of two prices.
func lowHigh(a, b data.Micro) (low, high data.Micro) { return min(a, b), max(a, b) }

// restAtPrice is how much more the dollars are than shares at a price in millionths, rounded down; false if that is not 0 or 1.
func restAtPrice(usd, shares, price data.Micro) (rest data.Micro, ok bool) {
	if shares < 0 || shares >= maxOfPrices {
		return 0, false
	}
	rest = usd - shares*price/data.One
	return rest, rest == 0 || rest == 1
}

// appendPlace writes a place so many units of time after another.
func appendPlace(b []byte, after, at int64, flags byte) []byte {
	b = binary.AppendUvarint(b, uint64(after))
	if flags&withIndexes != 0 {
		b = binary.AppendUvarint(b, uint64(at>>indexAt))
	}
	return appendPrice(b, data.Micro(at&priceMask))
}

// Prices are numbers of one byte if they are whole cents, and of two if they are hundredths of a cent. Above these numbers are those of
// all other prices.
const (
	cents      = priceMask/10_000 + 1
	hundredths = cents + priceMask/100 + 1
)

// appendPrice writes a price, or the difference of two, in millionths.
func appendPrice(b []byte, p data.Micro) []byte {
	switch v := uint64(p); {
	case v > priceMask:
		return binary.AppendUvarint(b, hundredths+v)
	case v%10_000 == 0:
		return binary.AppendUvarint(b, v/10_000)
	case v%100 == 0:
		return binary.AppendUvarint(b, cents+v/100)
	default:
		return binary.AppendUvarint(b, hundredths+v)
	}
}

// price is the next price as appendPrice wrote it.
func (r *sumReader) price() data.Micro {
	switch v := r.unsigned(); {
	case v < cents:
		return data.Micro(v * 10_000)
	case v < hundredths:
		return data.Micro((v - cents) * 100)
	default:
		return data.Micro(v - hundredths)
	}
}

// place is the next place as appendPlace wrote it, after a time in µs.
func (r *sumReader) place(after, unit int64, flags byte) serving.CandlePlace {
	p := serving.CandlePlace{TS: after + int64(r.unsigned())*unit}
	if flags&withIndexes != 0 {
		p.At = int64(r.unsigned()) << indexAt
	}
	p.At += int64(r.price())
	return p
}

// readHours adds what appendHours wrote to dst.
func (r segment) readHours(dst []serving.PartialCandle, token data.TokenID, b []byte) []serving.PartialCandle {
	in := sumReader{segment: r, b: b}
	dst = slices.Grow(dst, len(b)/hourBytes)
	for len(in.b) > 0 {
		dst = append(dst, serving.PartialCandle{Token: token, Hour: int64(in.nextKey(maxTime)), First: serving.NoPlace, Last: serving.NoPlace})
		in.hour(&dst[len(dst)-1])
	}
	return dst
}

// hour reads what appendHour wrote.
func (r *sumReader) hour(p *serving.PartialCandle) {
	flags, unit := byte(0), int64(1)
	flags, p.Fills = r.fills()
	p.Shares = r.compact()
	if flags&atOnePrice == 0 {
		p.USD = r.compact()
	}
	if flags&hasPlaces == 0 {
		return
	}
	if flags&inSeconds != 0 {
		unit = second
	}
	p.First = r.place(p.Hour*hourLength, unit, flags)
	if flags&atOnePrice != 0 {
		p.USD = p.Shares*p.First.Price()/data.One + data.Micro(flags/oneMore&1)
	}
	if p.Last, p.High, p.Low = p.First, p.First.Price(), p.First.Price(); p.Fills == 1 {
		return
	}
	p.Last = r.place(p.First.TS, unit, flags)
	low, high := lowHigh(p.First.Price(), p.Last.Price())
	p.High = high + r.price()
	p.Low = low - r.price()
}
