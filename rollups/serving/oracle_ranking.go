package serving

import (
	"bytes"
	"cmp"
	"slices"

	"pmx/data"
)

// RankedFrom is how many forecasts a wallet needs to be in the ranking that every snapshot holds.
const RankedFrom = 20

// Oracle has every wallet's score, the ranking by it, and the average price of each outcome's
// tokens.
type Oracle struct {
	scores    shared[scored]
	baselines shared[int32]   // in millionths, by token
	ranked    []data.WalletID // wallets with RankedFrom forecasts or more
	wallets   *Wallets
}

// scored is a wallet's score; hidden keeps the venue's own out of rankings.
type scored struct {
	Score
	hidden bool
}

// Score returns a wallet's score, zero if it has no forecasts.
func (o *Oracle) Score(wallet data.WalletID) Score {
	if o == nil {
		return Score{}
	}
	if s := o.scores.at(int(wallet)); s != nil {
		return s.Score
	}
	return Score{}
}

// Baseline is the average price of the outcome of a token; 0 if it was never traded.
func (o *Oracle) Baseline(token data.TokenID) data.Micro {
	if o == nil {
		return 0
	}
	if price := o.baselines.at(int(token)); price != nil {
		return data.Micro(*price)
	}
	return 0
}

// Ranking has the first wallets among those with enough forecasts.
type Ranking struct {
	Total   int // how many have enough
	Wallets []data.WalletID
	Ranks   []int32 // competition rank by Brier score: 1, 1, 3
}

// Ranking returns the first most wallets with at least atLeast forecasts, without the venue's own:
// by Brier score, ties by the number of forecasts, the most first, then by address.
func (o *Oracle) Ranking(atLeast, most int) Ranking {
	if o == nil {
		return Ranking{}
	}
	var r Ranking
	if atLeast < RankedFrom {
		all := o.collect(atLeast)
		r.Total, r.Wallets = len(all), o.first(all, most)
	} else {
		for _, id := range o.ranked {
			if int(o.scores.at(int(id)).Forecasts) >= atLeast {
				if r.Total++; len(r.Wallets) < most {
					r.Wallets = append(r.Wallets, id)
				}
			}
		}
	}
	r.Ranks = make([]int32, len(r.Wallets))
	for i, id := range r.Wallets {
		r.Ranks[i] = int32(i + 1)
		if i > 0 && compareBrier(&o.scores.at(int(r.Wallets[i-1])).Score, &o.scores.at(int(id)).Score) == 0 {
			r.Ranks[i] = r.Ranks[i-1]
		}
	}
	return r
}

// collect lists the wallets with at least that many forecasts, in no order.
func (o *Oracle) collect(atLeast int) []data.WalletID {
	var ids []data.WalletID
	for n, b := range o.scores.blocks {
		if b == nil {
			continue
		}
		for i := range b {
			if s := &b[i]; s.Forecasts > 0 && int(s.Forecasts) >= atLeast && !s.hidden {
				ids = append(ids, data.WalletID(n<<blockBits|i))
			}
		}
	}
	return ids
}

// first returns the first most of ids, ranked. A wallet that ranks below the last of those picked
// so far is skipped; nearly all are.
func (o *Oracle) first(ids []data.WalletID, most int) []data.WalletID {
	var best []data.WalletID
	full := false
	cut := func() {
		slices.SortFunc(best, o.compare)
		if full = len(best) >= most; full {
			best = best[:most]
		}
	}
	for _, id := range ids {
		if full && o.compare(best[most-1], id) < 0 {
			continue
		}
		if best = append(best, id); len(best) >= 2*most {
			cut()
		}
	}
	cut()
	return best
}

// Rank is a wallet's place among those with RankedFrom forecasts or more; false if it has fewer, or
// is one of the venue's own.
func (o *Oracle) Rank(wallet data.WalletID) (int, bool) {
	if o == nil {
		return 0, false
	}
	s := o.scores.at(int(wallet))
	if s == nil || !s.ranks() {
		return 0, false
	}
	i, _ := slices.BinarySearchFunc(o.ranked, &s.Score, func(id data.WalletID, s *Score) int {
		return compareBrier(&o.scores.at(int(id)).Score, s)
	})
	return i + 1, true
}

// Ranked is how many wallets have RankedFrom forecasts or more.
func (o *Oracle) Ranked() int {
	if o == nil {
		return 0
	}
	return len(o.ranked)
}

