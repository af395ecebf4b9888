package data_test

import (
	"testing"

	"pmx/data"
)

// TestFees: a fee is in tokens or dollars, never both, and has the given amount.
func TestFees(t *testing.T) {
	for _, c := range []struct {
		side             data.Side
		fee, shares, usd data.Micro
	}{
		{data.Buy, 7, 7, 0}, {data.Buy, data.DollarFee(data.Buy, 7), 0, 7}, {data.Sell, 7, 0, 7}, {data.Sell, data.DollarFee(data.Sell, 7), 0, 7},
		{data.Buy, 0, 0, 0}, {data.Buy, data.DollarFee(data.Buy, 0), 0, 0}, {data.Sell, data.DollarFee(data.Sell, 0), 0, 0},
	} {
		if shares, usd := data.FeeShares(c.side, c.fee), data.FeeUSD(c.side, c.fee); shares != c.shares || usd != c.usd {
			t.Errorf("fee %d of side %d is %d tokens and %d dollars, want %d and %d", c.fee, c.side, shares, usd, c.shares, c.usd)
		}
	}
}
