package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/channel"
	"pmx/engine/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conn is the host's side of a connection.
type conn struct {
	t *testing.T
	*websocket.Conn
}

// say sends frames.
func (c conn) say(frames ...string) {
	for _, f := range frames {
		if err := c.Write(context.Background(), websocket.MessageText, []byte(f)); err != nil {
			return // the other side closed it
		}
	}
}

// told returns the next message except for pings; nil if the connection has ended.
func (c conn) told() map[string]any {
	for {
		_, b, err := c.Read(context.Background())
		if err != nil {
			return nil
		}
		if strings.EqualFold(string(b), "ping") {
			c.say("PONG")
			continue
		}
		var m map[string]any
		if json.Unmarshal(b, &m) != nil {
			c.t.Errorf("got %s, which is not JSON", b)
		}
		return m
	}
}

// host starts a server of websockets. f is called with each connection and its number from 0.
func host(t *testing.T, f func(n int, c conn)) channel.Options {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() != "pmx/1 (+ops@example.org)" {
			t.Errorf("the user agent is %q", r.UserAgent())
		}
		mu.Lock()
		at := n
		n++
		mu.Unlock()
		if r.URL.Query().Has("refuse") && at < 2 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		f(at, conn{t, c})
	}))
	t.Cleanup(s.Close)
	return channel.Options{Name: "quotes", URL: strings.Replace(s.URL, "http", "ws", 1) + "/ws/market", Agent: "pmx/1 (+ops@example.org)",
		Silence: 5 * time.Second, Ping: 20 * time.Millisecond, Jitter: func() float64 { return 0.001 }}
}

// heard keeps the events of a channel.
type heard struct {
	mu       sync.Mutex
	quotes   []channel.Quote
	resolved []data.Hash
	appeared []data.Hash
	lost     [][]string
}

func (h *heard) Quote(q channel.Quote) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quotes = append(h.quotes, q)
}
func (h *heard) Resolved(c data.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resolved = append(h.resolved, c)
}
func (h *heard) Appeared(c data.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.appeared = append(h.appeared, c)
}
func (h *heard) Lost(tokens []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = append(h.lost, tokens)
}
func (h *heard) all() []channel.Quote {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.quotes)
}
func (h *heard) losses() (lost [][]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.lost)
}

