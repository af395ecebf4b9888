// Package chain decodes the logs of the venue's contracts on Polygon: fills, refunds of their fees,
// and payouts. It reads no files and contacts no node.
package chain

import (
	"encoding/hex"
	"math/bits"

	"pmx/data"
)

// EventKind says what a log is.
type EventKind uint8

// The kinds of events.
const (
	PassedOver EventKind = iota // Why says why
	Filled
	Refunded
	Resolved
	Decided
	Migrated
)

// Event is a decoded log. It is valid until the next call of Decode.
type Event struct {
	Kind EventKind
	Why  string // PassedOver: a short stable reason
	Log  Log

	Fill       Fill
	Refund     Refund
	Resolution Resolution
	// Group is the event of protocol V2 that was decided: one of its conditions pays yes. It is the
	// id of its conditions without their number.
	Group data.Hash
	// Migrated is a condition whose payouts were taken over from protocol V1.
	Migrated data.Hash
}

// Asset is what a fee is paid in.
type Asset uint8

// The assets of fees.
const (
	Shares Asset = iota
	Dollars
)

// Fill is an OrderFilled event: one order's own side of a match.
type Fill struct {
	Order  data.Hash
	Maker  data.Address // whose order it is
	Taker  data.Address
	Role   data.Role // Taker if the event's taker is an exchange
	Side   data.Side
	Token  data.Hash // the id as 32 bytes
	Shares data.Micro
	USD    data.Micro
	// Fee is what the exchange took: for v1 in the asset that the order receives, part of which a
	// FeeModule may refund; for v2 in dollars in addition to USD.
	Fee   data.Micro
	FeeIn Asset
	// Refundable is set for v1.
	Refundable bool
	// Condition and Outcome are those of a position of protocol V2, whose id contains both; the
	// zero hash for other tokens.
	Condition data.Hash
	Outcome   int
	// Odd is why a position of protocol V2 has no usable condition, "" if it has one.
	Odd string
}

// Refund is a FeeRefunded event: what a fee module refunds of the fee of a fill.
type Refund struct {
	Order   data.Hash
	To      data.Address
	Token   data.Hash // zero: dollars
	Amount  data.Micro
	Charged data.Micro // what remains of the fee
}

// Resolution has the payouts of a condition, which sum to one.
type Resolution struct {
	Condition data.Hash
	Payouts   []data.Micro
	Derived   bool // the contract has not stored them: they are derived from other conditions
}

// Fault is why a log that should be read cannot be: a short stable reason.
type Fault string

// Error returns the reason.
func (f Fault) Error() string { return string(f) }

// The faults.
const (
	BadJSON        Fault = "bad_json"
	BadLog         Fault = "bad_log"
	BadAddress     Fault = "bad_address"
	BadHash        Fault = "bad_hash"
	BadIndex       Fault = "bad_log_index"
	BadBlock       Fault = "bad_block"
	BadTime        Fault = "bad_time"
	BadWords       Fault = "bad_words"
	BadSide        Fault = "bad_side"
	BadToken       Fault = "bad_token"
	BadAmount      Fault = "bad_amount"
	BadCondition   Fault = "bad_condition"
	BadPayout      Fault = "bad_payout"
	BeforeContract Fault = "before_contract"
)

// Decoder decodes logs. It is for one goroutine.
type Decoder struct {
	contracts map[data.Address]*Contract
	topics    map[data.Hash]topic
	event     Event
	words     [maxWords]data.Hash
	payouts   [maxOutcomes]data.Micro
}

// Maximum number of outcomes of a condition, and of words of data of an event.
const (
	maxOutcomes = 128
	maxWords    = maxOutcomes + 3
)

// NewDecoder returns a Decoder of the logs of these contracts.
func NewDecoder(contracts []Contract) *Decoder {
	d := &Decoder{contracts: make(map[data.Address]*Contract, len(contracts)), topics: topics()}
	for i := range contracts {
		d.contracts[contracts[i].Address] = &contracts[i]
	}
	return d
}

// Decode decodes a log, a JSON object. The error is a Fault.
func (d *Decoder) Decode(text []byte) (*Event, error) {
	e := &d.event
	l := &e.Log
	if !l.parse(text) {
		return nil, BadJSON
	}
	if l.has&hasAddress == 0 || l.has&hasTopics == 0 {
		return nil, BadLog
	}
	c, t := d.contracts[l.Address], topic{}
	if l.count > 0 {
		t = d.topics[l.topics[0]]
	}
	switch {
	case c == nil:
		return e.pass("unknown_contract"), nil
	case t.event == notRead:
		return e.pass(t.why), nil
	case !c.emits(t.event):
		return e.pass("unknown_event"), nil
	}
	if err := l.located(c); err != nil {
		return nil, err
	}
	return e, d.read(c, t.event)
}

func (e *Event) pass(why string) *Event {
	e.Kind, e.Why = PassedOver, why
	return e
}

// emits reports whether the event is read from such a contract.
func (c *Contract) emits(e event) bool {
	switch e {
	case filledV1:
		return c.Kind == ExchangeV1
	case filledV2:
		return c.Kind == ExchangeV2 || c.Kind == ExchangeV3
	case feeRefunded:
		return c.Kind == FeeModule
	case conditionResolution:
		return c.Kind == ConditionalTokens
	case conditionResolved:
		return c.Kind == Module && c.Module != combos
	case syntheticYes, remainingNo:
		return c.Kind == Module && c.Module == negRisk
	case migrationResolved:
		return c.Kind == Module && c.Module != combos
	}
	return false
}

