package sample

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"pmx/data"
)

// Venue is an immutable venue in memory. It takes about 70 bytes a fill.
type Venue struct {
	Manifest Manifest // without files
	Markets  []Market
	Matches  []Match // in order of time; the number of a match is its index

	cfg    Config
	events []*event
	table  *normalTable
	legs   []keptLeg
}

// Market is one condition of the venue.
type Market struct {
	Condition, Question data.Hash
	Tokens              [2]data.Hash // ids as 32 bytes
	Event               int          // index of its event in the order of opening
	NegRisk             bool
	Positions           bool // of protocol V2
	Opens, Closes       int64
	Paid                int64 // when it was resolved, unix seconds; 0: not before the venue's end
	Payouts             [2]data.Micro
	FeeRate             int64 // rate of takers' fees, thousandths
}

// Match is a taker's order and the makers' orders that fill it.
type Match struct {
	At     int64 // unix seconds
	Market int32
	taker  int32
	legs   int32 // index of the first leg
	count  uint8
	buy    bool
	second bool // the taker's token is that of the second outcome
}

type keptLeg struct {
	shares     int64
	wallet     int32
	price      int16
	complement bool
}

// Row is a match from the view of one of its wallets. The taker's is the last.
type Row struct {
	Wallet      int32
	Taker       bool
	Buy         bool
	Outcome     int
	Shares, USD int64 // millionths
}

// New generates a venue in memory.
func New(ctx context.Context, cfg Config) (*Venue, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	list, err := plan(cfg)
	if err != nil {
		return nil, err
	}
	v := &Venue{cfg: cfg, events: list, table: newNormalTable()}
	x := newExchange(cfg)
	if err := x.run(ctx, list, func(m *match) error { v.keep(m); return nil }, nil); err != nil {
		return nil, err
	}
	x.sum.Wallets = x.wallets.count
	x.sum.count(list)
	v.Manifest = x.sum
	for i, e := range list {
		for _, m := range e.markets {
			if m.id != firstMarketID+len(v.Markets) {
				return nil, fmt.Errorf("sample venue: market %d is out of order", m.id)
			}
			v.Markets = append(v.Markets, v.market(i, m))
		}
	}
	return v, nil
}

// keep stores a copy of a match, which is valid only until the next.
func (v *Venue) keep(m *match) {
	v.Matches = append(v.Matches, Match{At: m.ts, Market: int32(m.market.id - firstMarketID), taker: m.taker, legs: int32(len(v.legs)),
		count: uint8(len(m.legs)), buy: m.buy, second: m.outcome == second})
	for _, l := range m.legs {
		v.legs = append(v.legs, keptLeg{shares: l.shares, wallet: l.wallet, price: int16(l.price), complement: l.complement})
	}
}

// feeRates are the rates of the categories, thousandths. Games have no fees.
var feeRates = [categories]int64{politics: 40, crypto: 70, weather: 50, economy: 50, tech: 40, culture: 50}

func (v *Venue) market(place int, m *market) Market {
	e := m.event
	out := Market{Condition: m.condition(v.cfg.Seed), Question: m.questionID(v.cfg.Seed), Event: place, NegRisk: e.negRisk, Positions: e.positions,
		Opens: v.cfg.start().Unix() + int64(e.openHour)*3600, Closes: v.cfg.start().Unix() + int64(e.closeHour)*3600, FeeRate: feeRates[e.category]}
	for i, text := range m.tokenIDs(v.cfg.Seed) {
		n, _ := new(big.Int).SetString(text, 10) // it was made from 32 bytes
		n.FillBytes(out.Tokens[i][:])
	}
	m.tokens = [2]string{}
	if e.stage == resolved {
		out.Paid = e.closedAt
		out.Payouts = [...][2]data.Micro{first: {data.One, 0}, second: {0, data.One}, split: {data.One / 2, data.One / 2}}[m.result]
	}
	return out
}

// Fills is the number of fills of the match: one for each maker, and the taker's.
func (m *Match) Fills() int { return int(m.count) + 1 }

// AppendRows appends the rows of a match to b: the makers' and then the taker's.
func (v *Venue) AppendRows(b []Row, m *Match) []Row {
	outcome := first
	if m.second {
		outcome = second
	}
	taker := Row{Wallet: m.taker, Taker: true, Buy: m.buy, Outcome: outcome}
	for _, l := range v.legs[m.legs : m.legs+int32(m.count)] {
		paid := usd(l.shares, int64(l.price))
		taker.Shares, taker.USD = taker.Shares+l.shares, taker.USD+paid
		row := Row{Wallet: l.wallet, Buy: !m.buy, Outcome: outcome, Shares: l.shares, USD: paid}
		if l.complement {
			row.Buy, row.Outcome, row.USD = m.buy, 1-outcome, l.shares-paid
		}
		b = append(b, row)
	}
	return append(b, taker)
}

// Wallet returns the address of a wallet.
func (v *Venue) Wallet(n int32) (a data.Address) {
	fill(a[:], v.cfg.Seed, streamWallet, uint64(n))
	return a
}

// Tx returns the transaction of the match with that number.
func (v *Venue) Tx(number int) (h data.Hash) {
	fill(h[:], v.cfg.Seed, streamTx, uint64(number))
	return h
}

// Generation returns the generation of the exchange of a match: 1, 2 or 3.
func (v *Venue) Generation(m *Match) int {
	switch v.cfg.contract(v.events[v.Markets[m.Market].Event], m.At) {
	case exchange3:
		return 3
	case plainExchange2, negRiskExchange2:
		return 2
	}
	return 1
}

// FindMatch returns the number of the first match at second or later.
func (v *Venue) FindMatch(second int64) int {
	i, _ := slices.BinarySearchFunc(v.Matches, second, func(m Match, at int64) int {
		if m.At < at {
			return -1
		}
		return 1
	})
	return i
}

// Config returns the venue's configuration, with defaults filled in.
func (v *Venue) Config() Config { return v.cfg }

// Random returns 32 bytes for what the venue's files do not have, such as the hash of a block. They
// are the same for the same purpose and number. Purposes begin at 0.
func (v *Venue) Random(purpose, number uint64) (h data.Hash) {
	fill(h[:], v.cfg.Seed, streamOthers+purpose, number)
	return h
}