// until waits until f returns true.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// follow runs a market channel until the test ends.
func follow(t *testing.T, o channel.Options, tokens ...string) (*channel.Market, *heard) {
	t.Helper()
	h := &heard{}
	m, err := channel.NewMarket(o, h)
	if err != nil {
		t.Fatal(err)
	}
	m.Follow(tokens)
	ctx, cancel := context.WithCancel(context.Background())
	done := guard.Start(func() error { return m.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	return m, h
}

func quoteOf(bid, ask string) string {
	return `{"event_type":"best_bid_ask","market":"` + data.Hash{1: 1}.String() + `","asset_id":"7","best_bid":"` + bid + `","best_ask":"` + ask + `","timestamp":"1766789469958"}`
}

func shown(m *data.Micro) string {
	if m == nil {
		return "-"
	}
	return m.String()
}

func TestEventsOfTheMarketChannel(t *testing.T) {
	condition := data.Hash{1: 1}.String()
	frames := []string{
		`{"event_type":"book","market":"` + condition + `","asset_id":"7","bids":[{"price":"0.48","size":"1"},{"price":"0.5","size":"2"}],"asks":[{"price":"0.52","size":"1"}],"last_trade_price":"0.51","timestamp":"1703875200000"}`,
		"[" + quoteOf("0.49", "") + `,{"event_type":"last_trade_price","asset_id":"7","price":"0.497","timestamp":"1703875202000"}]`,
		`{"event_type":"price_change","price_changes":[{"asset_id":"7","price":"0.4","size":"1","side":"BUY","best_bid":"0.4","best_ask":"0.6"},{"asset_id":"8","best_bid":"0.4","best_ask":"0.6"}],"timestamp":1703875203000}`,
		`{"event_type":"tick_size_change","asset_id":"7","new_tick_size":"0.001"}`,
		`{"event_type":"market_resolved","market":"` + condition + `","winning_asset_id":"7"}`, `{"event_type":"new_market","market":"` + condition + `"}`,
		`{"event_type":"weather_report","asset_id":"7"}`, `[{"event_type":"weather_report"}]`, `[]`, ``, `PONG`,
		`{"event_type":"best_bid_ask","asset_id":"7","best_bid":"0.4"}`,                  // half of it is missing
		`{"event_type":"best_bid_ask","asset_id":"7","best_bid":"1.4","best_ask":"0.6"}`, // not a price
		`{"event_type":"last_trade_price","asset_id":"7","price":"","timestamp":"1"}`, `{"event_type":"price_change","price_changes":[]}`, `{"event_type":`, `[7`, `{"event_type":"book"}`,
		quoteOf("0.1", "0.2"),
	}
	o := host(t, func(_ int, c conn) {
		first := c.told()
		if first["type"] != "market" || first["custom_feature_enabled"] != true || first["initial_dump"] != true || len(first["assets_ids"].([]any)) != 1 {
			t.Errorf("it begins with %v", first)
		}
		c.say(frames...)
		c.told()
	})
	m, h := follow(t, o, "7")
	until(t, "the last quote", func() bool { q := h.all(); return len(q) > 0 && shown(q[len(q)-1].Ask) == "0.2" })
	var got []string
	for _, q := range h.all() {
		text := "last " + shown(q.Last)
		if q.Book {
			text = shown(q.Bid) + " " + shown(q.Ask) + " " + text
		}
		got = append(got, text+" "+q.At.Format("05.000"))
	}
	want := []string{"0.5 0.52 last 0.51 00.000", "0.49 - last - 09.958", "last 0.497 02.000", "0.4 0.6 last - 03.000", "0.1 0.2 last - 09.958"}
	if !slices.Equal(got, want) {
		t.Errorf("quotes %q, want %q", got, want)
	}
	if len(h.resolved) != 1 || len(h.appeared) != 1 || h.resolved[0] != (data.Hash{1: 1}) {
		t.Errorf("resolved %v, appeared %v", h.resolved, h.appeared)
	}
	s := m.Stats()
	if s.Unknown["weather_report"] != 2 || s.Bad != 7 || s.Events["best_bid_ask"] != 2 || s.State != channel.Following || s.Connects != 1 || s.LastAt.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestASilentConnectionIsReplaced(t *testing.T) {
	o := host(t, func(n int, c conn) {
		c.told()
		if n > 0 {
			c.say(quoteOf("0.3", "0.4"))
		}
		c.told() // pongs keep coming
	})
	o.Silence = 50 * time.Millisecond
	m, h := follow(t, o, "7")
	until(t, "a quote", func() bool { return len(h.all()) > 0 })
	if s := m.Stats(); s.Silent < 1 || s.Connects < 2 || s.LastErr != "connected, but no data came" {
		t.Errorf("%+v", s)
	}
	if lost := h.losses(); len(lost) == 0 || !slices.Equal(lost[0], []string{"7"}) {
		t.Errorf("lost %v", lost)
	}
	// The reply to a subscription does not make a connection a stable one: the allowed silence
	// grows.
	until(t, "more silences", func() bool { return m.Stats().Silent >= 3 })
	if s := m.Stats(); s.Connects > s.Silent+1 {
		t.Errorf("%+v", s)
	}
}

func TestAConnectionThatEndsIsReplacedAndSubscribed(t *testing.T) {
	var mu sync.Mutex
	var firsts []string
	o := host(t, func(n int, c conn) {
		first := c.told()
		mu.Lock()
		firsts = append(firsts, strings.Join(texts(first["assets_ids"]), " "))
		mu.Unlock()
		if n < 3 {
			_ = c.Close(websocket.StatusGoingAway, "restart")
			return
		}
		c.say(quoteOf("0.3", "0.4"))
		c.told()
	})
	var slept []time.Duration
	o.Jitter = func() float64 { return 1 }
	o.Sleep = func(ctx context.Context, d time.Duration) error { slept = append(slept, d); return ctx.Err() }
	m, h := follow(t, o, "7", "6")
	until(t, "a quote", func() bool { return len(h.all()) > 0 })
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(firsts, []string{"6 7", "6 7", "6 7", "6 7"}) {
		t.Errorf("subscribed to %q", firsts)
	}
	if want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}; !slices.Equal(slept, want) {
		t.Errorf("slept %v, want %v", slept, want)
	}
	if s := m.Stats(); s.Connects != 4 || s.LastErr != "closed by the host with 1001" {
		t.Errorf("%+v", s)
	}
}

func texts(list any) (out []string) {
	for _, v := range list.([]any) {
		out = append(out, v.(string))
	}
	return out
}

func TestTokensComeAndGo(t *testing.T) {
	told := make(chan map[string]any, 100)
	o := host(t, func(_ int, c conn) {
		for {
			m := c.told()
			if m == nil {
				return
			}
			told <- m
		}
	})
	m, h := follow(t, o)
	if s := m.Stats(); s.Connects != 0 {
		t.Errorf("connected without tokens: %+v", s)
	}
	m.Follow([]string{"1", "2"})
	if first := <-told; first["type"] != "market" || len(texts(first["assets_ids"])) != 2 {
		t.Errorf("%v", first)
	}
	m.Follow([]string{"2", "3"})
	if off, on := <-told, <-told; off["operation"] != "unsubscribe" || on["operation"] != "subscribe" || texts(off["assets_ids"])[0] != "1" || texts(on["assets_ids"])[0] != "3" {
		t.Errorf("%v, %v", off, on)
	}
	var many []string
	for i := range 1100 {
		many = append(many, "1"+strings.Repeat("0", i%7)+string(rune('a'+i%26))+time.Duration(i).String())
	}
	m.Follow(many)
	sum := 0
	for range 4 {
		message := <-told
		if n := len(texts(message["assets_ids"])); n > 500 {
			t.Errorf("%d tokens at once", n)
		} else if message["operation"] == "subscribe" {
			sum += n
		}
	}
	if sum != 1100 {
		t.Errorf("subscribed to %d", sum)
	}
	m.Follow(nil)
	until(t, "the end of the connection", func() bool { return m.Stats().State == channel.Idle })
	if lost := h.losses(); len(lost) != 1 {
		t.Errorf("lost %v", lost)
	}
}

// TestTokensChangeWhileItConnects: the tokens of that time are sent to the host once. Without one, the connection ends at
// once and without a fault, and the next token does not wait.
func TestTokensChangeWhileItConnects(t *testing.T) {
	dialed, accept, told := make(chan struct{}), make(chan struct{}), make(chan map[string]any, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dialed <- struct{}{}
		<-accept
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		for m := (conn{t, c}).told(); m != nil; m = (conn{t, c}).told() {
			told <- m
		}
	}))
	t.Cleanup(s.Close)
	o := channel.Options{Name: "quotes", URL: strings.Replace(s.URL, "http", "ws", 1), Agent: "a"}
	o.Sleep = func(ctx context.Context, d time.Duration) error { t.Errorf("slept %v", d); return ctx.Err() }
	m, _ := follow(t, o, "1")
	<-dialed
	m.Follow(nil)
	accept <- struct{}{}
	until(t, "the end of the connection", func() bool { return m.Stats().State == channel.Idle })
	if s := m.Stats(); s.Connects != 1 || s.Silent != 0 || s.LastErr != "" || len(told) > 0 {
		t.Errorf("%+v, sent %d", s, len(told))
	}
	m.Follow([]string{"1"})
	<-dialed
	m.Follow([]string{"2", "3", "2"})
	accept <- struct{}{}
	if first := <-told; first["type"] != "market" || !slices.Equal(texts(first["assets_ids"]), []string{"2", "3"}) {
		t.Errorf("told %v", first)
	}
	m.Follow([]string{"2", "3", "4", "4"})
	if next := <-told; next["operation"] != "subscribe" || !slices.Equal(texts(next["assets_ids"]), []string{"4"}) {
		t.Errorf("then told %v", next)
	}
}

