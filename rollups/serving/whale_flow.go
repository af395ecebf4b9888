package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// FlowSum is the sums over some whale moves.
type FlowSum struct {
	Moves           int64
	BuyUSD, SellUSD data.Micro
	Net             data.Micro // towards first outcomes minus away from them
}

func (s *FlowSum) add(m *Move, outcome int8) {
	s.Moves++
	if m.Side == data.Buy {
		s.BuyUSD += m.USD
	} else {
		s.SellUSD += m.USD
	}
	if (outcome == 0) == (m.Side == data.Buy) {
		s.Net += m.USD
	} else {
		s.Net -= m.USD
	}
}

func (s *FlowSum) usd() data.Micro { return s.BuyUSD + s.SellUSD }

// OutcomeFlow is the moves of one outcome.
type OutcomeFlow struct {
	Outcome int8
	FlowSum
}

// MarketFlow is the moves of one market. Rank is competition rank on the size of
// Net.
type MarketFlow struct {
	Rank   int
	Market *Market
	FlowSum
	Wallets  int           // distinct
	Outcomes []OutcomeFlow // with a move, by outcome
	wallets  map[data.WalletID]bool
}

func (f *MarketFlow) add(m *Move, outcome int8) {
	f.FlowSum.add(m, outcome)
	f.wallets[m.WalletID] = true
	i, found := slices.BinarySearchFunc(f.Outcomes, outcome, func(o OutcomeFlow, outcome int8) int { return cmp.Compare(o.Outcome, outcome) })
	if !found {
		f.Outcomes = slices.Insert(f.Outcomes, i, OutcomeFlow{Outcome: outcome})
	}
	f.Outcomes[i].add(m, outcome)
}

// Flow is where whales moved the money in a window.
type Flow struct {
	Total       FlowSum // of moves whose market is known
	UnmappedUSD data.Micro
	Series      []FlowSum    // intervals of equal length that end at AsOf, oldest first
	Markets     []MarketFlow // by size of Net, then dollars, then condition id
}

// NewFlow sums up the moves of a window in snap: of one market, which is then the only one in
// Markets, or of all if only is nil.
func NewFlow(snap *Snapshot, p Period, stretches int, only *Market) *Flow {
	f := &Flow{Series: make([]FlowSum, stretches)}
	index := map[int32]*MarketFlow{}
	if only != nil {
		index[only.ID] = &MarketFlow{Market: only, wallets: map[data.WalletID]bool{}}
	}
	end, step := snap.AsOf.UnixMicro(), p.Length().Microseconds()/int64(stretches)
	moves := snap.Whales.After(end - p.Length().Microseconds())
	for i := range moves {
		m := &moves[i]
		token := snap.Catalog.Token(m.Token)
		market := snap.Catalog.Market(token.Market)
		switch {
		case only != nil && market != only:
			continue
		case market == nil:
			f.UnmappedUSD += m.USD
			continue
		}
		if index[market.ID] == nil {
			index[market.ID] = &MarketFlow{Market: market, wallets: map[data.WalletID]bool{}}
		}
		index[market.ID].add(m, token.Outcome)
		f.Total.add(m, token.Outcome)
		f.Series[stretches-1-int((end-m.TS)/step)].add(m, token.Outcome)
	}
	for _, market := range index {
		market.Wallets, market.wallets = len(market.wallets), nil
		f.Markets = append(f.Markets, *market)
	}
	f.rank()
	return f
}

func (f *Flow) rank() {
	size := func(m *MarketFlow) data.Micro { return max(m.Net, -m.Net) }
	slices.SortFunc(f.Markets, func(a, b MarketFlow) int {
		return cmp.Or(cmp.Compare(size(&b), size(&a)), cmp.Compare(b.usd(), a.usd()), bytes.Compare(a.Market.Condition[:], b.Market.Condition[:]))
	})
	for i := range f.Markets {
		f.Markets[i].Rank = i + 1
		if i > 0 && size(&f.Markets[i]) == size(&f.Markets[i-1]) {
			f.Markets[i].Rank = f.Markets[i-1].Rank
		}
	}
}
