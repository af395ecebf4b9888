package follow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"pmx/data/upstream/channel"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/fetch"
	"pmx/engine/guard"
	"pmx/rollups/follow"
	"pmx/rollups/serving"
)

// books is an order book service, with responses and a channel for every token.
type books struct {
	t *testing.T

	mu      sync.Mutex
	bid     string
	empty   int // answers without a book
	off     bool
	polled  int
	largest int // tokens asked for at once
	tokens  map[string]bool
	conns   []*websocket.Conn
}

func (b *books) set(f func()) { b.mu.Lock(); defer b.mu.Unlock(); f() }

func (b *books) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ws/market" {
		b.channel(w, r)
		return
	}
	var asked []struct {
		Token string `json:"token_id"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &asked) != nil {
		b.t.Errorf("asked %s for %s", r.URL, body)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.polled++
	b.largest = max(b.largest, len(asked))
	var rows []string
	for _, a := range asked {
		if b.empty == 0 {
			b.tokens[a.Token] = true
			rows = append(rows, fmt.Sprintf(`{"asset_id":"%s","bids":[{"price":"%s","size":"5"}],"asks":[],"timestamp":"%d","last_trade_price":"0.33"}`, a.Token, b.bid, time.Now().UnixMilli()))
		}
	}
	b.empty = max(0, b.empty-1)
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, "[%s]", strings.Join(rows, ","))
}

// channel sends the bid and a trade of every subscribed token, and that a market is resolved.
func (b *books) channel(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	off := b.off
	b.mu.Unlock()
	if off {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = c.CloseNow() }()
	b.set(func() { b.conns = append(b.conns, c) })
	for {
		_, text, err := c.Read(context.Background())
		if err != nil {
			return
		}
		var m struct {
			Tokens []string `json:"assets_ids"`
		}
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		b.mu.Lock()
		bid := b.bid
		b.mu.Unlock()
		for i, token := range m.Tokens {
			now := time.Now().UnixMilli()
			frame := fmt.Sprintf(`[{"event_type":"last_trade_price","asset_id":"%s","price":"0.5","timestamp":"%d"},{"event_type":"best_bid_ask","asset_id":"%s","best_bid":"%s","best_ask":"","timestamp":"%d"}]`, token, now, token, bid, now)
			if i == 0 {
				frame = strings.TrimSuffix(frame, "]") + `,{"event_type":"market_resolved","market":"` + condition(1).String() + `"}]`
			}
			if c.Write(context.Background(), websocket.MessageText, []byte(frame)) != nil {
				return
			}
		}
	}
}

// follows follows the open markets of a venue of 7, with or without a channel.
func follows(t *testing.T, change func(o *follow.QuoteOptions)) (*place, *books, *follow.Quotes) {
	t.Helper()
	p := newPlace(t, 7)
	m := p.lane(false)
	p.once(m)
	b := &books{t: t, bid: "0.4", tokens: map[string]bool{}}
	s := httptest.NewServer(b)
	h, err := fetch.New(fetch.Options{Name: "clob", Base: s.URL, Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1e4, Burst: 1000, InFlight: 4}})
	if err != nil {
		t.Fatal(err)
	}
	o := follow.QuoteOptions{Venue: p.k, Markets: m, CLOB: clob.New(h), Every: 5 * time.Millisecond, Poll: 20 * time.Millisecond, PerConnection: 4, Most: 8,
		Channel: channel.Options{URL: strings.Replace(s.URL, "http", "ws", 1) + "/ws/market", Agent: "pmx", Jitter: func() float64 { return 0.01 }}}
	change(&o)
	q := follow.NewQuotes(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := guard.Start(func() error { return q.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		h.Close()
		s.Close()
	})
	return p, b, q
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(longTime); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

const quotesOf = "SELECT concat_ws(' ', count(*), min(bid), max(bid), max(ask), max(last_price)) FROM live_quote"

func TestQuotesOfConnections(t *testing.T) {
	p, b, q := follows(t, func(o *follow.QuoteOptions) { o.CLOB = nil })
	eventually(t, "7 quotes", func() bool { return q.Status().Shown == 7 })
	p.want("told", quotesOf, "7 400000 400000 500000")
	s := q.Status()
	if s.Open != 7 || s.Followed != 7 || s.Current != 7 || len(s.Channels) != 2 || s.AsOf.IsZero() || s.Error != "" {
		t.Errorf("%+v", s)
	}
	// A connection that ends is opened again and sends all it has.
	b.set(func() {
		b.bid = "0.41"
		_ = b.conns[0].CloseNow()
	})
	eventually(t, "its tokens again", func() bool { return q.Status().Shown > 7 })
	eventually(t, "all of them", func() bool { return q.Status().Current == 7 })
	p.want("after it", "SELECT max(bid) FROM live_quote", "410000")
}

func TestBooksArePolledIfTheChannelIsOff(t *testing.T) {
	p, b, q := follows(t, func(o *follow.QuoteOptions) { o.Channel.URL, o.MostPolled = "", 3 })
	eventually(t, "7 quotes", func() bool { return q.Status().Shown >= 7 })
	p.want("polled", quotesOf, "7 400000 400000 330000")
	if s := q.Status(); s.Followed != 0 || s.Polls < 3 || len(s.Channels) != 0 {
		t.Errorf("%+v", s)
	}
	b.set(func() {
		if b.largest != 3 || len(b.tokens) != 7 {
			t.Errorf("%d books at once, of %d tokens", b.largest, len(b.tokens))
		}
		b.empty = 3
	})
	eventually(t, "an empty answer", func() bool { return q.Status().NoBooks == 1 })
	b.set(func() { b.bid = "0.2" })
	eventually(t, "books again", func() bool { return p.said("SELECT max(bid) FROM live_quote") == "200000" })
}

func TestBooksArePolledWithoutAConnection(t *testing.T) {
	p, b, q := follows(t, func(o *follow.QuoteOptions) { o.Most = 4 }) // the other 3 are polled
	eventually(t, "7 quotes", func() bool { return q.Status().Shown >= 7 })
	p.want("told and polled", "SELECT count(*) FROM live_quote", "7")
	if s := q.Status(); s.Followed != 4 || len(s.Channels) != 1 {
		t.Errorf("%+v", s)
	}
	// Open markets without an order book are not a failure while others have quotes.
	polls := q.Status().Polls
	b.set(func() { b.empty = 1 << 20 })
	eventually(t, "polls without a book", func() bool { return q.Status().NoBooks >= 2 && q.Status().Polls > polls+2 })
	if s := q.Status(); s.Error != "" || s.Phase != follow.Idle {
		t.Errorf("%+v", s)
	}
	b.set(func() {
		b.empty = 0
		b.off, b.bid = true, "0.1"
		_ = b.conns[0].CloseNow()
	})
	eventually(t, "all polled", func() bool { return p.said("SELECT max(bid) FROM live_quote") == "100000" })
}

// If quotes stop coming, that is reported, and so is that they come again.
func TestQuotesThatDoNotComeAreStalled(t *testing.T) {
	_, b, q := follows(t, func(o *follow.QuoteOptions) { o.Channel.URL, o.Silent = "", 200*time.Millisecond })
	eventually(t, "7 quotes", func() bool { return q.Status().Shown >= 7 })
	b.set(func() { b.empty = 1 << 20 })
	eventually(t, "silence", func() bool { return q.Status().Phase == follow.Stalled })
	for range 20 { // successful display does not hide failed polls
		if s := q.Status(); s.Error == "" {
			t.Errorf("failed polls are not reported: %+v", s)
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if s := q.Status(); s.Tell().State != serving.SourceStalled {
		t.Errorf("%+v", s)
	}
	b.set(func() { b.empty = 0 })
	eventually(t, "quotes again", func() bool { return q.Status().Phase == follow.Idle })
}
