package replay

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"pmx/data"
	"pmx/data/sample"
)

// clobFaults are the faults of the CLOB.
var clobFaults = []Kind{
	{Name: "books-none", Of: "clob", About: "no books, as if the request was not understood"},
	{Name: "books-foreign", Of: "clob", About: "a book that was not requested is included"},
	{Name: "books-empty", Of: "clob", About: "books without orders"},
	{Name: "clob-loop", Of: "clob", About: "the cursor of the next page is the one of this page"},
}

// The number of records in a page of markets, and the maximum number of books in a request.
const (
	clobPage  = 1000
	mostBooks = 500
	lastPage  = "LTE="
)

type clobMarket struct {
	Condition   string      `json:"condition_id"`
	Question    string      `json:"question_id"`
	Title       string      `json:"question"`
	Description string      `json:"description"`
	Slug        string      `json:"market_slug"`
	End         string      `json:"end_date_iso"`
	Active      bool        `json:"active"`
	Closed      bool        `json:"closed"`
	Archived    bool        `json:"archived"`
	Accepting   bool        `json:"accepting_orders"`
	Book        bool        `json:"enable_order_book"`
	MinSize     int         `json:"minimum_order_size"`
	Tick        data.Micro  `json:"minimum_tick_size"`
	NegRisk     bool        `json:"neg_risk"`
	NegRiskID   string      `json:"neg_risk_market_id"`
	Half        bool        `json:"is_50_50_outcome"`
	Tokens      []clobToken `json:"tokens"`
	Tags        []string    `json:"tags"`
}

type clobToken struct {
	ID      string     `json:"token_id"`
	Outcome string     `json:"outcome"`
	Price   data.Micro `json:"price"`
	Winner  bool       `json:"winner"`
}