func (s *scored) ranks() bool { return s.Forecasts >= RankedFrom && !s.hidden }

// compare is the order of a ranking.
func (o *Oracle) compare(x, y data.WalletID) int {
	a, b := &o.scores.at(int(x)).Score, &o.scores.at(int(y)).Score
	if c := cmp.Or(compareBrier(a, b), cmp.Compare(b.Forecasts, a.Forecasts)); c != 0 {
		return c
	}
	p, q := o.wallets.Address(x), o.wallets.Address(y)
	return bytes.Compare(p[:], q[:])
}

// OracleBuilder makes successive Oracles at a cost proportional to what changes. It belongs to one
// goroutine.
type OracleBuilder struct {
	scores    paged[scored]
	baselines paged[int32]
	wallets   *Wallets `image:"-"`
	ranked    []data.WalletID
	changed   []data.WalletID
	noted     []bool // by wallet: it is in changed
}

// NewOracleBuilder returns a builder of no forecasts by the wallets of an index.
func NewOracleBuilder(w *Wallets) *OracleBuilder { return &OracleBuilder{wallets: w} }

// Restored completes a builder that was read from an image with the index of wallets.
func (b *OracleBuilder) Restored(w *Wallets) { b.wallets = w }

// Add adds a change to a wallet's score. A hidden wallet is not ranked.
func (b *OracleBuilder) Add(wallet data.WalletID, change Score, hidden bool) {
	s := b.scores.edit(int(wallet))
	s.plus(&change)
	s.hidden = hidden
	for int(wallet) >= len(b.noted) {
		b.noted = append(b.noted, false)
	}
	if !b.noted[wallet] {
		b.noted[wallet] = true
		b.changed = append(b.changed, wallet)
	}
}

// SetBaseline sets the average price of the outcome of a token, 0 to 1.
func (b *OracleBuilder) SetBaseline(token data.TokenID, price data.Micro) {
	if old := b.baselines.at(int(token)); old == nil || *old != int32(price) {
		*b.baselines.edit(int(token)) = int32(price)
	}
}

// Seal returns the Oracle as it is now and starts the next one.
func (b *OracleBuilder) Seal() *Oracle {
	b.Rank()
	return &Oracle{scores: b.scores.seal(), baselines: b.baselines.seal(), wallets: b.wallets, ranked: b.ranked}
}

// Rank ranks the wallets that changed, as Seal would. It uses nothing but scores and addresses.
func (b *OracleBuilder) Rank() {
	if len(b.changed) == 0 {
		return
	}
	b.ranked = b.rerank(&Oracle{scores: b.scores.shared, wallets: b.wallets})
	for _, id := range b.changed {
		b.noted[id] = false
	}
	b.changed = b.changed[:0]
}

// rerank moves the wallets that changed to their new places in the ranking.
func (b *OracleBuilder) rerank(o *Oracle) []data.WalletID {
	in := make([]data.WalletID, 0, len(b.changed))
	for _, id := range b.changed {
		if o.scores.at(int(id)).ranks() {
			in = append(in, id)
		}
	}
	slices.SortFunc(in, o.compare)
	kept := make([]data.WalletID, 0, len(b.ranked))
	for _, id := range b.ranked {
		if !b.noted[id] {
			kept = append(kept, id)
		}
	}
	out := make([]data.WalletID, 0, len(kept)+len(in))
	for _, id := range in {
		at, _ := slices.BinarySearchFunc(kept, id, o.compare)
		out = append(append(out, kept[:at]...), id)
		kept = kept[at:]
	}
	return append(out, kept...)
}

// compareWith counts the scores and averages of o, and those that differ in p.
func (o *Oracle) compareWith(p *Oracle, wallets, tokens int) (rows, differ int64) {
	note := func(same bool) {
		rows++
		if !same {
			differ++
		}
	}
	for id := range data.WalletID(wallets) {
		x, y := o.Score(id), p.Score(id)
		note(x == y)
	}
	for id := range data.TokenID(tokens) {
		note(o.Baseline(id) == p.Baseline(id))
	}
	note(slices.Equal(o.rankedWallets(), p.rankedWallets()))
	return rows, differ
}

func (o *Oracle) rankedWallets() []data.WalletID {
	if o == nil {
		return nil
	}
	return o.ranked
}
