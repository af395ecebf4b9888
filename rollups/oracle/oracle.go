// Package oracle is the definition of forecasting accuracy in plain Go: small, slow, exact and
// without a database. The statements and the snapshot that compute it at scale are compared with
// this readable version in tests.
package oracle

import (
	"math/big"

	"pmx/data"
)

// Fill is one wallet's own side of a match in a token that pays for Outcome of Market. The zero
// Market means that it is not known yet.
type Fill struct {
	Wallet      data.Address
	Market      data.Hash
	Outcome     int
	Side        data.Side
	Role        data.Role
	Shares, USD data.Micro
	Fee         data.Micro // in tokens on a buy, in dollars on a sell
}

// Forecast is what a wallet's tokens of one outcome of a resolved market say: that
// it comes true with probability P.
type Forecast struct {
	Wallet   data.Address
	Market   data.Hash
	Outcome  int
	P        data.Micro // what the wallet paid on average, 0 to 1
	Payout   data.Micro // what the outcome paid, 0 to 1
	Baseline data.Micro // average price of the outcome's tokens, 0 to 1
	BuyUSD   data.Micro // paid for all tokens of the outcome, including those sold again
}

// outcomeSums are the sums of one wallet, or of everybody, for one outcome.
type outcomeSums struct{ net, bought, paid, taken, takenFor, made, madeFor data.Micro }

// Forecasts returns all forecasts: of wallets that bought more tokens of an outcome than they sold
// and paid in fees. Tokens that a wallet got without a trade have no price and make no forecast.
// payouts are millionths of a dollar per token.
func Forecasts(fills []Fill, payouts map[data.Hash][]data.Micro) []Forecast {
	type outcome struct {
		market data.Hash
		index  int
	}
	type holder struct {
		wallet data.Address
		outcome
	}
	all, held := map[outcome]*outcomeSums{}, map[holder]*outcomeSums{}
	for _, f := range fills {
		o := outcome{f.Market, f.Outcome}
		h := holder{f.Wallet, o}
		if all[o] == nil {
			all[o] = &outcomeSums{}
		}
		if held[h] == nil {
			held[h] = &outcomeSums{}
		}
		all[o].add(f)
		held[h].add(f)
	}
	var out []Forecast
	for h, mine := range held {
		list := payouts[h.market]
		if h.index >= len(list) || mine.net <= 0 {
			continue
		}
		out = append(out, Forecast{Wallet: h.wallet, Market: h.market, Outcome: h.index, P: price(mine.paid, mine.bought),
			Payout: list[h.index], Baseline: all[h.outcome].average(), BuyUSD: mine.paid})
	}
	return out
}

func (p *outcomeSums) add(f Fill) {
	if f.Role == data.Maker {
		p.made += f.Shares
		p.madeFor += f.USD
	} else {
		p.taken += f.Shares
		p.takenFor += f.USD
	}
	if f.Side == data.Sell {
		p.net -= f.Shares
		return
	}
	p.net += f.Shares - data.FeeShares(f.Side, f.Fee)
	p.bought += f.Shares
	p.paid += f.USD
}

// average is the average price of all takers' fills, or of makers' if no taker moved a token.
func (p *outcomeSums) average() data.Micro {
	if p.taken > 0 {
		return price(p.takenFor, p.taken)
	}
	return price(p.madeFor, p.made)
}

// price is dollars per token to the nearest millionth, halves up, 1 at most.
func price(usd, shares data.Micro) data.Micro {
	twice := new(big.Int).Mul(big.NewInt(2_000_000), big.NewInt(int64(usd)))
	twice.Add(twice, big.NewInt(int64(shares)))
	twice.Quo(twice, new(big.Int).Mul(big.NewInt(2), big.NewInt(int64(shares))))
	if one := big.NewInt(int64(data.One)); twice.Cmp(one) > 0 {
		return data.One
	}
	return data.Micro(twice.Int64())
}

// Bin is the tenth of probability that p lies in, 0 to 9; 1 lies in the last.
func Bin(p data.Micro) int { return int(min(p/(data.One/10), 9)) }

// Sums are the sums of a set of forecasts.
type Sums struct {
	Forecasts, Correct   int64
	Probability, Payout  data.Micro
	Error, BaselineError int64 // squares of millionths
	BuyUSD               data.Micro
}

// Key is a wallet and a tenth of probability.
type Key struct {
	Wallet data.Address
	Bin    int
}

// Bins adds forecasts up by wallet and tenth.
func Bins(forecasts []Forecast) map[Key]Sums {
	out := map[Key]Sums{}
	for _, f := range forecasts {
		k := Key{f.Wallet, Bin(f.P)}
		s := out[k]
		s.Forecasts++
		if f.Payout > data.One/2 {
			s.Correct++
		}
		s.Probability += f.P
		s.Payout += f.Payout
		s.Error += int64((f.P - f.Payout) * (f.P - f.Payout))
		s.BaselineError += int64((f.Baseline - f.Payout) * (f.Baseline - f.Payout))
		s.BuyUSD += f.BuyUSD
		out[k] = s
	}
	return out
}

// Brier is the mean squared error of forecasts as an exact fraction. There must be at least one
// forecast.
func Brier(forecasts []Forecast) *big.Rat {
	sum := new(big.Rat)
	for _, f := range forecasts {
		e := big.NewRat(int64(f.P-f.Payout), int64(data.One))
		sum.Add(sum, e.Mul(e, e))
	}
	return sum.Quo(sum, big.NewRat(int64(len(forecasts)), 1))
}

// Murphy returns the parts of the Brier score as exact fractions: reliability − resolution +
// uncertainty + what is left within the bins.
func Murphy(forecasts []Forecast) (reliability, resolution, uncertainty, within *big.Rat) {
	n := big.NewRat(int64(len(forecasts)), 1)
	bins := map[int][]Forecast{}
	mean := payout(forecasts)
	reliability, resolution, uncertainty = new(big.Rat), new(big.Rat), new(big.Rat)
	for _, f := range forecasts {
		bins[Bin(f.P)] = append(bins[Bin(f.P)], f)
		d := new(big.Rat).Sub(big.NewRat(int64(f.Payout), int64(data.One)), mean)
		uncertainty.Add(uncertainty, d.Mul(d, d))
	}
	for _, list := range bins {
		k := big.NewRat(int64(len(list)), 1)
		p := new(big.Rat)
		for _, f := range list {
			p.Add(p, big.NewRat(int64(f.P), int64(data.One)))
		}
		p.Quo(p, k)
		off := new(big.Rat).Sub(p, payout(list))
		reliability.Add(reliability, off.Mul(off, off).Mul(off, k))
		apart := new(big.Rat).Sub(payout(list), mean)
		resolution.Add(resolution, apart.Mul(apart, apart).Mul(apart, k))
	}
	reliability.Quo(reliability, n)
	resolution.Quo(resolution, n)
	uncertainty.Quo(uncertainty, n)
	within = new(big.Rat).Sub(Brier(forecasts), reliability)
	within.Add(within, resolution).Sub(within, uncertainty)
	return reliability, resolution, uncertainty, within
}

// payout is the mean payout of forecasts.
func payout(forecasts []Forecast) *big.Rat {
	sum := new(big.Rat)
	for _, f := range forecasts {
		sum.Add(sum, big.NewRat(int64(f.Payout), int64(data.One)))
	}
	return sum.Quo(sum, big.NewRat(int64(len(forecasts)), 1))
}
