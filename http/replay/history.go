package replay

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// kind is an event of a contract; filters select by it.
type kind int

// Exchanges, which are also kinds of OrderFilled, and the other kinds.
const (
	plain1 kind = iota
	negRisk1
	plain2
	negRisk2
	third
	exchanges                   // OrdersMatched of each, from here
	refundPlain kind = iota + 4 // FeeRefunded, after OrdersMatched
	refundNegRisk
	resolution
	resolvedBinary
	resolvedNegRisk
	kinds
)

// emitter is the contract that emits a kind, and the kind's first topic.
type emitter struct {
	address data.Address
	topic   data.Hash
}

// history is the chain of a venue: its blocks and the logs in them.
type history struct {
	venue    *sample.Venue
	emitters [kinds]emitter
	oracle   data.Address // oracle of the conditions of the first protocol
	paid     []int32      // markets in the order in which they were resolved
	refunds  int64        // first block of the two fee modules
	byTx     sync.Once    // fills txs
	txs      map[data.Hash]int64
}

func newHistory(v *sample.Venue) (*history, error) {
	h := &history{venue: v}
	addresses := map[string]data.Address{}
	for _, c := range chain.Contracts() {
		addresses[c.Name] = c.Address
		if c.Kind == chain.FeeModule {
			h.refunds = max(h.refunds, c.FromBlock)
		}
		if from := sample.BlockOf(v.Manifest.Start.Unix()); c.Kind == chain.ExchangeV1 && from < c.FromBlock {
			return nil, fmt.Errorf("the venue begins with block %d, but the exchanges on Polygon begin with block %d: use a venue that ends later", from, c.FromBlock)
		}
	}
	names := [...]string{"CTF Exchange", "Neg Risk CTF Exchange", "CTF Exchange v2", "Neg Risk CTF Exchange v2", "Exchange v3"}
	for i, name := range names {
		filled, matched := encode.FilledV2Topic, encode.MatchedV2Topic
		if kind(i) < plain2 {
			filled, matched = encode.FilledV1Topic, encode.MatchedV1Topic
		}
		h.emitters[i] = emitter{addresses[name], encode.Hash(filled)}
		h.emitters[exchanges+kind(i)] = emitter{addresses[name], encode.Hash(matched)}
	}
	h.emitters[refundPlain] = emitter{addresses["Fee Module"], encode.Hash(encode.RefundTopic)}
	h.emitters[refundNegRisk] = emitter{addresses["Neg Risk Fee Module"], encode.Hash(encode.RefundTopic)}
	h.emitters[resolution] = emitter{addresses["Conditional Tokens"], encode.Hash(encode.CTFTopic)}
	h.emitters[resolvedBinary] = emitter{addresses["Binary Module"], encode.Hash(encode.ModuleTopic)}
	h.emitters[resolvedNegRisk] = emitter{addresses["Neg Risk Module"], encode.Hash(encode.ModuleTopic)}
	for k, e := range h.emitters {
		if e.address.IsZero() {
			return nil, fmt.Errorf("the table of contracts lacks the emitter of event %d", k)
		}
	}
	h.oracle = addresses["Neg Risk Adapter"]
	for i := range v.Markets {
		if v.Markets[i].Paid != 0 {
			h.paid = append(h.paid, int32(i))
		}
	}
	slices.SortStableFunc(h.paid, func(a, b int32) int { return cmp.Compare(v.Markets[a].Paid, v.Markets[b].Paid) })
	return h, nil
}

// Purposes of random hashes.
const (
	forOrder = iota
	forPayout
	forFault
	forBlock // of the chain, and above of its forks
)

// mostRows is the maximum number of rows in a match, a power of two.
const mostRows = 64

// fork is a copy of the chain whose blocks differ from one on.
type fork struct {
	from   int64
	number uint64 // 0: none
}

func (h *history) hash(block int64, f fork) data.Hash {
	if f.number == 0 || block < f.from {
		return h.venue.Random(forBlock, uint64(block))
	}
	return h.venue.Random(forBlock+f.number, uint64(block))
}

// scan visits the logs of a range of blocks.
type scan struct {
	*history
	fork  fork
	takes *[kinds]bool // nil: all
	emit  func(l *encode.Log) error

	log  encode.Log
	rows []sample.Row
}

// run emits the logs of the selected kinds in a range of blocks, including both ends, in order. A
// log is valid until the next.
func (s *scan) run(from, to int64) error {
	v := s.venue
	i := v.FindMatch(sample.BlockTime(from))
	j := s.firstPaid(sample.BlockTime(from))
	for {
		at := int64(-1)
		if i < len(v.Matches) {
			at = v.Matches[i].At
		}
		if j < len(s.paid) && (at < 0 || v.Markets[s.paid[j]].Paid < at) {
			at = v.Markets[s.paid[j]].Paid
		}
		block := sample.BlockOf(at)
		if at < 0 || block > to {
			return nil
		}
		s.begin(block, at)
		for ; j < len(s.paid) && v.Markets[s.paid[j]].Paid == at; j++ {
			if err := s.payout(s.paid[j]); err != nil {
				return err
			}
		}
		for ; i < len(v.Matches) && v.Matches[i].At == at; i++ {
			if err := s.match(i); err != nil {
				return err
			}
		}
	}
}

func (h *history) firstPaid(second int64) int {
	j, _ := slices.BinarySearchFunc(h.paid, second, func(m int32, at int64) int {
		if h.venue.Markets[m].Paid < at {
			return -1
		}
		return 1
	})
	return j
}

