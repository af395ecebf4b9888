package replay

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/sample"
)

// dataFaults are the faults of the data API.
var dataFaults = []Kind{
	{Name: "dust-missing", Of: "data", About: "trades of less than this many hundredths of a token are missing", Number: 100},
	{Name: "cursor-restart", Of: "data", About: "a cursor starts again at the newest trades"},
	{Name: "late-trades", Of: "data", About: "trades of the last this many seconds are missing", Number: 30},
	{Name: "data-lagging", Of: "data", About: "it reports that it is this many blocks behind", Number: 400},
	{Name: "volume-more", Of: "data", About: "the volume of takers is a tenth too high"},
}

// Limits of the data API.
const (
	mostTrades      = 1000
	usualTrades     = 100
	mostIDs         = 20
	tradesOfUnnamed = 62 * 24 * time.Hour
)

// complain answers with an error of the data API.
func complain(w http.ResponseWriter, parameter, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Trace-Id", "replay")
	w.WriteHeader(http.StatusBadRequest)
	text, err := json.Marshal(map[string]any{"error": why, "code": "invalid_request", "retryable": false, "trace_id": "replay", "parameter": parameter})
	if err == nil {
		_, _ = w.Write(text)
	}
}

// tradesAsked is a request for trades.
type tradesAsked struct {
	markets map[int]bool // nil: all
	user    data.Address
	all     bool // includes makers' rows
	side    string
	limit   int
	before  [2]int // match and row of the last trade on the previous page
}

func (s *Server) readTrades(w http.ResponseWriter, q url.Values) (p tradesAsked, ok bool) {
	p = tradesAsked{limit: usualTrades, all: q.Get("taker_only") == "false", side: strings.ToUpper(q.Get("side")), before: [2]int{len(s.venue.Matches), 0}}
	var bad string
	if p.markets, bad = s.readMarkets(q); bad != "" {
		complain(w, bad, "not valid")
		return p, false
	}
	var err error
	if text := q.Get("user"); text != "" {
		if p.user, err = data.ParseAddress(text); err != nil {
			complain(w, "user", "not an address")
			return p, false
		}
	}
	if q.Has("offset") {
		complain(w, "offset", "offset is not supported: use cursor")
		return p, false
	}
	if text := q.Get("limit"); text != "" {
		if p.limit, err = strconv.Atoi(text); err != nil || p.limit < 1 || p.limit > mostTrades {
			complain(w, "limit", fmt.Sprintf("limit must be from 1 to %d", mostTrades))
			return p, false
		}
	}
	if text := q.Get("cursor"); text != "" {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if n, err2 := fmt.Sscanf(string(b), "%d.%d.%d", &p.before[0], &p.before[1], &p.limit); err != nil || err2 != nil || n != 3 || p.before[0] < 0 ||
			p.before[0] > len(s.venue.Matches) || p.limit < 1 || p.limit > mostTrades {
			complain(w, "cursor", "not a cursor of this list")
			return p, false
		}
	}
	return p, true
}

// readMarkets returns the markets that are named by condition or by event, nil if none are, and the
// name of an invalid parameter.
func (s *Server) readMarkets(q url.Values) (only map[int]bool, bad string) {
	for _, key := range []string{"condition", "event_id"} {
		text := q.Get(key)
		if text == "" {
			continue
		}
		ids := strings.Split(text, ",")
		if len(ids) > mostIDs {
			return nil, key
		}
		if only == nil {
			only = map[int]bool{}
		}
		for _, id := range ids {
			if key == "event_id" {
				if n, ok := s.numbered(id, true); ok {
					s.addEvent(only, n)
				}
				continue
			}
			if _, err := data.ParseCondition(id); err != nil {
				return nil, key
			}
			if n, ok := s.tape.market(id); ok {
				only[n] = true
			}
		}
	}
	return only, ""
}

func (s *Server) addEvent(only map[int]bool, event int) {
	if events, _ := s.venue.Listed(s.clock.Now().Unix()); event >= events {
		return
	}
	for from, to := s.venue.EventMarkets(event); from < to; from++ {
		only[from] = true
	}
}

