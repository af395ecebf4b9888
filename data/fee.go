package data

// The fee of a fill is one number beside its side. A seller pays it in dollars, out of what
// the sale brings. A buyer pays it in tokens, out of those that come, which is a number
// above 0; or in dollars, on top of what the tokens cost, which is a number below 0.

// DollarFee is the fee of a fill if it is so many dollars.
func DollarFee(s Side, usd Micro) Micro {
	if s == Buy {
		return -usd
	}
	return usd
}

// FeeShares is how many tokens the fee of a fill takes.
func FeeShares(s Side, fee Micro) Micro {
	if s == Buy && fee > 0 {
		return fee
	}
	return 0
}

// FeeUSD is how many dollars the fee of a fill takes.
func FeeUSD(s Side, fee Micro) Micro {
	switch {
	case s == Sell:
		return fee
	case fee < 0:
		return -fee
	}
	return 0
}
