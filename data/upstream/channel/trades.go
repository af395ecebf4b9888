package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/clob"
)

// Trade is a trade of the activity channel: one wallet's side of it, without a log index. It may never
// appear on the chain.
type Trade struct {
	Wallet    data.Address
	Condition data.Hash
	Token     string
	Side      data.Side
	Shares    data.Micro
	Price     data.Micro
	Tx        data.Hash // zero: not given
	At        int64     // seconds of its block
	Told      time.Time // when the channel sent it; zero: not given
}

// Trades follows the activity channel.
type Trades struct {
	*link
	sink func(Trade)
}

const tradesPing = 5 * time.Second

// NewTrades returns a Trades. sink is called with one trade at a time. Call Run to follow the channel.
func NewTrades(o Options, sink func(Trade)) (*Trades, error) {
	t := &Trades{sink: sink}
	hello := [][]byte{[]byte(`{"action":"subscribe","subscriptions":[{"topic":"activity","type":"trades"}]}`)}
	var err error
	t.link, err = newLink(o, dialect{ping: "ping", every: tradesPing, hello: func() [][]byte { return hello }, read: t.read, lost: func() {}})
	return t, err
}

// Run follows the channel until ctx ends, and returns its error.
func (t *Trades) Run(ctx context.Context) error { return t.run(ctx) }

// Stats are the figures since the start.
func (t *Trades) Stats() Stats { return t.snapshot() }

// read parses a frame. An empty frame keeps the connection alive.
func (t *Trades) read(frame []byte) (events int) {
	frame = bytes.TrimSpace(frame)
	if len(frame) == 0 || bytes.EqualFold(frame, []byte("pong")) {
		return 0
	}
	t.count(func(s *Stats) { s.Frames++ })
	var f struct {
		Topic   string          `json:"topic"`
		Type    string          `json:"type"`
		Told    shape.Text      `json:"timestamp"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(frame, &f) != nil {
		t.bad()
		return 0
	}
	if f.Topic != "activity" || f.Type != "trades" { // orders_matched repeats the same trades
		t.unknown(f.Topic + "/" + f.Type)
		return 0
	}
	trade, ok := tradeOf(f.Payload)
	told, err := clob.Millis(f.Told)
	if !ok || err != nil {
		t.bad()
		return 0
	}
	trade.Told = told
	t.event(f.Type)
	t.sink(trade)
	return 1
}

func tradeOf(payload []byte) (t Trade, ok bool) {
	var p struct {
		Wallet    shape.Text `json:"proxyWallet"`
		Condition shape.Text `json:"conditionId"`
		Token     shape.Text `json:"asset"`
		Side      shape.Text `json:"side"`
		Size      shape.Text `json:"size"`
		Price     shape.Text `json:"price"`
		Tx        shape.Text `json:"transactionHash"`
		Timestamp shape.Text `json:"timestamp"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return t, false
	}
	var errs [5]error
	t.Wallet, errs[0] = data.ParseAddress(p.Wallet.Trim())
	t.Condition, errs[1] = p.Condition.Condition()
	t.Side, errs[2] = shape.SideOf(p.Side.Trim())
	t.Tx, errs[3] = p.Tx.Hash()
	t.At, errs[4] = data.ParseWhole(p.Timestamp.Trim())
	for _, err := range errs {
		if err != nil {
			return t, false
		}
	}
	var okToken, okSize bool
	t.Token, okToken = shape.TokenID(p.Token.Trim())
	t.Shares, okSize = p.Size.Micro()
	price, err := clob.Price(p.Price)
	if !okToken || !okSize || t.Shares < 0 || err != nil || price == nil {
		return t, false
	}
	t.Price = *price
	return t, true
}