// tradeRow is a row of /v2/trades.
type tradeRow struct {
	Wallet     string      `json:"proxy_wallet"`
	Side       string      `json:"side"`
	Token      string      `json:"token_id"`
	Condition  string      `json:"condition_id"`
	Size       data.Micro  `json:"size"`
	Price      json.Number `json:"price"`
	At         int64       `json:"timestamp"`
	Title      string      `json:"title"`
	Slug       string      `json:"slug"`
	Icon       string      `json:"icon"`
	EventSlug  string      `json:"event_slug"`
	Outcome    string      `json:"outcome"`
	OutcomeNum int         `json:"outcome_index"`
	Name       string      `json:"name"`
	Pseudonym  string      `json:"pseudonym"`
	Bio        string      `json:"bio"`
	Image      string      `json:"profile_image"`
	Small      string      `json:"profile_image_optimized"`
	Tx         string      `json:"transaction_hash"`
}

func (s *Server) tradeRow(number int, r *sample.Row) tradeRow {
	m := &s.venue.Matches[number]
	market, l := &s.venue.Markets[m.Market], s.venue.Label(int(m.Market))
	side := "SELL"
	if r.Buy {
		side = "BUY"
	}
	return tradeRow{Wallet: s.venue.Wallet(r.Wallet).String(), Side: side, Token: tokenID(market.Tokens[r.Outcome]), Condition: market.Condition.String(),
		Size: data.Micro(r.Shares), Price: json.Number(strconv.FormatFloat(float64(r.USD)/float64(r.Shares), 'f', -1, 64)), At: m.At, Title: l.Question, Slug: l.Slug,
		EventSlug: l.EventSlug, Outcome: l.Outcomes[r.Outcome], OutcomeNum: r.Outcome, Tx: s.venue.Tx(number).String()}
}

