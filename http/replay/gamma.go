package replay

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/sample"
)

// gammaFaults are the faults of Gamma.
var gammaFaults = []Kind{
	{Name: "page-repeated", Of: "gamma", About: "a page after the first repeats the first, and its cursor continues"},
	{Name: "cursor-loop", Of: "gamma", About: "the cursor of the next page is the one of this page"},
	{Name: "filter-ignored", Of: "gamma", About: "requested ids are ignored: other markets are returned"},
	{Name: "closed-ignored", Of: "gamma", About: "open and closed ones are returned together"},
	{Name: "empty-page", Of: "gamma", About: "a page without records, and no next page"},
	{Name: "lost-market", Of: "gamma", About: "one record of the page is missing"},
	{Name: "short-conditions", Of: "gamma", About: "condition ids of protocol V2 have 62 digits"},
	{Name: "unknown-fields", Of: "gamma", About: "records have unknown fields"},
	{Name: "description-edited", Of: "gamma", About: "descriptions end differently", Adds: true},
	{Name: "version-changed", Of: "gamma", About: "markets of V1 say that they are of V2", Adds: true},
}

// Limits of a page, and the maximum length of a query.
const (
	mostMarkets = 100
	mostEvents  = 500
	usualPage   = 20
	mostQuery   = 8000
)

// listing is a request for a page of a list.
type listing struct {
	limit, after int // after: the number of the last record of the previous page
	closed       bool
	only         map[int]bool // numbers of the records; nil: all
}

func refuse(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"type":"validation error","error":%q}`, fmt.Sprintf(format, args...))
}

// readPage parses a query. Unknown parameters are ignored, as by Gamma.
func (s *Server) readPage(w http.ResponseWriter, q url.Values, most int, ids func(q url.Values) map[int]bool) (p listing, ok bool) {
	p = listing{limit: usualPage, after: -1, closed: q.Get("closed") == "true", only: ids(q)}
	var err error
	if text := q.Get("limit"); text != "" {
		if p.limit, err = strconv.Atoi(text); err != nil || p.limit < 1 || p.limit > most {
			refuse(w, http.StatusUnprocessableEntity, "limit must be from 1 to %d", most)
			return p, false
		}
	}
	if q.Has("offset") {
		refuse(w, http.StatusUnprocessableEntity, "offset is not supported: use after_cursor")
		return p, false
	}
	if text := q.Get("after_cursor"); text != "" {
		b, wrong := base64.RawURLEncoding.DecodeString(text)
		number, found := strings.CutPrefix(string(b), "after:")
		if p.after, err = strconv.Atoi(number); err != nil || wrong != nil || !found {
			refuse(w, http.StatusUnprocessableEntity, "after_cursor is not valid")
			return p, false
		}
	}
	return p, true
}

func cursorAfter(n int) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "after:%d", n))
}

// tooLong refuses a query with more characters than a URL may have.
func tooLong(w http.ResponseWriter, r *http.Request) bool {
	if len(r.URL.RawQuery) > mostQuery {
		http.Error(w, "URI Too Long", http.StatusRequestURITooLong)
		return true
	}
	return false
}

// list answers with a page of records. closed reports whether a record is closed, and one writes
// it.
func (s *Server) list(w http.ResponseWriter, r *http.Request, f *Fault, name string, p listing, of int, closed func(n int) bool, one func(n int) ([]byte, error)) {
	if f.is("filter-ignored") {
		p.only = nil
	}
	first := p.after + 1
	if f.is("page-repeated") && p.after >= 0 {
		first = 0
	}
	w.Header().Set("Content-Type", "application/json")
	out := newStream(w, r)
	defer out.close()
	out.b = append(append(append(out.b, `{"`...), name...), `":[`...)
	next, count := "", 0
	lost, written := -1, false
	if f.is("lost-market") {
		lost = f.rng.IntN(p.limit)
	}
	last := p.after
	for n := first; n < of && !f.is("empty-page"); n++ {
		if p.only != nil && !p.only[n] || closed(n) != p.closed && !f.is("closed-ignored") {
			continue
		}
		if count == p.limit {
			next = cursorAfter(max(last, p.after+count))
			break
		}
		text, err := one(n)
		if err != nil {
			return
		}
		if count != lost {
			if written {
				out.b = append(out.b, ',')
			}
			out.b = append(out.b, text...)
			written = true
		}
		last = n
		count++
		if out.more() != nil {
			return
		}
	}
	if f.is("cursor-loop") && next != "" {
		next = cursorAfter(p.after)
	}
	out.b = append(out.b, ']')
	if next != "" {
		out.b = append(append(append(out.b, `,"next_cursor":"`...), next...), '"')
	}
	out.b = append(out.b, '}')
}

