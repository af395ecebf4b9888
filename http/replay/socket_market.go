package replay

import (
	"cmp"
	"encoding/json"
	"slices"

	"pmx/data/sample"
)

// books is the protocol of the websocket of quotes.
type books struct {
	tokens map[string]token // the followed ones
	custom bool             // also sends events of the best prices, of new and of resolved markets
}

// token is a token that is followed.
type token struct{ market, outcome int }

// heard handles a subscription: the first has type, later ones have operation.
func (b *books) heard(s *socket, m []byte) [][]byte {
	var order struct {
		Type      string   `json:"type"`
		Operation string   `json:"operation"`
		Tokens    []string `json:"assets_ids"`
		Custom    bool     `json:"custom_feature_enabled"`
		Dump      *bool    `json:"initial_dump"`
	}
	if json.Unmarshal(m, &order) != nil || order.Type != "market" && order.Operation == "" {
		return [][]byte{[]byte("INVALID OPERATION")}
	}
	if order.Operation == "unsubscribe" {
		for _, id := range order.Tokens {
			delete(b.tokens, id)
		}
		return nil
	}
	b.custom = b.custom || order.Custom
	at := s.clock.Now().Unix()
	quotes := s.tape.quotes(at)
	dump := []book{}
	for _, id := range order.Tokens {
		market, outcome, ok := s.tape.ofToken(id)
		if !ok {
			continue
		}
		b.tokens[id] = token{market, outcome}
		if s.venue.Phase(s.venue.Markets[market].Event, at) == sample.Open {
			one := s.book(market, outcome, at, quotes(market))
			one.Event = "book"
			dump = append(dump, one)
		}
	}
	if len(dump) == 0 || order.Dump != nil && !*order.Dump {
		return nil
	}
	return frame(nil, dump)
}

// change is a price in an order book with a new size, and the best prices since.
type change struct {
	Asset string `json:"asset_id"`
	Price string `json:"price"`
	Size  string `json:"size"`
	Side  string `json:"side"`
	Hash  string `json:"hash"`
	Bid   string `json:"best_bid"`
	Ask   string `json:"best_ask"`
}

func (b *books) tell(s *socket, after, upto int64) (list [][]byte) {
	if len(b.tokens) == 0 {
		return nil
	}
	newest := map[int32]int{} // newest match of each market: only it has current prices
	from, to := s.matches(after, upto)
	for n := from; n < to; n++ {
		newest[s.venue.Matches[n].Market] = n
	}
	numbers := make([]int, 0, len(newest))
	for _, n := range newest {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	quotes := s.tape.quotes(upto)
	for _, n := range numbers {
		list = b.traded(s, list, n, quotes(int(s.venue.Matches[n].Market)))
	}
	if b.custom {
		list = b.markets(s, list, after, upto)
	}
	return list
}

// traded appends the events of a match: for its taker's token the price, for both tokens the best
// prices.
func (b *books) traded(s *socket, list [][]byte, number int, q sample.Quote) [][]byte {
	m := &s.venue.Matches[number]
	rows := s.venue.AppendRows(nil, m)
	t := s.tradeRow(number, &rows[len(rows)-1])
	tick := s.venue.Label(int(m.Market)).Tick
	if _, ok := b.tokens[t.Token]; ok {
		list = frame(list, map[string]any{"event_type": "last_trade_price", "market": t.Condition, "asset_id": t.Token, "price": price(roundTick(rows[len(rows)-1])),
			"size": t.Size.String(), "side": t.Side, "fee_rate_bps": "0", "timestamp": millis(t.At), "transaction_hash": t.Tx})
	}
	var changes []change
	for outcome, id := range s.venue.Markets[m.Market].Tokens {
		text := tokenID(id)
		if _, ok := b.tokens[text]; !ok {
			continue
		}
		_, bid, ask := top(q, tick, outcome)
		changes = append(changes, change{text, price(bid), "100", "BUY", s.venue.Random(forFault, uint64(number)).String()[2:42], price(bid), price(ask)})
		if b.custom {
			list = frame(list, map[string]any{"event_type": "best_bid_ask", "market": t.Condition, "asset_id": text, "best_bid": price(bid), "best_ask": price(ask),
				"spread": price(ask - bid), "timestamp": millis(t.At)})
		}
	}
	if len(changes) == 0 {
		return list
	}
	return frame(list, map[string]any{"event_type": "price_change", "market": t.Condition, "price_changes": changes, "timestamp": millis(t.At)})
}

// roundTick returns the price of a row in thousandths.
func roundTick(r sample.Row) int64 { return min(max((1000*r.USD+r.Shares/2)/r.Shares, 1), 999) }

// markets appends the events of markets that were listed, and of followed ones that were resolved.
func (b *books) markets(s *socket, list [][]byte, after, upto int64) [][]byte {
	_, before := s.venue.Listed(after)
	_, now := s.venue.Listed(upto)
	for n := before; n < now; n++ {
		m, l := &s.venue.Markets[n], s.venue.Label(n)
		ids := []string{tokenID(m.Tokens[0]), tokenID(m.Tokens[1])}
		list = frame(list, map[string]any{"event_type": "new_market", "id": l.ID, "question": l.Question, "market": m.Condition.String(), "condition_id": m.Condition.String(),
			"slug": l.Slug, "assets_ids": ids, "clob_token_ids": ids, "outcomes": l.Outcomes, "timestamp": millis(m.Opens), "active": true, "tags": l.Tags,
			"order_price_min_tick_size": price(l.Tick), "group_item_title": l.Group, "event_message": map[string]string{"id": l.EventID, "slug": l.EventSlug, "title": l.EventTitle}})
	}
	told := map[int]bool{}
	followed := make([]token, 0, len(b.tokens))
	for _, t := range b.tokens {
		followed = append(followed, t)
	}
	slices.SortFunc(followed, func(a, b token) int { return cmp.Compare(a.market, b.market) })
	for _, t := range followed {
		m := &s.venue.Markets[t.market]
		if told[t.market] || m.Paid <= after || m.Paid > upto || m.Payouts[0] == m.Payouts[1] {
			continue
		}
		told[t.market] = true
		l, winner := s.venue.Label(t.market), 0
		if m.Payouts[1] > m.Payouts[0] {
			winner = 1
		}
		list = frame(list, map[string]any{"event_type": "market_resolved", "id": l.ID, "market": m.Condition.String(),
			"assets_ids": []string{tokenID(m.Tokens[0]), tokenID(m.Tokens[1])}, "winning_asset_id": tokenID(m.Tokens[winner]), "winning_outcome": l.Outcomes[winner],
			"timestamp": millis(m.Paid), "tags": l.Tags})
	}
	return list
}
