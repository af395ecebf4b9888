package rollups

import (
	"strconv"

	"pmx/rollups/serving"
)

// marketVertical is what the figures of markets need beside the core tables.
func marketVertical() vertical {
	return vertical{
		tables: []table{{name: "token_price", delta: "DeltaTokenPrice", rebuild: "RebuildTokenPrice", by: eachToken, with: withFills,
			keys: []string{"token"}, greatest: []string{"last", "day_ago"}}},
		before: func(m *merge) error {
			if m.fills == 0 || m.sums != nil {
				return nil
			}
			length := windows[serving.Day]
			return m.exec("AgedPrices", "@price", priceKey(),
				"@lo", strconv.FormatInt(m.from-length, 10), "@hi", strconv.FormatInt(min(m.to-length, m.from), 10))
		},
	}
}

// priceKey is the statement of a fill's price and place in time as one number.
func priceKey() string { return statements.Get("PriceKey", "@of", price("usd", "shares")) }

// price is the statement of what tokens cost, given columns.
func price(usd, shares string) string {
	return statements.Get("Price", "@usd", usd, "@shares", shares)
}

// dayAgo is 24 hours before as_of as SQL.
func dayAgo(asOf int64) string { return strconv.FormatInt(asOf-windows[serving.Day], 10) }