func (s *Server) clobMarkets(w http.ResponseWriter, r *http.Request, f *Fault) {
	from, ok := 0, true
	if text := r.URL.Query().Get("next_cursor"); text != "" {
		b, err := base64.StdEncoding.DecodeString(text)
		from, ok = place(string(b), err)
	}
	at := s.clock.Now().Unix()
	_, markets := s.venue.Listed(at)
	if !ok || from > markets {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"Next item should be greater than or equal to 0"}`)
		return
	}
	to := min(from+clobPage, markets)
	next := lastPage
	switch {
	case f.is("clob-loop"):
		next = base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(from)))
	case to < markets:
		next = base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(to)))
	}
	w.Header().Set("Content-Type", "application/json")
	out := newStream(w, r)
	defer out.close()
	out.b = append(out.b, `{"data":[`...)
	quotes := s.tape.quotes(at)
	for n := from; n < to; n++ {
		if n > from {
			out.b = append(out.b, ',')
		}
		text, err := json.Marshal(s.clobMarket(n, at, quotes(n)))
		if err != nil {
			return
		}
		out.b = append(out.b, text...)
		if out.more() != nil {
			return
		}
	}
	out.b = fmt.Appendf(out.b, `],"next_cursor":%q,"limit":%d,"count":%d}`, next, clobPage, to-from)
}

func place(text string, err error) (int, bool) {
	if err != nil {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}

func (s *Server) clobMarket(n int, at int64, q sample.Quote) clobMarket {
	m, l, phase := &s.venue.Markets[n], s.venue.Label(n), s.venue.Phase(s.venue.Markets[n].Event, at)
	out := clobMarket{Condition: m.Condition.String(), Question: m.Question.String(), Title: l.Question, Description: l.Description, Slug: l.Slug, End: l.End,
		Active: true, Closed: phase >= sample.Closed, Accepting: phase == sample.Open, Book: true, MinSize: 5, Tick: data.Micro(l.Tick * 1000),
		NegRisk: m.NegRisk, NegRiskID: l.NegRiskID, Tags: l.Tags, Half: phase == sample.PaidOut && m.Payouts[0] == m.Payouts[1]}
	price := data.Micro(q.Last * 1000)
	if q.Last == 0 {
		price = data.One / 2
	}
	prices := [2]data.Micro{price, data.One - price}
	if phase == sample.PaidOut {
		prices = m.Payouts
	}
	for i, token := range m.Tokens {
		out.Tokens = append(out.Tokens, clobToken{tokenID(token), l.Outcomes[i], prices[i], phase == sample.PaidOut && m.Payouts[i] == data.One})
	}
	return out
}

// level is a price in an order book and the size there.
type level struct {
	Price string `json:"price"`
	Size  string `json:"size"`
}

type book struct {
	Event   string  `json:"event_type,omitempty"` // only on the websocket
	Market  string  `json:"market"`
	Asset   string  `json:"asset_id"`
	Time    string  `json:"timestamp"` // milliseconds
	Hash    string  `json:"hash"`
	Bids    []level `json:"bids"`
	Asks    []level `json:"asks"`
	MinSize string  `json:"min_order_size,omitempty"`
	Tick    string  `json:"tick_size,omitempty"`
	NegRisk bool    `json:"neg_risk"`
	Last    string  `json:"last_trade_price"`
}

// book returns the order book of a token that is traded.
func (s *Server) book(market, outcome int, now int64, q sample.Quote) book {
	m, l := &s.venue.Markets[market], s.venue.Label(market)
	at, bid, ask := top(q, l.Tick, outcome)
	b := book{Market: m.Condition.String(), Asset: tokenID(m.Tokens[outcome]), Time: strconv.FormatInt(max(q.At, now-60)*1000, 10),
		MinSize: "5", Tick: price(l.Tick), NegRisk: m.NegRisk, Bids: []level{}, Asks: []level{}}
	b.Hash = s.venue.Random(forFault, uint64(market)<<32+uint64(q.At)).String()[2:42]
	if q.Last > 0 {
		b.Last = price(at)
	}
	for i := int64(2); i >= 0; i-- { // the best price comes last, as on the venue
		if p := bid - i*l.Tick; p > 0 {
			b.Bids = append(b.Bids, level{price(p), "100"})
		}
		if p := ask + i*l.Tick; p < 1000 {
			b.Asks = append(b.Asks, level{price(p), "150.5"})
		}
	}
	return b
}

// top returns a token's last price (or a half), best bid and best ask, in thousandths.
func top(q sample.Quote, tick int64, outcome int) (at, bid, ask int64) {
	at = q.Last
	if at == 0 {
		at = 500
	}
	if outcome == 1 {
		at = 1000 - at
	}
	return at, max(at-tick, tick), min(at+tick, 1000-tick)
}

// price formats thousandths as a price: 0.52.
func price(milli int64) string { return data.Micro(milli * 1000).String() }

func (s *Server) clobBooks(w http.ResponseWriter, r *http.Request, f *Fault) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostCall))
	var wants []struct {
		Token string `json:"token_id"`
	}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	if json.Unmarshal(body, &wants) != nil { // any other form gets no books
		wants = nil
	}
	if len(wants) > mostBooks {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"Payload exceeds the limit"}`)
		return
	}
	at := s.clock.Now().Unix()
	quotes := s.tape.quotes(at)
	books := []book{}
	for _, want := range wants {
		market, outcome, ok := s.tape.ofToken(want.Token)
		if ok && s.venue.Phase(s.venue.Markets[market].Event, at) == sample.Open {
			books = append(books, s.book(market, outcome, at, quotes(market)))
		}
	}
	out := newStream(w, r)
	defer out.close()
	text, err := json.Marshal(spoiled(books, f))
	if err != nil {
		return
	}
	out.b = append(out.b, text...)
}

// spoiled applies a fault to the books.
func spoiled(books []book, f *Fault) []book {
	switch {
	case f.is("books-none"):
		return []book{}
	case f.is("books-foreign") && len(books) > 0:
		other := books[0]
		other.Asset = "123456789"
		return append(books, other)
	case f.is("books-empty"):
		for i := range books {
			books[i].Bids, books[i].Asks = []level{}, []level{}
		}
	}
	return books
}
