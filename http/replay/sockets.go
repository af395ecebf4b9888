package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"pmx/data/sample"
	"pmx/engine/guard"
)

// socketFaults are the faults of the websockets. Each affects a whole connection.
var socketFaults = []Kind{
	{Name: "ws-silence", Of: "ws", About: "nothing is sent but answers to pings"},
	{Name: "ws-lapse", Of: "ws", About: "after this many milliseconds nothing is sent but answers to pings", Number: 2000},
	{Name: "ws-storm", Of: "ws", About: "the connection ends after this many milliseconds", Number: 200},
	{Name: "ws-refused", Of: "ws", About: "no connection: status 503"},
	{Name: "ws-arrays", Of: "ws", About: "every event is sent as a list of one"},
	{Name: "ws-unknown", Of: "ws", About: "events of unknown types are sent too"},
	{Name: "ws-bad-frames", Of: "ws", About: "frames that are not JSON are sent too"},
	{Name: "ws-twice", Of: "ws", About: "everything is sent twice, trades as orders_matched too"},
}

// Limits of a connection: the size of a message, the time to write one, and the number of events
// sent for one moment.
const (
	mostMessage  = 1 << 20
	writeTimeout = 10 * time.Second
	mostAtOnce   = 500
	usualTick    = 250 * time.Millisecond
)

// socket is one connection.
type socket struct {
	*Server
	c     *websocket.Conn
	f     *Fault
	began time.Time
	last  int64 // second up to which everything was sent
}

// dialect is the part of the protocol in which the websockets differ.
type dialect interface {
	// heard handles a message and returns the answers to it.
	heard(s *socket, message []byte) [][]byte
	// tell returns the messages about what happened after one second and up to another.
	tell(s *socket, after, upto int64) [][]byte
}

// Close ends all websockets. Other requests are still answered.
func (s *Server) Close() { s.end.Do(func() { close(s.done) }) }

// follow upgrades a request to a websocket and serves it until it ends.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, d dialect) {
	f := s.faults.draw("ws")
	if f.is("ws-refused") {
		http.Error(w, "unavailable", http.StatusServiceUnavailable)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	c.SetReadLimit(mostMessage)
	ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
	k := &socket{Server: s, c: c, f: f, began: time.Now(), last: s.clock.Now().Unix()}
	messages := make(chan []byte)
	reader := guard.Start(func() error { return k.listen(ctx, messages) })
	k.run(ctx, d, messages)
	stop()
	_ = c.CloseNow() // ends the reader
	<-reader         // how it ended does not matter
}

