// Package pnl is the definition of cash_basis_v3 in plain Go: small, slow and without a database.
// The statements that compute it at scale are compared with this readable version in tests.
package pnl

import (
	"math/big"

	"pmx/data"
)

// Fill is one wallet's own side of a match in a token that pays for Outcome of Market. The zero
// Market means that the token is not mapped yet.
type Fill struct {
	TS          int64 // unix µs
	Wallet      data.Address
	Token       string
	Market      data.Hash
	Outcome     int
	Side        data.Side
	Role        data.Role
	Shares, USD data.Micro
	Fee         data.Micro // as in data.Fill: data.FeeShares and data.FeeUSD
}

// Payout is how a market was resolved: millionths of a dollar per token of each
// outcome, and when (unix µs, 0 unknown).
type Payout struct {
	PerToken   []data.Micro
	ResolvedAt int64
}

// Totals are a wallet's lifetime figures.
type Totals struct {
	Fills, MakerFills, TakerFills                  int64
	Days, Markets, ResolvedMarkets, WinningMarkets int64
	NegativeLegs, UnmappedFills                    int64
	BuyUSD, SellUSD, FeeUSD                        data.Micro
	Redemption, UnresolvedCash                     data.Micro
	FirstTS, LastTS                                int64
}

// NetCash is the proceeds of sells after fees minus the cost of buys.
func (t Totals) NetCash() data.Micro { return t.SellUSD - t.BuyUSD - t.FeeUSD }

// RealPnL is net cash of all fills plus the redemption value of resolved markets.
func (t Totals) RealPnL() data.Micro { return t.NetCash() + t.Redemption }

// cash is what a fill moves in dollars, seen from the wallet.
func cash(f Fill) data.Micro {
	if f.Side == data.Buy {
		return -f.USD - data.FeeUSD(f.Side, f.Fee)
	}
	return f.USD - data.FeeUSD(f.Side, f.Fee)
}

// tokens is what a fill moves in tokens, seen from the wallet.
func tokens(f Fill) data.Micro {
	if f.Side == data.Buy {
		return f.Shares - data.FeeShares(f.Side, f.Fee)
	}
	return -f.Shares
}

// Holding is a wallet's position in one market.
type Holding struct {
	Cash data.Micro
	Net  map[int]data.Micro // signed tokens by outcome
}

// Redemption is what the holding pays: signed tokens times payout, added up
// over the outcomes and rounded once, half away from zero. Negative tokens of a
// paying outcome are a liability.
func (h Holding) Redemption(p Payout) data.Micro {
	sum := new(big.Int)
	for outcome, net := range h.Net {
		if outcome < len(p.PerToken) {
			sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(net)), big.NewInt(int64(p.PerToken[outcome]))))
		}
	}
	return roundMicro(sum)
}

func roundMicro(v *big.Int) data.Micro {
	half, one := big.NewInt(500_000), big.NewInt(1_000_000)
	abs := new(big.Int).Abs(v)
	abs.Add(abs, half).Quo(abs, one)
	if v.Sign() < 0 {
		abs.Neg(abs)
	}
	return data.Micro(abs.Int64())
}

// Wallets returns every wallet's lifetime figures from all fills.
func Wallets(fills []Fill, payouts map[data.Hash]Payout) map[data.Address]Totals {
	out := map[data.Address]Totals{}
	days := map[data.Address]map[int64]bool{}
	for _, f := range fills {
		t := out[f.Wallet]
		if days[f.Wallet] == nil {
			days[f.Wallet] = map[int64]bool{}
			t.FirstTS, t.LastTS = f.TS, f.TS
		}
		days[f.Wallet][f.TS/86_400_000_000] = true
		out[f.Wallet] = addFill(t, f)
	}
	for wallet, markets := range Holdings(fills) {
		t := out[wallet]
		t.Days = int64(len(days[wallet]))
		for market, h := range markets {
			t = addHolding(t, market, h, payouts)
		}
		out[wallet] = t
	}
	return out
}