func (s *Server) gammaMarkets(w http.ResponseWriter, r *http.Request, f *Fault) {
	if tooLong(w, r) {
		return
	}
	q := r.URL.Query()
	p, ok := s.readPage(w, q, mostMarkets, s.marketIDs)
	if !ok {
		return
	}
	at := s.clock.Now().Unix()
	_, markets := s.venue.Listed(at)
	quotes, tags := s.tape.quotes(at), q.Get("include_tag") == "true"
	s.list(w, r, f, "markets", p, markets, func(n int) bool { return s.venue.Phase(s.venue.Markets[n].Event, at) >= sample.Closed }, func(n int) ([]byte, error) {
		text, err := s.venue.Market(n, at, tags, quotes)
		return s.edited(f, text, n), err
	})
}

func (s *Server) gammaEvents(w http.ResponseWriter, r *http.Request, f *Fault) {
	if tooLong(w, r) {
		return
	}
	p, ok := s.readPage(w, r.URL.Query(), mostEvents, s.eventIDs)
	if !ok {
		return
	}
	at := s.clock.Now().Unix()
	events, _ := s.venue.Listed(at)
	quotes := s.tape.quotes(at)
	s.list(w, r, f, "events", p, events, func(n int) bool { return s.venue.Phase(n, at) >= sample.Closed }, func(n int) ([]byte, error) {
		text, err := s.venue.Event(n, at, quotes)
		from, _ := s.venue.EventMarkets(n)
		return s.edited(f, text, from), err
	})
}

// marketIDs returns the markets that a query names; nil if it names none. Lists have to be repeated
// keys: no other form is supported.
func (s *Server) marketIDs(q url.Values) map[int]bool {
	return named(q, map[string]func(string) (int, bool){
		"condition_ids": s.tape.market,
		"clob_token_ids": func(id string) (int, bool) {
			m, _, ok := s.tape.ofToken(id)
			return m, ok
		},
		"ids":  func(id string) (int, bool) { return s.numbered(id, false) },
		"slug": s.bySlug,
	})
}

func (s *Server) eventIDs(q url.Values) map[int]bool {
	return named(q, map[string]func(string) (int, bool){
		"id": func(id string) (int, bool) { return s.numbered(id, true) },
		"slug": func(slug string) (int, bool) {
			events, _ := s.venue.Listed(s.clock.Now().Unix())
			for n := range events {
				if from, _ := s.venue.EventMarkets(n); s.venue.Label(from).EventSlug == slug {
					return n, true
				}
			}
			return 0, false
		},
	})
}

// named returns what all keys in the query name together.
func named(q url.Values, by map[string]func(string) (int, bool)) (only map[int]bool) {
	for key, find := range by {
		ids, ok := q[key]
		if !ok {
			continue
		}
		mine := map[int]bool{}
		for _, id := range ids {
			if n, ok := find(id); ok && (only == nil || only[n]) {
				mine[n] = true
			}
		}
		only = mine
	}
	return only
}

func (s *Server) numbered(id string, event bool) (int, bool) {
	events, markets := s.venue.Numbers()
	base := markets
	if event {
		base = events
	}
	n, err := strconv.Atoi(id)
	return n - base, err == nil && n >= base
}

func (s *Server) bySlug(slug string) (int, bool) {
	_, markets := s.venue.Listed(s.clock.Now().Unix())
	for n := range markets {
		if s.venue.Label(n).Slug == slug {
			return n, true
		}
	}
	return 0, false
}

// edited changes the text of a record as a fault requires. market is its first market.
func (s *Server) edited(f *Fault, text []byte, market int) []byte {
	if f == nil {
		return text
	}
	t := string(text)
	switch f.Name {
	case "short-conditions":
		if !s.venue.Markets[market].Positions {
			return text
		}
		e := s.venue.Markets[market].Event
		for from, to := s.venue.EventMarkets(e); from < to; from++ {
			id := s.venue.Markets[from].Condition.String()
			t = strings.ReplaceAll(t, id, strings.TrimSuffix(id, "00"))
		}
	case "unknown-fields":
		t = `{"holdingsRewardsV9":{"a":[1,null]},"zz":"x",` + t[1:]
	case "description-edited":
		t = strings.ReplaceAll(t, `"description":"`, `"description":"Updated. `)
	case "version-changed":
		t = strings.ReplaceAll(t, `"version":"v1"`, `"version":"v2"`)
	}
	return []byte(t)
}

// tokenHash parses the decimal id of a token.
func tokenHash(id string) (h data.Hash, ok bool) {
	n, ok := new(big.Int).SetString(id, 10)
	if !ok || n.Sign() < 0 || n.BitLen() > 256 {
		return h, false
	}
	n.FillBytes(h[:])
	return h, true
}

// tokenID formats the id of a token in decimal.
func tokenID(h data.Hash) string { return string(chain.AppendDecimal(nil, h)) }

// sorted returns the numbers in order.
func sorted(only map[int]bool) []int {
	list := make([]int, 0, len(only))
	for n := range only {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}
