package data

// The fee of a fill is one number, whose meaning depends on the side. A seller pays it in dollars,
// out of the proceeds. A buyer pays it in tokens, out of those bought: then it is above 0; or in
// dollars, on top of the cost of the tokens: then it is below 0.

// DollarFee is the fee of a fill that is paid in dollars.
func DollarFee(s Side, usd Micro) Micro {
	if s == Buy {
		return -usd
	}
	return usd
}

// FeeShares is the part of a fill's fee that is paid in tokens.
func FeeShares(s Side, fee Micro) Micro {
	if s == Buy && fee > 0 {
		return fee
	}
	return 0
}

// FeeUSD is the part of a fill's fee that is paid in dollars.
func FeeUSD(s Side, fee Micro) Micro {
	switch {
	case s == Sell:
		return fee
	case fee < 0:
		return -fee
	}
	return 0
}
