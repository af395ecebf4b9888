package rollups

import (
	"fmt"
	"slices"
	"strings"

	"pmx/data"
	"pmx/engine"
)

// packed is a column of a rollup that its base has in another form than its delta, in which DuckDB stores it with fewer
// bits. Every value has exactly one such form. In the base, a column of this name is computed from it where it is read (migration 35).
type packed struct {
	column string
	into   []string // expressions of the columns in the base
}

// packedHundredths are shares, or dollars: whole hundredths, and the millionths beyond them, of which most have none. The names of the
// columns begin with prefix.
func packedHundredths(column, prefix string) packed {
	return packed{column, []string{
		fmt.Sprintf("%s // 10000 AS %shundredths", column, prefix),
		fmt.Sprintf("(%s %% 10000)::SMALLINT AS %sbeyond", column, prefix),
	}}
}

// atPrice is what the whole hundredths of shares cost at a price in 10,000ths of a dollar: a product that fits into 64 bits wherever the shares do.
// What the millionths beyond them cost would take a division whenever it is read, four times as long as the rest.
func atPrice(shares, price string) string { return shares + " // 10000 * " + price }

// packedDollars are the dollars for which shares were traded: a price in 10,000ths of a dollar, and the rest, how much more they are than
// atPrice. Most have a price of which they are the product, rounded down or up. packDollars writes the same.
func packedDollars(column, shares, prefix string) packed {
	price := fmt.Sprintf("(CASE WHEN %[2]s > 0 AND %[1]s BETWEEN 0 AND %[3]d THEN least((%[1]s * 10000 + %[2]s // 2) // %[2]s, 10000) ELSE 0 END)",
		column, shares, mostPriced)
	return packed{column, []string{
		fmt.Sprintf("%s::SMALLINT AS %sprice", price, prefix),
		fmt.Sprintf("%s - %s AS %srest", column, atPrice(shares, price), prefix),
	}}
}

// mostPriced are the most dollars that have a price, in millionths: their product with 10,000 fits into 64 bits.
const mostPriced = 99_999_999_999_999

// openedPrice is the price of the first trade of an hour, in millionths; NULL: there is none.
const openedPrice = "((-opened) & 1048575)::BIGINT"

// packedTrade is the first trade of an hour, a number as in price.sql with its sign reversed: its time within the hour,
// and the rest of the number, of 52 bits. The time is in seconds, to which the microseconds beyond them are added as
// multiples of an hour: blocks have whole seconds, and these take 12 bits. pricedTrade.parts gives the same.
func packedTrade() packed {
	ts, at := tradeParts("(-opened)")
	return packed{"opened", []string{ts + " AS opened_ts", at + " AS opened_at"}}
}

// packedLastTrade is the last trade of an hour: what both parts of its number are more than those of the first one. Most hours have one trade.
func packedLastTrade() packed {
	ts, at := tradeParts("closed")
	firstTS, firstAt := tradeParts("(-opened)")
	return packed{"closed", []string{ts + " - (" + firstTS + ") AS lasted", at + " - " + firstAt + " AS moved"}}
}

// tradeParts are the time within the hour and the rest of the number of a trade.
func tradeParts(number string) (ts, at string) {
	us := fmt.Sprintf("((%s >> 52)::BIGINT - hour::BIGINT * 3600000000)", number)
	return fmt.Sprintf("%[1]s // 1000000 + %[1]s %% 1000000 * 3600", us), fmt.Sprintf("(%s & 4503599627370495)::BIGINT", number)
}

// packedCandle are the columns of a candle's base: dollars are packed with the price of the first trade, and the highest and the lowest price as
// differences to it.
func packedCandle() []packed {
	return []packed{
		{"usd", []string{"usd - coalesce(" + atPrice("shares", "("+openedPrice+" // 100)") + ", 0) AS rest"}},
		packedHundredths("shares", ""),
		packedTrade(),
		{"highest", []string{"(highest - " + openedPrice + ")::INTEGER AS above"}},
		{"lowest", []string{"(lowest + " + openedPrice + ")::INTEGER AS below"}},
		packedLastTrade(),
	}
}

// packing is how a column is packed; nil: it is not.
func (t table) packing(column string) *packed {
	for i := range t.packed {
		if t.packed[i].column == column {
			return &t.packed[i]
		}
	}
	return nil
}

// stored are the columns of the base, from the rollup's columns.
func (t table) stored() string {
	var list []string
	for _, c := range t.columns() {
		if p := t.packing(c); p != nil {
			list = append(list, p.into...)
		} else {
			list = append(list, c)
		}
	}
	return strings.Join(list, ", ")
}

// Packed reports whether the base of a rollup has columns that its delta does not have.
func Packed(name string) bool {
	return slices.ContainsFunc(tables, func(t table) bool { return t.name == name && t.packed != nil })
}

// Whole hundredths of shares, and the amounts beyond them, in millionths.
const hundredth = data.One / 100

// packHundredths sets the two columns of packedHundredths.
func packHundredths(to *engine.ChunkAppender, column int, m data.Micro) {
	to.Int64(column, int64(m/hundredth))
	to.Int16(column+1, int16(m%hundredth))
}

// packDollars sets the two columns of packedDollars.
func packDollars(to *engine.ChunkAppender, column int, usd, shares data.Micro) {
	price := nearestPrice(usd, shares)
	to.Int16(column, int16(price))
	to.Int64(column+1, int64(usd-costAt(shares, price)))
}

// nearestPrice is the price of packedDollars, in 10,000ths of a dollar.
func nearestPrice(usd, shares data.Micro) data.Micro {
	if shares <= 0 || usd < 0 || usd > mostPriced {
		return 0
	}
	return min((usd*10_000+shares/2)/shares, 10_000)
}

// costAt is atPrice.
func costAt(shares, price data.Micro) data.Micro { return shares / hundredth * price }