// begin sets the position of the first log of a block: at is the index after any other logs.
func (s *scan) begin(block, at int64) {
	l := &s.log
	l.Block, l.Time, l.BlockHash = block, at, s.hash(block, s.fork)
	l.TxIndex, l.Index = int(l.BlockHash[0]&7), int(l.BlockHash[1]&63)
}

// send emits the log if its kind is selected, and advances to the next index.
func (s *scan) send(k kind, fill func(l *encode.Log)) error {
	defer func() { s.log.Index++ }()
	if s.takes != nil && !s.takes[k] {
		return nil
	}
	s.log.Address = s.emitters[k].address
	fill(&s.log)
	return s.emit(&s.log)
}

func (s *scan) payout(market int32) error {
	m := &s.venue.Markets[market]
	s.log.Tx = s.venue.Random(forPayout, uint64(market))
	defer func() { s.log.TxIndex++ }()
	switch {
	case !m.Positions:
		return s.send(resolution, func(l *encode.Log) {
			unit := min(m.Payouts[0], data.One-m.Payouts[0])
			if unit == 0 {
				unit = data.One
			}
			l.Resolution(m.Condition, s.oracle, m.Question, int64(m.Payouts[0]/unit), int64(m.Payouts[1]/unit))
		})
	case m.NegRisk:
		return s.send(resolvedNegRisk, func(l *encode.Log) { l.Resolved(m.Condition, m.Payouts) })
	}
	return s.send(resolvedBinary, func(l *encode.Log) { l.Resolved(m.Condition, m.Payouts) })
}

// exchange returns the exchange of a match.
func (h *history) exchange(m *sample.Match) kind {
	k := kind(h.venue.Generation(m)-1) * 2
	if k < third && h.venue.Markets[m.Market].NegRisk {
		k++
	}
	return k
}

// match emits the makers' rows and then the taker's, whose taker field is the exchange.
func (s *scan) match(number int) error {
	v := s.venue
	m := &v.Matches[number]
	market := &v.Markets[m.Market]
	on := s.exchange(m)
	back := refundPlain + on // of the first exchanges
	s.log.Tx = v.Tx(number)
	defer func() { s.log.TxIndex++ }()
	if s.takes != nil && !s.takes[on] && !s.takes[exchanges+on] && (!s.refunded(on, market) || !s.takes[back]) {
		s.log.Index += s.logs(m)
		return nil
	}
	s.rows = v.AppendRows(s.rows[:0], m)
	taker := v.Wallet(s.rows[len(s.rows)-1].Wallet)
	var f encode.Fill
	for i := range s.rows {
		r := &s.rows[i]
		f = encode.Fill{Order: v.Random(forOrder, uint64(number)*mostRows+uint64(i)), Maker: v.Wallet(r.Wallet), Taker: taker, Buy: r.Buy,
			Token: market.Tokens[r.Outcome], Shares: r.Shares, USD: r.USD}
		if r.Taker {
			f.Taker, f.Fee = s.emitters[on].address, s.fee(on, r, market)
		}
		if err := s.send(on, func(l *encode.Log) { filled(l, on, &f) }); err != nil {
			return err
		}
	}
	if err := s.send(exchanges+on, func(l *encode.Log) { matched(l, on, &f) }); err != nil || !s.refunded(on, market) {
		return err
	}
	remains := f.Fee * market.FeeRate / 1000
	return s.send(back, func(l *encode.Log) { l.Refunded(&f, f.Fee-remains, remains) })
}

// logs returns how many logs a match has: the fills, OrdersMatched and the refund of a fee.
func (s *scan) logs(m *sample.Match) int {
	n := m.Fills() + 1
	if s.refunded(s.exchange(m), &s.venue.Markets[m.Market]) {
		n++
	}
	return n
}

// refunded reports whether a part of the taker's fee of a match in the block is refunded.
func (s *scan) refunded(on kind, m *sample.Market) bool {
	return on < plain2 && s.log.Block >= s.refunds && m.FeeRate > 0
}

// fee returns what the exchange charges a taker. The first exchanges charge a tenth of what the
// order receives, the others shares · rate · price · (1 − price) dollars, rounded down to five
// decimals.
func (s *scan) fee(on kind, r *sample.Row, m *sample.Market) int64 {
	switch {
	case on < plain2 && !s.refunded(on, m):
		return 0
	case on < plain2 && r.Buy:
		return r.Shares / 10
	case on < plain2:
		return r.USD / 10
	}
	hi, lo := bits.Mul64(uint64(r.USD), uint64((r.Shares-r.USD)*m.FeeRate))
	fee, _ := bits.Div64(hi, lo, uint64(r.Shares)*1000)
	return int64(fee / 10 * 10)
}

func filled(l *encode.Log, on kind, f *encode.Fill) {
	if on < plain2 {
		l.FilledV1(f)
	} else {
		l.FilledV2(f)
	}
}

func matched(l *encode.Log, on kind, f *encode.Fill) {
	if on < plain2 {
		l.MatchedV1(f)
	} else {
		l.MatchedV2(f)
	}
}

// count returns approximately how many logs there are between two blocks, without refunds.
func (h *history) count(from, to int64, takes *[kinds]bool) (n int) {
	v := h.venue
	end := sample.BlockTime(to)
	for i := v.FindMatch(sample.BlockTime(from)); i < len(v.Matches) && v.Matches[i].At <= end; i++ {
		on := h.exchange(&v.Matches[i])
		if takes[on] {
			n += v.Matches[i].Fills()
		}
		if takes[exchanges+on] {
			n++
		}
	}
	return n
}
