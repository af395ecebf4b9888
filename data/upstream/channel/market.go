package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/clob"
)

// Quote is the quote of a token in an event. Each field is valid only if its flag is set.
type Quote struct {
	Token    string
	Book     bool        // Bid and Ask are valid
	Bid, Ask *data.Micro // nil: that side is empty
	Last     *data.Micro // nil: not in the event
	At       time.Time   // of the venue's clock; zero if missing
}

// Sink receives the events of the market channel. Its methods are not called concurrently.
type Sink interface {
	Quote(q Quote)
	// Resolved is called when a market was resolved: a hint to request it.
	Resolved(condition data.Hash)
	// Appeared is called when there is a new market: a hint to request it.
	Appeared(condition data.Hash)
	// Lost is called when the connection has ended: the quotes of its tokens are outdated until new
	// ones come.
	Lost(tokens []string)
}

// Market follows the quotes of tokens on one connection.
type Market struct {
	*link
	sink   Sink
	tokens map[string]bool // guarded by link.mu
}

// Maximum number of tokens in a subscription, and the time between two pings of this channel.
const (
	mostSubscribed = 500 // tokens
	marketPing     = 10 * time.Second
)

// NewMarket returns a Market without tokens. Call Run to follow them.
func NewMarket(o Options, sink Sink) (*Market, error) {
	m := &Market{sink: sink, tokens: map[string]bool{}}
	var err error
	m.link, err = newLink(o, dialect{ping: "PING", every: marketPing, hello: m.hello, read: m.read, lost: func() { sink.Lost(m.Tokens()) }})
	return m, err
}

// Run follows the tokens until ctx ends, and returns its error.
func (m *Market) Run(ctx context.Context) error { return m.run(ctx) }

// Stats are the figures since the start.
func (m *Market) Stats() Stats { return m.snapshot() }

// Tokens returns the followed tokens, in order.
func (m *Market) Tokens() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sorted()
}