// located returns a Fault if the log has no place in the chain.
func (l *Log) located(c *Contract) error {
	switch {
	case l.unread&hasRemoved != 0, l.has&hasData == 0, l.noWords:
		return BadLog
	case l.has&hasTx == 0 || l.unread&hasBlockHash != 0 || l.Tx.IsZero():
		return BadHash
	case l.has&hasIndex == 0:
		return BadIndex
	case l.has&hasBlock == 0:
		return BadBlock
	case l.unread&hasTime != 0, l.has&hasTime != 0 && l.Time == 0:
		return BadTime
	case l.Block < c.FromBlock:
		return BeforeContract
	}
	return nil
}

// read reads the event's own fields.
func (d *Decoder) read(c *Contract, t event) error {
	n := len(d.event.Log.data) / 64
	if n > len(d.words) || n*64 != len(d.event.Log.data) {
		return BadWords
	}
	for i := range n {
		if _, err := hex.Decode(d.words[i][:], d.event.Log.data[64*i:64*i+64]); err != nil {
			return BadLog
		}
	}
	words := d.words[:n]
	switch t {
	case filledV1:
		return d.filledV1(words)
	case filledV2:
		return d.filledV2(c, words)
	case feeRefunded:
		return d.refunded(words)
	case conditionResolution:
		return d.resolution(words)
	case conditionResolved:
		return d.resolved(c, words)
	case remainingNo:
		return d.decided(c, words)
	case migrationResolved:
		return d.migrated(c, words)
	default:
		return d.synthetic(c, words)
	}
}

// order reads the topics of OrderFilled.
func (d *Decoder) order(words []data.Hash, want int) (*Fill, error) {
	l := &d.event.Log
	if l.count != 4 || len(words) != want {
		return nil, BadWords
	}
	d.event.Kind, d.event.Fill = Filled, Fill{Order: l.topics[1], Role: data.Maker, Outcome: data.NoIndex}
	f := &d.event.Fill
	var ok, okTaker bool
	f.Maker, ok = address(l.topics[2])
	f.Taker, okTaker = address(l.topics[3])
	if !ok || !okTaker || f.Maker.IsZero() {
		return nil, BadAddress
	}
	if c := d.contracts[f.Taker]; c != nil && c.IsExchange() {
		f.Role = data.Taker
	}
	return f, nil
}

func (d *Decoder) filledV1(words []data.Hash) error {
	f, err := d.order(words, 5)
	if err != nil {
		return err
	}
	f.Refundable = true
	shares, usd := words[3], words[2]
	switch gives, takes := words[0], words[1]; {
	case gives.IsZero() == takes.IsZero():
		return BadSide
	case gives.IsZero():
		f.Side, f.Token, f.FeeIn = data.Buy, takes, Shares
	default:
		f.Side, f.Token, f.FeeIn = data.Sell, gives, Dollars
		shares, usd = usd, shares
	}
	return f.amounts(shares, usd, words[4])
}

func (d *Decoder) filledV2(c *Contract, words []data.Hash) error {
	f, err := d.order(words, 7)
	if err != nil {
		return err
	}
	shares, usd := words[3], words[2]
	switch side, ok := amount(words[0]); {
	case !ok || side > 1:
		return BadSide
	case side == 1:
		f.Side = data.Sell
		shares, usd = usd, shares
	}
	f.Token, f.FeeIn = words[1], Dollars
	if c.Kind == ExchangeV3 {
		f.position()
	}
	return f.amounts(shares, usd, words[4])
}

func (f *Fill) amounts(shares, usd, fee data.Hash) error {
	var okShares, okUSD, okFee bool
	f.Shares, okShares = amount(shares)
	f.USD, okUSD = amount(usd)
	f.Fee, okFee = amount(fee)
	switch {
	case f.Token.IsZero():
		return BadToken
	case !okShares || !okUSD || !okFee:
		return BadAmount
	}
	return nil
}

func (d *Decoder) refunded(words []data.Hash) error {
	l := &d.event.Log
	if l.count != 4 || len(words) != 2 {
		return BadWords
	}
	d.event.Kind, d.event.Refund = Refunded, Refund{Order: l.topics[1], Token: words[0]}
	r := &d.event.Refund
	var ok, okAmount, okCharged bool
	r.To, ok = address(l.topics[2])
	r.Amount, okAmount = amount(words[1])
	r.Charged, okCharged = amount(l.topics[3])
	switch {
	case !ok:
		return BadAddress
	case !okAmount || !okCharged:
		return BadAmount
	}
	return nil
}

// address returns the address in a topic; false if it is not one.
func address(h data.Hash) (a data.Address, ok bool) {
	copy(a[:], h[12:])
	return a, [12]byte(h[:12]) == [12]byte{}
}

// amount returns a uint256 of millionths; false if it does not fit.
func amount(h data.Hash) (data.Micro, bool) {
	n := uint64(0)
	for _, b := range h[24:] {
		n = n<<8 | uint64(b)
	}
	return data.Micro(n), [24]byte(h[:24]) == [24]byte{} && n>>63 == 0
}

// AppendDecimal adds the decimal text of a uint256 to b.
func AppendDecimal(b []byte, h data.Hash) []byte {
	var limbs [4]uint64
	for i, c := range h {
		limbs[i/8] = limbs[i/8]<<8 | uint64(c)
	}
	const chunk, width = 1e18, 18
	var text [5 * width]byte
	for at := len(text); at > 0; at -= width {
		var rest uint64
		for i := range limbs {
			limbs[i], rest = bits.Div64(rest, limbs[i], chunk)
		}
		for i := 1; i <= width; i++ {
			text[at-i] = byte('0' + rest%10)
			rest /= 10
		}
	}
	first := 0
	for first < len(text)-1 && text[first] == '0' {
		first++
	}
	return append(b, text[first:]...)
}
