// Package encode writes logs of the venue's contracts on Polygon as nodes return them: the inverse
// of the Decoder of package chain.
package encode

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"pmx/data"
)

// Topics of the events, the Keccak-256 of their signatures, which package chain has.
const (
	FilledV1Topic  = "0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6"
	FilledV2Topic  = "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee"
	MatchedV1Topic = "0x63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c"
	MatchedV2Topic = "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c"
	RefundTopic    = "0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24"
	CTFTopic       = "0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894"
	DecidedTopic   = "0x7b4e633936952f2babe4b4b548a8ccb384cdfdf1a95247fbacd18e387b490502"
	MigratedTopic  = "0xf87100968b0fe70751acf87590ffac515231c5b999cba36e6820c7d312dcc8af"
	ModuleTopic    = "0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa"
)

// Hash returns the bytes of a topic of this package.
func Hash(topic string) data.Hash {
	h, err := data.ParseHash(topic)
	if err != nil {
		panic(err) // a constant above is not a hash: the first test finds it
	}
	return h
}

// Log is a log in its place in the chain.
type Log struct {
	Address data.Address
	Topics  []data.Hash // at most 4
	Words   []data.Hash // the data

	Block     int64
	BlockHash data.Hash
	Time      int64 // of the block, unix seconds; 0: not given
	Tx        data.Hash
	TxIndex   int
	Index     int
	Removed   bool
}

// Fill is what an OrderFilled event says. Amounts are millionths.
type Fill struct {
	Order        data.Hash
	Maker, Taker data.Address
	Buy          bool
	Token        data.Hash
	Shares, USD  int64
	Fee          int64 // for v1 in what the order receives, for v2 in dollars
}

func (f *Fill) gives() (gave, got int64) {
	if f.Buy {
		return f.USD, f.Shares
	}
	return f.Shares, f.USD
}

// FilledV1 makes the log an OrderFilled of the first exchanges.
func (l *Log) FilledV1(f *Fill) {
	gave, got := f.gives()
	give, get := f.Token, data.Hash{}
	if f.Buy {
		give, get = get, give
	}
	l.Topics = append(l.Topics[:0], filledV1, f.Order, Left(f.Maker), Left(f.Taker))
	l.Words = append(l.Words[:0], give, get, Number(gave), Number(got), Number(f.Fee))
}

// FilledV2 makes the log an OrderFilled of the second exchanges, or of the third.
func (l *Log) FilledV2(f *Fill) {
	gave, got := f.gives()
	l.Topics = append(l.Topics[:0], filledV2, f.Order, Left(f.Maker), Left(f.Taker))
	l.Words = append(l.Words[:0], side(f.Buy), f.Token, Number(gave), Number(got), Number(f.Fee), data.Hash{}, data.Hash{})
}

func side(buy bool) data.Hash {
	if buy {
		return data.Hash{}
	}
	return Number(1)
}

// MatchedV1 makes the log an OrdersMatched of the first exchanges: the taker's row again.
func (l *Log) MatchedV1(f *Fill) {
	gave, got := f.gives()
	give, get := f.Token, data.Hash{}
	if f.Buy {
		give, get = get, give
	}
	l.Topics = append(l.Topics[:0], matchedV1, f.Order, Left(f.Maker))
	l.Words = append(l.Words[:0], give, get, Number(gave), Number(got))
}

// MatchedV2 makes the log an OrdersMatched of the exchanges since.
func (l *Log) MatchedV2(f *Fill) {
	gave, got := f.gives()
	l.Topics = append(l.Topics[:0], matchedV2, f.Order, Left(f.Maker))
	l.Words = append(l.Words[:0], side(f.Buy), f.Token, Number(gave), Number(got))
}

// Refunded makes the log a FeeRefunded: what a fee module refunds of the fee of a fill of the first
// exchanges, in what the order received, and what remains.
func (l *Log) Refunded(f *Fill, back, remains int64) {
	in := data.Hash{}
	if f.Buy {
		in = f.Token
	}
	l.Topics = append(l.Topics[:0], refund, f.Order, Left(f.Maker), Number(remains))
	l.Words = append(l.Words[:0], in, Number(back))
}