// listen passes on messages until the connection ends. It closes messages.
func (k *socket) listen(ctx context.Context, messages chan<- []byte) error {
	defer close(messages)
	for {
		_, m, err := k.c.Read(ctx)
		if err != nil {
			return err
		}
		select {
		case messages <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (k *socket) run(ctx context.Context, d dialect, messages <-chan []byte) {
	tick := time.NewTicker(k.options.Tick)
	defer tick.Stop()
	for {
		var say [][]byte
		select {
		case m, open := <-messages:
			if !open {
				return
			}
			say = k.answer(d, m)
		case <-tick.C:
			if k.f.is("ws-storm") && time.Since(k.began) >= time.Duration(k.f.Number)*time.Millisecond {
				return
			}
			upto := k.clock.Now().Unix()
			say = k.spoilt(d.tell(k, k.last, upto))
			k.last = upto
		case <-k.done:
			_ = k.c.Close(websocket.StatusGoingAway, "") // the connection ends anyway
			return
		}
		for _, m := range say {
			if k.write(ctx, m) != nil {
				return
			}
		}
	}
}

// answer returns the answers to a message. A ping is answered whatever the fault.
func (k *socket) answer(d dialect, m []byte) [][]byte {
	switch string(bytes.TrimSpace(m)) {
	case "PING":
		return [][]byte{[]byte("PONG")}
	case "ping":
		return [][]byte{[]byte("pong")}
	case "":
		return nil
	}
	return k.spoilt(d.heard(k, m))
}

func (k *socket) write(ctx context.Context, m []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return k.c.Write(ctx, websocket.MessageText, m)
}

// spoilt applies the fault to messages.
func (k *socket) spoilt(list [][]byte) (out [][]byte) {
	if k.f == nil {
		return list
	}
	lapsed := k.f.is("ws-lapse") && time.Since(k.began) >= time.Duration(k.f.Number)*time.Millisecond
	if k.f.is("ws-silence") || lapsed {
		return nil
	}
	for _, m := range list {
		switch k.f.Name {
		case "ws-arrays":
			if m[0] != '[' {
				m = append(append([]byte{'['}, m...), ']')
			}
		case "ws-unknown":
			out = append(out, []byte(`{"event_type":"order_scoring_v9","topic":"comments","type":"reaction_created","market":"0x00","payload":{}}`))
		case "ws-bad-frames":
			out = append(out, []byte(`{"event_type":"book","asset`))
		case "ws-twice":
			out = append(out, bytes.Replace(m, []byte(`"type":"trades"`), []byte(`"type":"orders_matched"`), 1))
		}
		out = append(out, m)
	}
	return out
}

// frame appends a message. If it cannot be encoded, it is left out.
func frame(list [][]byte, v any) [][]byte {
	text, err := json.Marshal(v)
	if err != nil {
		return list
	}
	return append(list, text)
}

// matches returns the matches between two seconds; if there are too many, the newest.
func (k *socket) matches(after, upto int64) (from, to int) {
	from, to = k.venue.FindMatch(after+1), k.venue.FindMatch(upto+1)
	return max(from, to-mostAtOnce), to
}

// activity is the protocol of the websocket of trades.
type activity struct{ on bool }

func (a *activity) heard(_ *socket, m []byte) [][]byte {
	var order struct {
		Action        string `json:"action"`
		Subscriptions []struct{ Topic, Type string }
	}
	if json.Unmarshal(m, &order) != nil {
		return nil
	}
	for _, s := range order.Subscriptions {
		if s.Topic == "activity" && (s.Type == "trades" || s.Type == "*") {
			a.on = order.Action == "subscribe"
		}
	}
	return nil
}

// activityTrade is a trade as in this websocket: the row of the first data API.
type activityTrade struct {
	Asset      string      `json:"asset"`
	Bio        string      `json:"bio"`
	Condition  string      `json:"conditionId"`
	EventSlug  string      `json:"eventSlug"`
	Icon       string      `json:"icon"`
	Name       string      `json:"name"`
	Outcome    string      `json:"outcome"`
	OutcomeNum int         `json:"outcomeIndex"`
	Price      json.Number `json:"price"`
	Image      string      `json:"profileImage"`
	Wallet     string      `json:"proxyWallet"`
	Pseudonym  string      `json:"pseudonym"`
	Side       string      `json:"side"`
	Size       json.Number `json:"size"`
	Slug       string      `json:"slug"`
	At         int64       `json:"timestamp"`
	Title      string      `json:"title"`
	Tx         string      `json:"transactionHash"`
}

func (a *activity) tell(s *socket, after, upto int64) (list [][]byte) {
	if !a.on {
		return nil
	}
	var rows []sample.Row
	for n, to := s.matches(after, upto); n < to; n++ {
		rows = s.venue.AppendRows(rows[:0], &s.venue.Matches[n])
		t := s.tradeRow(n, &rows[len(rows)-1])
		list = frame(list, map[string]any{"connection_id": "cmVwbGF5", "topic": "activity", "type": "trades", "timestamp": t.At*1000 + 241, "payload": activityTrade{
			Asset: t.Token, Condition: t.Condition, EventSlug: t.EventSlug, Outcome: t.Outcome, OutcomeNum: t.OutcomeNum, Price: t.Price, Wallet: t.Wallet,
			Side: t.Side, Size: json.Number(t.Size.String()), Slug: t.Slug, At: t.At, Title: t.Title, Tx: t.Tx}})
	}
	return list
}

func millis(second int64) string { return strconv.FormatInt(second*1000, 10) }