// trades answers with trades, newest first.
func (s *Server) trades(w http.ResponseWriter, r *http.Request, f *Fault) {
	p, ok := s.readTrades(w, r.URL.Query())
	if !ok {
		return
	}
	if f.is("cursor-restart") {
		p.before = [2]int{len(s.venue.Matches), 0}
	}
	now, dust := s.clock.Now(), int64(10_000)
	switch {
	case f.is("late-trades"):
		now = now.Add(-time.Duration(f.Number) * time.Second)
	case f.is("dust-missing"):
		dust *= f.Number
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Trace-Id", "replay")
	out := newStream(w, r)
	defer out.close()
	out.b = append(out.b, `{"data":[`...)
	count, next := 0, ""
	last := p.before
	s.eachTrade(&p, now, func(number, row int, t *sample.Row) bool {
		if t.Shares < dust {
			return true
		}
		if count == p.limit {
			next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d.%d", last[0], last[1], p.limit))
			return false
		}
		text, err := json.Marshal(s.tradeRow(number, t))
		if err != nil {
			return false
		}
		if count > 0 {
			out.b = append(out.b, ',')
		}
		out.b = append(out.b, text...)
		last, count = [2]int{number, row}, count+1
		return out.more() == nil
	})
	out.b = fmt.Appendf(out.b, `],"pagination":{"limit":%d,"offset":0,"has_more":%t,"next_cursor":%q}}`, p.limit, next != "", next)
}

// eachTrade calls fn with the requested rows, newest first, until it returns false.
func (s *Server) eachTrade(p *tradesAsked, now time.Time, fn func(number, row int, r *sample.Row) bool) {
	first := s.venue.FindMatch(now.Unix() + 1)
	oldest := 0
	if p.markets == nil && p.user.IsZero() {
		oldest = s.venue.FindMatch(now.Add(-tradesOfUnnamed).Unix())
	}
	var rows []sample.Row
	for _, n := range s.newest(p, min(first-1, p.before[0]), oldest) {
		m := &s.venue.Matches[n]
		rows = s.venue.AppendRows(rows[:0], m)
		for i := len(rows) - 1; i >= 0; i-- {
			r := &rows[i]
			if n == p.before[0] && i >= p.before[1] || !p.all && !r.Taker || p.side != "" && (p.side == "BUY") != r.Buy ||
				!p.user.IsZero() && s.venue.Wallet(r.Wallet) != p.user {
				continue
			}
			if !fn(n, i, r) {
				return
			}
		}
	}
}

// newest returns the matches of the markets between from and to, newest first.
func (s *Server) newest(p *tradesAsked, from, to int) func(yield func(int, int) bool) {
	return func(yield func(int, int) bool) {
		if p.markets == nil {
			for n := from; n >= to; n-- {
				if !yield(n, n) {
					return
				}
			}
			return
		}
		s.tape.find()
		var list []int32
		for m := range p.markets {
			list = append(list, s.tape.matches[m]...)
		}
		slices.Sort(list)
		for i := len(list) - 1; i >= 0; i-- {
			if n := int(list[i]); n <= from && n >= to && !yield(n, n) {
				return
			}
		}
	}
}

// answerData writes v as the member data.
func answerData(w http.ResponseWriter, r *http.Request, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Trace-Id", "replay")
	text, err := json.Marshal(map[string]any{"data": v})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	out := newStream(w, r)
	defer out.close()
	out.b = append(out.b, text...)
}

func (s *Server) resolutions(w http.ResponseWriter, r *http.Request, _ *Fault) {
	only, bad := s.readMarkets(r.URL.Query())
	if only == nil || bad != "" {
		complain(w, cmp.Or(bad, "condition"), "give one to twenty")
		return
	}
	at := s.clock.Now().Unix()
	rows := []map[string]any{}
	for _, n := range sorted(only) {
		m := &s.venue.Markets[n]
		phase := s.venue.Phase(m.Event, at)
		if phase == sample.Unlisted {
			continue
		}
		kind := "BINARY"
		if m.NegRisk {
			kind = "ATOMIC_NEGRISK"
		}
		row := map[string]any{"condition_id": m.Condition.String(), "question_id": m.Question.String(), "status": "initialized", "was_disputed": false,
			"extended_review": false, "new_version_q": false, "price": "69", "proposed_price": "69", "reproposed_price": "69", "transaction_hash": "", "log_index": "",
			"market_type": kind, "reporter": "UMA_OO", "last_update_timestamp": strconv.FormatInt(m.Opens, 10)}
		switch phase {
		case sample.Ended, sample.Closed:
			row["status"] = "proposed"
		case sample.PaidOut:
			row["status"], row["resolution_source"], row["was_arbitrated"] = "resolved", "reported", false
			row["payouts"] = []int64{int64(m.Payouts[0]), int64(m.Payouts[1])}
			row["resolved_block"], row["resolved_at"] = sample.BlockOf(m.Paid), time.Unix(m.Paid, 0).UTC().Format(time.RFC3339)
			row["transaction_hash"], row["last_update_timestamp"] = s.venue.Random(forPayout, uint64(n)).String(), strconv.FormatInt(m.Paid, 10)
		}
		rows = append(rows, row)
	}
	answerData(w, r, rows)
}

func (s *Server) status(w http.ResponseWriter, r *http.Request, f *Fault) {
	latest, _ := s.Latest()
	lag, lagging := int64(3), []any{}
	if f.is("data-lagging") {
		latest, lag = latest-f.Number, f.Number*3/2
		lagging = append(lagging, map[string]any{"name": "trades", "behind_max": f.Number})
	}
	answerData(w, r, map[string]any{"computed_at": s.clock.Now().Format(time.RFC3339), "age_seconds": 2,
		"serving":   map[string]any{"lag_seconds": lag, "worst": "trades"},
		"ingestion": map[string]any{"max_synced_block": latest, "min_synced_block": latest - 2, "lagging": lagging}})
}

// liveVolume answers with the volume of takers in tokens.
func (s *Server) liveVolume(w http.ResponseWriter, r *http.Request, f *Fault) {
	event, ok := s.numbered(r.URL.Query().Get("id"), true)
	at := s.clock.Now().Unix()
	if events, _ := s.venue.Listed(at); !ok || event >= events {
		complain(w, "id", "no event has this id")
		return
	}
	s.tape.find()
	type row struct {
		Condition string     `json:"condition_id"`
		Volume    data.Micro `json:"taker_volume"`
	}
	rows, total := []row{}, data.Micro(0)
	var legs []sample.Row
	for n, to := s.venue.EventMarkets(event); n < to; n++ {
		sum := data.Micro(0)
		for _, i := range s.tape.matches[n] {
			if m := &s.venue.Matches[i]; m.At <= at {
				legs = s.venue.AppendRows(legs[:0], m)
				sum += data.Micro(legs[len(legs)-1].Shares)
			}
		}
		if f.is("volume-more") {
			sum += sum / 10
		}
		rows, total = append(rows, row{s.venue.Markets[n].Condition.String(), sum}), total+sum
	}
	answerData(w, r, map[string]any{"taker_volume_total": total, "conditions": rows})
}