// Resolution makes the log a ConditionResolution of the conditional tokens. Numerators may have any
// sum.
func (l *Log) Resolution(condition data.Hash, oracle data.Address, question data.Hash, numerators ...int64) {
	l.Topics = append(l.Topics[:0], ctf, condition, Left(oracle), question)
	l.Words = append(l.Words[:0], Number(int64(len(numerators))), Number(64), Number(int64(len(numerators))))
	for _, n := range numerators {
		l.Words = append(l.Words, Number(n))
	}
}

// Resolved makes the log a ConditionResolved of a module of protocol V2. Payouts are
// millionths.
func (l *Log) Resolved(condition data.Hash, payouts [2]data.Micro) {
	l.Topics = append(l.Topics[:0], module, condition)
	l.Words = append(l.Words[:0], Number(32), Number(2), Number(int64(payouts[0])), Number(int64(payouts[1])))
}

// Decided makes the log a RemainingConditionsDerivableAsNo of the module of negative risk.
func (l *Log) Decided(event data.Hash) {
	l.Topics = append(l.Topics[:0], decided, event)
	l.Words = l.Words[:0]
}

// Migrated makes the log a MigrationResolved of a module: the payouts of a condition of protocol V1
// apply to a condition of V2 from now on. Payouts are millionths.
func (l *Log) Migrated(condition, of data.Hash, payouts [2]data.Micro) {
	yes, no := Number(int64(payouts[0])), Number(int64(payouts[1]))
	l.Topics = append(l.Topics[:0], migrated, condition, of)
	l.Words = append(l.Words[:0], yes, no, yes, no)
}

// Number returns a number, not below 0, as a word.
func Number(n int64) (h data.Hash) {
	binary.BigEndian.PutUint64(h[24:], uint64(n))
	return h
}

// Left returns an address as a word.
func Left(a data.Address) (h data.Hash) {
	copy(h[12:], a[:])
	return h
}

var (
	filledV1  = Hash(FilledV1Topic)
	filledV2  = Hash(FilledV2Topic)
	matchedV1 = Hash(MatchedV1Topic)
	matchedV2 = Hash(MatchedV2Topic)
	refund    = Hash(RefundTopic)
	ctf       = Hash(CTFTopic)
	module    = Hash(ModuleTopic)
	decided   = Hash(DecidedTopic)
	migrated  = Hash(MigratedTopic)
)

// AppendJSON adds the log to b as a JSON object.
func (l *Log) AppendJSON(b []byte) []byte {
	b = hex.AppendEncode(append(b, `{"address":"0x`...), l.Address[:])
	b = append(b, `","topics":[`...)
	for i := range l.Topics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(hex.AppendEncode(append(b, `"0x`...), l.Topics[i][:]), '"')
	}
	b = append(b, `],"data":"0x`...)
	for i := range l.Words {
		b = hex.AppendEncode(b, l.Words[i][:])
	}
	b = AppendQuantity(append(b, `","blockNumber":`...), l.Block)
	b = hex.AppendEncode(append(b, `,"transactionHash":"0x`...), l.Tx[:])
	b = AppendQuantity(append(b, `","transactionIndex":`...), int64(l.TxIndex))
	b = hex.AppendEncode(append(b, `,"blockHash":"0x`...), l.BlockHash[:])
	b = append(b, '"')
	if l.Time != 0 {
		b = AppendQuantity(append(b, `,"blockTimestamp":`...), l.Time)
	}
	b = AppendQuantity(append(b, `,"logIndex":`...), int64(l.Index))
	b = strconv.AppendBool(append(b, `,"removed":`...), l.Removed)
	return append(b, '}')
}

// AppendQuantity adds a number in quotes as nodes write it: 0x and hexadecimal digits.
func AppendQuantity(b []byte, n int64) []byte {
	return append(strconv.AppendUint(append(b, `"0x`...), uint64(n), 16), '"')
}
