package replay

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"pmx/data"
	"pmx/data/sample"
	"pmx/data/upstream/channel"
)

// heard records what a channel reports.
type heard struct {
	mu                 sync.Mutex
	quotes             map[string]channel.Quote
	resolved, appeared map[data.Hash]bool
	lost               int
	trades             []channel.Trade
}

func (h *heard) with(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *heard) Quote(q channel.Quote) {
	h.with(func() {
		was := h.quotes[q.Token]
		if q.Last == nil {
			q.Last = was.Last
		}
		if !q.Book {
			q.Bid, q.Ask = was.Bid, was.Ask
		}
		h.quotes[q.Token] = q
	})
}
func (h *heard) Resolved(c data.Hash)  { h.with(func() { h.resolved[c] = true }) }
func (h *heard) Appeared(c data.Hash)  { h.with(func() { h.appeared[c] = true }) }
func (h *heard) Lost([]string)         { h.with(func() { h.lost++ }) }
func (h *heard) Trade(t channel.Trade) { h.with(func() { h.trades = append(h.trades, t) }) }

// becomes waits until f is true for what was heard.
func (h *heard) becomes(t *testing.T, what string, f func() bool) {
	t.Helper()
	for range 3000 {
		ok := false
		h.with(func() { ok = f() })
		if ok {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s did not happen", what)
}

func newHeard() *heard {
	return &heard{quotes: map[string]channel.Quote{}, resolved: map[data.Hash]bool{}, appeared: map[data.Hash]bool{}}
}

// runs runs follow until the test ends.
func runs(t *testing.T, follow func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- follow(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

func options(url, path string) channel.Options {
	return channel.Options{Name: "quotes", URL: "ws" + strings.TrimPrefix(url, "http") + path, Agent: "pmx/test", Ping: 50 * time.Millisecond,
		Silence: time.Minute, Jitter: func() float64 { return 0 }}
}

// TestChannelsReportTheDay checks that quotes begin with order books and follow the trades, that the
// events of new and resolved markets are sent, and that the websocket of trades has every match.
func TestChannelsReportTheDay(t *testing.T) {
	v := venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	start := v.Manifest.End.AddDate(0, 0, -1)
	s, url := startServer(t, Options{Venue: v, Start: start, Tick: 5 * time.Millisecond})
	t.Cleanup(s.Close)
	h := newHeard()
	m, err := channel.NewMarket(options(url, "/ws/market"), h)
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for n := range v.Markets {
		if v.Phase(v.Markets[n].Event, start.Unix()) == sample.Open {
			open = append(open, tokenID(v.Markets[n].Tokens[0]), tokenID(v.Markets[n].Tokens[1]))
		}
	}
	m.Follow(open)
	runs(t, m.Run)
	h.becomes(t, "books of all", func() bool { return len(h.quotes) == len(open) })
	trades, err := channel.NewTrades(options(url, "/rtds"), h.Trade)
	if err != nil {
		t.Fatal(err)
	}
	runs(t, trades.Run)
	left := 24 * 60
	h.becomes(t, "a trade", func() bool { // once the subscription has been received
		s.Clock().Advance(time.Minute)
		left--
		return len(h.trades) > 0
	})
	s.Clock().Advance(time.Duration(left) * time.Minute)
	count := len(v.Matches)
	h.becomes(t, "the last trade", func() bool { return h.trades[len(h.trades)-1].Tx == v.Tx(count-1) })
	for i, tr := range h.trades {
		if n := count - len(h.trades) + i; tr.Tx != v.Tx(n) || tr.At != v.Matches[n].At {
			t.Fatalf("tr = %+v, want %s", tr, v.Tx(n))
		}
	}
	end := v.Manifest.End.Unix()
	paid, listed, followed := 0, 0, map[string]bool{}
	for _, token := range open {
		followed[token] = true
	}
	for n := range v.Markets {
		mk := &v.Markets[n]
		if mk.Paid > start.Unix() && mk.Paid <= end && followed[tokenID(mk.Tokens[0])] && mk.Payouts[0] != mk.Payouts[1] {
			paid++
		}
		if mk.Opens > start.Unix() && mk.Opens <= end {
			listed++
		}
	}
	h.becomes(t, "hints", func() bool { return len(h.resolved) == paid && len(h.appeared) == listed })
	if paid == 0 || listed == 0 {
		t.Errorf("%d paid, %d listed", paid, listed)
	}
	quotes := s.tape.quotes(end)
	last := &v.Matches[len(v.Matches)-1]
	mk := int(last.Market)
	tick := v.Label(mk).Tick
	_, bid, ask := top(quotes(mk), tick, 0)
	h.becomes(t, "the newest quote", func() bool {
		q := h.quotes[tokenID(v.Markets[mk].Tokens[0])]
		return !followed[tokenID(v.Markets[mk].Tokens[0])] || q.Bid != nil && *q.Bid == data.Micro(bid*1000) && *q.Ask == data.Micro(ask*1000)
	})
	if st := m.Stats(); st.Bad > 0 || len(st.Unknown) > 0 || st.Connects != 1 {
		t.Errorf("st = %+v", st)
	}
}

// TestSocketFaults checks what a follower sees of each.
func TestSocketFaults(t *testing.T) {
	v := venue(t, sample.Config{Fills: 2000, Seed: 3, Chain: true})
	s, url := startServer(t, Options{Venue: v, Tick: 5 * time.Millisecond})
	t.Cleanup(s.Close)
	var token string
	for n := range v.Markets {
		if v.Phase(v.Markets[n].Event, v.Manifest.End.Unix()) == sample.Open {
			token = tokenID(v.Markets[n].Tokens[0])
		}
	}
	subscribe := `{"type":"market","assets_ids":["` + token + `"]}`
	// frames are those of a moment: what comes before the answer to the second ping
	frames := func() (list []string, err error) {
		c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/ws/market", nil)
		if err != nil {
			return nil, err
		}
		defer c.CloseNow()
		for _, m := range []string{"PING", subscribe, "PING"} {
			if err := c.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
				return list, err
			}
		}
		for pongs := 0; pongs < 2; {
			_, m, err := c.Read(t.Context())
			if err != nil {
				return list, err
			}
			if string(m) == "PONG" {
				pongs++
				continue
			}
			list = append(list, string(m))
		}
		return list, nil
	}
	plain, err := frames()
	if err != nil || len(plain) != 1 || !strings.Contains(plain[0], `"event_type":"book"`) {
		t.Fatalf("%v: %v", plain, err)
	}
	tried := map[string]bool{}
	for name, fits := range map[string]func(list []string, err error) bool{
		"ws-silence": func(l []string, err error) bool { return err == nil && len(l) == 0 },
		"ws-lapse:0": func(l []string, err error) bool { return err == nil && len(l) == 0 },
		"ws-refused": func(_ []string, err error) bool { return err != nil && strings.Contains(err.Error(), "503") },
		"ws-arrays":  func(l []string, err error) bool { return err == nil && len(l) == 1 && l[0][0] == '[' },
		"ws-unknown": func(l []string, err error) bool {
			return err == nil && len(l) == 2 && strings.Contains(l[0], "order_scoring")
		},
		"ws-bad-frames": func(l []string, err error) bool { return err == nil && len(l) == 2 && !json.Valid([]byte(l[0])) },
		"ws-twice":      func(l []string, err error) bool { return err == nil && len(l) == 2 && l[0] == l[1] },
		"ws-storm:0": func([]string, error) bool {
			c, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"/ws/market", nil)
			if err != nil {
				return false
			}
			defer c.CloseNow()
			_, _, err = c.Read(t.Context())
			return err != nil
		},
	} {
		if err := s.SetFaults("ws", Faults{Names: []string{name}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(name, ":")
		tried[kind] = true
		if kind == "ws-storm" {
			if !fits(nil, nil) {
				t.Errorf("%s has no effect", name)
			}
			continue
		}
		if list, err := frames(); !fits(list, err) {
			t.Errorf("%s: list = %v, err = %v", name, list, err)
		}
	}
	for _, k := range socketFaults {
		if !tried[k.Name] {
			t.Errorf("no case tries %s", k.Name)
		}
	}
}