func addFill(t Totals, f Fill) Totals {
	t.Fills++
	t.FirstTS, t.LastTS = min(t.FirstTS, f.TS), max(t.LastTS, f.TS)
	switch f.Role {
	case data.Maker:
		t.MakerFills++
	case data.Taker:
		t.TakerFills++
	}
	if f.Side == data.Buy {
		t.BuyUSD += f.USD
	} else {
		t.SellUSD += f.USD
	}
	t.FeeUSD += data.FeeUSD(f.Side, f.Fee)
	if f.Market.IsZero() {
		t.UnmappedFills++
	}
	return t
}

func addHolding(t Totals, market data.Hash, h Holding, payouts map[data.Hash]Payout) Totals {
	if market.IsZero() {
		t.UnresolvedCash += h.Cash
		return t
	}
	t.Markets++
	p, resolved := payouts[market]
	if !resolved {
		t.UnresolvedCash += h.Cash
		return t
	}
	t.ResolvedMarkets++
	redemption := h.Redemption(p)
	t.Redemption += redemption
	if h.Cash+redemption > 0 {
		t.WinningMarkets++
	}
	for _, net := range h.Net {
		if net < 0 {
			t.NegativeLegs++
		}
	}
	return t
}

// Holdings returns every wallet's position in every market.
func Holdings(fills []Fill) map[data.Address]map[data.Hash]Holding {
	out := map[data.Address]map[data.Hash]Holding{}
	for _, f := range fills {
		if out[f.Wallet] == nil {
			out[f.Wallet] = map[data.Hash]Holding{}
		}
		h, seen := out[f.Wallet][f.Market]
		if !seen {
			h.Net = map[int]data.Micro{}
		}
		h.Cash += cash(f)
		h.Net[f.Outcome] += tokens(f)
		out[f.Wallet][f.Market] = h
	}
	return out
}

// Period is what a wallet did in a window: its fills in it, and the redemption
// of markets resolved in it, whenever they were traded.
type Period struct {
	Fills                   int64
	BuyUSD, SellUSD, FeeUSD data.Micro
	Redemption              data.Micro
	// Undated is what the wallet's tokens pay in markets that were resolved at an
	// unknown time and that it traded in the window; there are UndatedMarkets of them.
	Undated        data.Micro
	UndatedMarkets int64
}

// Window returns the period figures of (after, upTo], unix µs. Wallets with nothing in the window
// are left out.
func Window(fills []Fill, payouts map[data.Hash]Payout, after, upTo int64) map[data.Address]Period {
	out := map[data.Address]Period{}
	type place struct {
		wallet data.Address
		market data.Hash
	}
	traded := map[place]bool{}
	for _, f := range fills {
		if f.TS <= after || f.TS > upTo {
			continue
		}
		traded[place{f.Wallet, f.Market}] = true
		p := out[f.Wallet]
		p.Fills++
		if f.Side == data.Buy {
			p.BuyUSD += f.USD
		} else {
			p.SellUSD += f.USD
		}
		p.FeeUSD += data.FeeUSD(f.Side, f.Fee)
		out[f.Wallet] = p
	}
	for wallet, markets := range Holdings(fills) {
		for market, h := range markets {
			pay, resolved := payouts[market]
			if resolved && pay.ResolvedAt == 0 && traded[place{wallet, market}] {
				p := out[wallet]
				p.Undated += h.Redemption(pay)
				p.UndatedMarkets++
				out[wallet] = p
			}
			if !resolved || pay.ResolvedAt <= after || pay.ResolvedAt > upTo {
				continue
			}
			if r := h.Redemption(pay); r != 0 {
				p := out[wallet]
				p.Redemption += r
				out[wallet] = p
			}
		}
	}
	for wallet, p := range out {
		if p == (Period{}) {
			delete(out, wallet)
		}
	}
	return out
}
