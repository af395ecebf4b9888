package fillseg

import (
	"slices"

	"pmx/data"
	"pmx/rollups/serving"
)

// hourLength is an hour in µs.
const hourLength = 3_600_000_000

// What a partial candle has.
const (
	hasPlaces    = 1 << iota // a first and a last trade
	withIndexes              // of logs
	atItsDollars             // the price of the first trade is that of all its dollars (priceOf)

	hourShapeBits = iota
)

// kinds of shapes of hours.
const (
	atOnePrice = iota
	atPrices
	anyHourShape // hourShapeBits follow
)

var hourShapeOf = [...]uint64{atOnePrice: hasPlaces | atItsDollars, atPrices: hasPlaces, anyHourShape: 0}

// hourShapes is of fills less one.
var hourShapes = newCode(
	class{atOnePrice, 1, 0, 1}, class{atOnePrice, 4, 2, 1}, class{atOnePrice, 5, 5, 1},
	class{atPrices, 3, 1, 1}, class{atPrices, 3, 1, 1}, class{atPrices, 5, 2, 1}, class{atPrices, 6, 3, 1}, class{atPrices, 6, 5, 1}, class{atPrices, 6, 10, 1},
	class{anyHourShape, 4, 5, 1}, class{anyHourShape, 6, anyNumber, 1},
)

// hourSteps is of how many hours lie between two.
var hourSteps = newCode(class{0, 1, 0, 1}, class{0, 3, 0, 1}, class{0, 3, 1, 1}, class{0, 3, 2, 1}, class{0, 4, 3, 1}, class{0, 5, 5, 1}, class{0, 6, 10, 1},
	class{0, 6, anyNumber, 1})

// inHour is of how much later a trade is than the hour, or than another trade in it, in µs.
var inHour = newCode(class{0, 1, 12, second}, class{0, 2, 32, 1}, class{0, 2, anyNumber, 1})

// indexes is of indexes of logs plus one.
var indexes = newCode(class{0, 1, 10, 1}, class{0, 2, 16, 1}, class{0, 2, anyNumber, 1})

// prices is of prices in millionths.
var prices = newCode(class{0, 1, 7, 10_000}, class{0, 2, 10, 1_000}, class{0, 4, 14, 100}, class{0, 3, 20, 1}, class{0, 4, anyNumber, 1})

// beyond is of how far prices go beyond those of the first and the last trade, in millionths.
var beyond = newCode(class{0, 1, 0, 10_000}, class{0, 3, 2, 10_000}, class{0, 3, 5, 1_000}, class{0, 6, 5, 10_000}, class{0, 6, 9, 100}, class{0, 3, 14, 1}, class{0, 4, 17, 1},
	class{0, 6, 21, 1}, class{0, 6, anyNumber, 1})

// A place of a trade has the index of its log plus one above the bits of the price.
const (
	indexAt   = 20
	priceMask = 1<<indexAt - 1
)

// appendHours writes partial candles in order of hour.
func appendHours(b []byte, partials []serving.PartialCandle) []byte {
	w := writeSums(b, len(partials))
	for i := range partials {
		w.key(hourSteps, partials[i].Hour)
		w.hour(&partials[i])
	}
	return w.end()
}

// hour writes a partial candle. With one fill, the first trade is the last one.
func (w *sumWriter) hour(p *serving.PartialCandle) {
	has := w.hourShape(p)
	w.amount(p.Shares)
	w.dollars(p.USD, p.Shares)
	if has&hasPlaces == 0 {
		return
	}
	w.trade(&p.First, p.Hour*hourLength, has)
	if has&atItsDollars == 0 {
		w.number(prices, int64(p.First.Price()))
	}
	if p.Fills == 1 {
		return
	}
	w.trade(&p.Last, p.First.TS, has)
	w.number(prices, int64(p.Last.Price()))
	low, high := lowHigh(p.First.Price(), p.Last.Price())
	w.number(beyond, int64(p.High-high))
	w.number(beyond, int64(low-p.Low))
}

// hourShape writes how many fills a partial candle has, and what else; the latter is returned.
func (w *sumWriter) hourShape(p *serving.PartialCandle) (has uint64) {
	if p.First.TS >= 0 {
		has = hasPlaces
		if (p.First.At|p.Last.At)>>indexAt != 0 {
			has |= withIndexes
		}
		if all, ok := priceOf(p.Shares, p.USD); ok && all == p.First.Price() {
			has |= atItsDollars
		}
	}
	w.shape(hourShapes, hourShapeOf[:], p.Fills, has, hourShapeBits)
	return has
}

// priceOf is the price in millionths at which shares cost so many dollars, at most a dollar; false if they have none.
func priceOf(shares, usd data.Micro) (p data.Micro, ok bool) {
	if shares <= 0 || usd < 0 || usd >= maxOfPrices {
		return 0, false
	}
	return min((usd*data.One+shares/2)/shares, data.One), true
}

// lowHigh is the lower and the higher one of two prices.
func lowHigh(a, b data.Micro) (low, high data.Micro) { return min(a, b), max(a, b) }

// trade writes a place without its price, after a time in µs.
func (w *sumWriter) trade(p *serving.CandlePlace, after int64, has uint64) {
	w.number(inHour, p.TS-after)
	if has&withIndexes != 0 {
		w.number(indexes, p.At>>indexAt)
	}
}

// trade reads what sumWriter.trade wrote.
func (r *sumReader) trade(after int64, has uint64) (p serving.CandlePlace) {
	later, _ := r.number(inHour)
	p.TS = after + later
	if has&withIndexes != 0 {
		index, _ := r.number(indexes)
		p.At = index << indexAt
	}
	return p
}

// readHours adds what appendHours wrote to dst.
func (r segment) readHours(dst []serving.PartialCandle, token data.TokenID, b []byte) []serving.PartialCandle {
	in := r.readSums(b)
	known := len(dst)
	dst = slices.Grow(dst, in.left)[:known+in.left]
	for i := range dst[known:] {
		p := &dst[known+i]
		*p = serving.PartialCandle{Token: token, Hour: int64(in.key(hourSteps, maxTime)), First: serving.NoPlace, Last: serving.NoPlace}
		in.hour(p)
		in.end()
	}
	return dst
}

// hour reads what sumWriter.hour wrote.
func (r *sumReader) hour(p *serving.PartialCandle) {
	has := uint64(0)
	p.Fills, has = r.shape(hourShapes, hourShapeOf[:], hourShapeBits)
	p.Shares = r.amount()
	p.USD = r.dollars(p.Shares)
	if has&hasPlaces == 0 {
		return
	}
	p.First = r.trade(p.Hour*hourLength, has)
	p.First.At += int64(r.firstPrice(p, has))
	if p.Last, p.High, p.Low = p.First, p.First.Price(), p.First.Price(); p.Fills == 1 {
		return
	}
	p.Last = r.trade(p.First.TS, has)
	price, _ := r.number(prices)
	p.Last.At += price
	low, high := lowHigh(p.First.Price(), p.Last.Price())
	above, _ := r.number(beyond)
	below, _ := r.number(beyond)
	p.High, p.Low = high+data.Micro(above), low-data.Micro(below)
}

// firstPrice is the price of the first trade of a partial candle.
func (r *sumReader) firstPrice(p *serving.PartialCandle, has uint64) data.Micro {
	if has&atItsDollars == 0 {
		v, _ := r.number(prices)
		return data.Micro(v)
	}
	v, ok := priceOf(p.Shares, p.USD)
	if !ok {
		panic(r.Damaged("candles: no price of %d shares", p.Shares))
	}
	return v
}