// sorted is like Tokens; mu must be held.
func (m *Market) sorted() []string {
	out := make([]string, 0, len(m.tokens))
	for t := range m.tokens {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// Follow replaces the followed tokens. Each change is sent to the host once: a connection that is opened
// meanwhile begins either with the tokens before the change or with those after it.
func (m *Market) Follow(tokens []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var more, fewer []string
	want := map[string]bool{}
	for _, t := range tokens {
		if !want[t] && !m.tokens[t] {
			more = append(more, t)
		}
		want[t] = true
	}
	for t := range m.tokens {
		if !want[t] {
			fewer = append(fewer, t)
		}
	}
	m.tokens = want
	slices.Sort(more)
	slices.Sort(fewer)
	messages := append(subscriptions("unsubscribe", fewer), subscriptions("subscribe", more)...)
	if len(want) == 0 {
		messages = [][]byte{nil} // the connection ends
	}
	m.say(messages...)
}

// operation is a message to the channel: the first of a connection has Type, a later one
// Operation.
type operation struct {
	Type      string   `json:"type,omitempty"`
	Operation string   `json:"operation,omitempty"`
	Tokens    []string `json:"assets_ids"`
	Custom    bool     `json:"custom_feature_enabled,omitempty"`
	Dump      bool     `json:"initial_dump,omitempty"`
}

func (o operation) json() []byte {
	b, _ := json.Marshal(o) // of texts and flags: never fails
	return b
}

func subscriptions(what string, tokens []string) (messages [][]byte) {
	for some := range slices.Chunk(tokens, mostSubscribed) {
		messages = append(messages, operation{Operation: what, Tokens: some, Custom: what == "subscribe"}.json())
	}
	return messages
}

// hello is called with mu held.
func (m *Market) hello() [][]byte {
	tokens := m.sorted()
	if len(tokens) == 0 {
		return nil
	}
	some := tokens[:min(len(tokens), mostSubscribed)]
	first := operation{Type: "market", Tokens: some, Custom: true, Dump: true}.json()
	return append([][]byte{first}, subscriptions("subscribe", tokens[len(some):])...)
}

// event is an event of any kind.
type event struct {
	Kind      string       `json:"event_type"`
	Condition shape.Text   `json:"market"`
	Token     shape.Text   `json:"asset_id"`
	Timestamp shape.Text   `json:"timestamp"`
	Bids      []clob.Level `json:"bids"`
	Asks      []clob.Level `json:"asks"`
	Last      shape.Text   `json:"last_trade_price"`
	Price     shape.Text   `json:"price"`
	Bid       *shape.Text  `json:"best_bid"` // "": the side is empty; nil: not in the event
	Ask       *shape.Text  `json:"best_ask"`
	Changes   []struct {
		Token shape.Text  `json:"asset_id"`
		Bid   *shape.Text `json:"best_bid"`
		Ask   *shape.Text `json:"best_ask"`
	} `json:"price_changes"`
}

// read parses a frame: an event, a list of events, or a pong.
func (m *Market) read(frame []byte) (events int) {
	frame = bytes.TrimSpace(frame)
	if len(frame) == 0 || bytes.EqualFold(frame, []byte("PONG")) {
		return 0
	}
	m.count(func(s *Stats) { s.Frames++ })
	list := []json.RawMessage{frame}
	if frame[0] == '[' {
		list = nil
		if json.Unmarshal(frame, &list) != nil {
			m.bad()
			return 0
		}
	}
	for _, raw := range list {
		var e event
		if json.Unmarshal(raw, &e) != nil {
			m.bad()
			continue
		}
		if m.take(&e) {
			events++
		}
	}
	return events
}

// take passes on an event, and reports whether it had any data.
func (m *Market) take(e *event) bool {
	at, err := clob.Millis(e.Timestamp)
	ok := err == nil
	switch e.Kind {
	case "book":
		q := Quote{Token: e.Token.Trim(), Book: true, At: at}
		var errBook, errLast error
		q.Bid, q.Ask, errBook = clob.Best(e.Bids, e.Asks)
		q.Last, errLast = clob.Price(e.Last)
		ok = ok && errBook == nil && errLast == nil && m.quote(q)
	case "price_change":
		ok = ok && len(e.Changes) > 0
		for _, c := range e.Changes {
			ok = m.best(c.Token, c.Bid, c.Ask, at) && ok
		}
	case "best_bid_ask":
		ok = ok && m.best(e.Token, e.Bid, e.Ask, at)
	case "last_trade_price":
		last, err := clob.Price(e.Price)
		ok = ok && err == nil && last != nil && m.quote(Quote{Token: e.Token.Trim(), Last: last, At: at})
	case "market_resolved", "new_market":
		condition, err := e.Condition.Condition()
		if ok = ok && err == nil && !condition.IsZero(); !ok {
			break
		}
		if e.Kind == "new_market" {
			m.sink.Appeared(condition)
		} else {
			m.sink.Resolved(condition)
		}
	case "tick_size_change":
	default:
		m.unknown(e.Kind)
		return false
	}
	if !ok {
		m.bad()
		return false
	}
	m.event(e.Kind)
	return true
}

// best passes on the best bid and ask of an event.
func (m *Market) best(token shape.Text, bid, ask *shape.Text, at time.Time) bool {
	if bid == nil || ask == nil {
		return false
	}
	q := Quote{Token: token.Trim(), Book: true, At: at}
	var err error
	if q.Bid, err = clob.Price(*bid); err != nil {
		return false
	}
	if q.Ask, err = clob.Price(*ask); err != nil {
		return false
	}
	return m.quote(q)
}

// quote passes on a quote if its token is followed.
func (m *Market) quote(q Quote) bool {
	m.mu.Lock()
	ours := m.tokens[q.Token]
	m.mu.Unlock()
	if ours {
		m.sink.Quote(q)
	}
	return ours || q.Token != ""
}
