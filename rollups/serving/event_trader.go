package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// Paying is a token of an event, and what it pays.
type Paying struct {
	Token, Market int32
	Outcome       int8
	Payout        data.Micro // NoValue: not resolved
}

// EventTrader is what a wallet comes to over the markets of an event, lifetime.
type EventTrader struct {
	Wallet                                   int32
	NetCash, Redemption                      data.Micro
	BuyUSD, SellUSD                          data.Micro
	Fills                                    int64
	Markets, ResolvedMarkets, WinningMarkets int64
}

// RealPnL is net cash plus redemption.
func (t *EventTrader) RealPnL() data.Micro { return t.NetCash + t.Redemption }

// Volume is buys plus sells.
func (t *EventTrader) Volume() data.Micro { return t.BuyUSD + t.SellUSD }

// EventTraders are the first traders of an event, by real_pnl, ties by volume,
// then address.
type EventTraders struct {
	Total int // wallets that traded the event, without the venue's own
	Rows  []EventTrader
}

// Weight is about how many bytes t holds.
func (t EventTraders) Weight() int { return 64 + 80*len(t.Rows) }

// Sort brings the rows into their order and leaves the first n.
func (t *EventTraders) Sort(s *Snapshot, n int) {
	slices.SortFunc(t.Rows, func(x, y EventTrader) int {
		if c := cmp.Or(cmp.Compare(y.RealPnL(), x.RealPnL()), cmp.Compare(y.Volume(), x.Volume())); c != 0 {
			return c
		}
		a, b := s.WalletAt(int(x.Wallet)), s.WalletAt(int(y.Wallet))
		return bytes.Compare(a[:], b[:])
	})
	t.Rows = t.Rows[:min(len(t.Rows), n)]
}

// Paying lists the tokens of markets with their payouts.
func (c *Catalog) Paying(markets []int32) []Paying {
	var out []Paying
	for _, id := range markets {
		m := c.Market(id)
		for _, token := range c.Tokens(id) {
			p := Paying{Token: token, Market: id, Outcome: c.Token(token).Outcome, Payout: NoValue}
			if p.Outcome >= 0 && int(p.Outcome) < len(m.Payouts) {
				p.Payout = m.Payouts[p.Outcome]
			}
			out = append(out, p)
		}
	}
	return out
}

// MarketFill is a fill of a market, by whichever wallet.
type MarketFill struct {
	Wallet int32
	Fill
}

// MarketTexts is what a Market leaves out. Empty strings are unknown.
type MarketTexts struct {
	Description, ResolutionSource, GroupItemTitle string
	PayoutSource                                  data.ResolutionSource // 0: none
}