func TestARefusalIsToldWithoutTheAddress(t *testing.T) {
	o := host(t, func(_ int, c conn) {
		c.told()
		c.say(quoteOf("0.3", "0.4"))
		c.told()
	})
	o.URL += "?refuse=secret"
	m, h := follow(t, o, "7")
	until(t, "a quote", func() bool { return len(h.all()) > 0 })
	if s := m.Stats(); s.LastErr != "refused with status 429" {
		t.Errorf("%+v", s)
	}
	for _, bad := range []channel.Options{{URL: "https://x", Agent: "a"}, {URL: "ws://x"}, {URL: "ws://", Agent: "a"}} {
		if _, err := channel.NewMarket(bad, h); err == nil || strings.Contains(err.Error(), "x") && strings.Contains(err.Error(), "https://x") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestTradesOfTheActivityFeed(t *testing.T) {
	trade := `{"connection_id":"g","payload":{"asset":"7","conditionId":"` + data.Hash{1: 1}.String() + `","outcomeIndex":0,"price":0.45,"proxyWallet":"0x1015bb260154F51E5F432cB0a3227C1619FCBac8","side":"BUY","size":"4.33","timestamp":1785027308,"transactionHash":"` + data.Hash{2: 2}.String() + `"},"timestamp":1785027308241,"topic":"activity","type":"trades"}`
	if file, ok := testfiles.Beside("G_live", "rtds", "activity_trades_frame_2026-07-25.json"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		trade = string(b)
	}
	o := host(t, func(_ int, c conn) {
		if first := c.told(); first["action"] != "subscribe" {
			t.Errorf("it begins with %v", first)
		}
		c.say("", strings.Replace(trade, `"trades"`, `"orders_matched"`, 1), strings.Replace(trade, `"BUY"`, `"HOLD"`, 1), `{`, trade)
		c.told()
	})
	var mu sync.Mutex
	var got []channel.Trade
	f, err := channel.NewTrades(o, func(t channel.Trade) { mu.Lock(); defer mu.Unlock(); got = append(got, t) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := guard.Start(func() error { return f.Run(ctx) })
	until(t, "a trade", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) > 0 })
	cancel()
	<-done
	if tr := got[0]; len(got) != 1 || tr.Price != 450_000 || tr.Shares != 4_330_000 || tr.At != 1785027308 || tr.Told.UnixMilli() != 1785027308241 || tr.Side != data.Buy || tr.Tx.IsZero() {
		t.Errorf("%+v", got)
	}
	if s := f.Stats(); s.Unknown["activity/orders_matched"] != 1 || s.Bad != 2 || s.Events["trades"] != 1 {
		t.Errorf("%+v", s)
	}
}

// TestCapturedFrames: captured frames are understood, if they are next to the checkout.
func TestCapturedFrames(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testfiles.Captured(t, "G_live", "clob_ws"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	var frames []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "event_type") { // two are responses of another path
			frames = append(frames, string(b))
		}
	}
	o := host(t, func(_ int, c conn) {
		c.told()
		c.say(append(frames, quoteOf("0.3", "0.4"))...)
		c.told()
	})
	m, h := follow(t, o, "7")
	until(t, "the last one", func() bool { return len(h.all()) > 0 })
	if s := m.Stats(); s.Bad != 0 || len(s.Unknown) != 0 || len(s.Events) < 7 {
		t.Errorf("%+v", s)
	}
}
