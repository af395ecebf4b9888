package follow_test

import (
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/engine/ingest"
	"pmx/rollups/follow"
	"pmx/rollups/keeper"
)

// listed is a market in the venue's catalogue. Its tokens are 2n+1000 and 2n+1001.
type listed struct {
	question string
	closedAt time.Time // zero: open
	bid      string
	payouts  bool   // Gamma has them
	odd      string // instead of the record
}

// catalogue is a venue: Gamma, CLOB and data API, one event a market.
type catalogue struct {
	t *testing.T

	mu       sync.Mutex
	now      time.Time
	markets  []listed
	edits    int // updatedAt moves with every one
	requests map[string]int
	empty    int  // sweeps that come out empty
	blank    int  // lists of markets that do
	foreign  bool // filters are ignored
	fails    int  // responses that fail with 400
	trades   int  // that were committed
}

func condition(n int) data.Hash { return data.Hash{0: 0xc0, 1: byte(n >> 8), 2: byte(n)} }

func (c *catalogue) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	c.edits++
}

// asked returns the number of requests by path since the last call.
func (c *catalogue) asked() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.requests
	c.requests = map[string]int{}
	return out
}

func (c *catalogue) row(n int) string {
	m := c.markets[n]
	if m.odd != "" {
		return m.odd
	}
	rest := `,"closed":false`
	if !m.closedAt.IsZero() {
		rest = `,"closed":true,"closedTime":"` + m.closedAt.Format("2006-01-02 15:04:05+00") + `"`
		if m.payouts {
			rest += `,"umaResolutionStatus":"resolved","outcomePrices":"[\"1\",\"0\"]"`
		}
	}
	if m.bid != "" {
		rest += `,"bestBid":` + m.bid + `,"bestAsk":0.9`
	}
	return fmt.Sprintf(`{"id":"%d","version":"v1","question":"%s","conditionId":"%s","slug":"m%d","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"%d\",\"%d\"]","updatedAt":"%s"%s}`,
		n+1, m.question, condition(n), n, 2*n+1000, 2*n+1001, c.now.Add(time.Duration(c.edits)*time.Millisecond).Format(time.RFC3339Nano), rest)
}

func (c *catalogue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[r.URL.Path]++
	w.Header().Set("Content-Type", "application/json")
	if c.fails > 0 {
		c.fails--
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	q := r.URL.Query()
	switch r.URL.Path {
	case "/events/keyset", "/markets/keyset":
		c.keyset(w, q, strings.HasPrefix(r.URL.Path, "/events"))
	case "/markets":
		c.list(w, q.Get("next_cursor"))
	case "/v2/resolutions":
		var rows []string
		for n := range c.markets {
			if strings.Contains(q.Get("condition"), condition(n).String()) {
				rows = append(rows, `{"condition_id":"`+condition(n).String()+`","status":"resolved","resolved_block":"`+strconv.Itoa(5000+n)+`","was_disputed":false,"payouts":[1000000,0],"resolved_at":"2026-11-02T12:00:00Z","last_update_timestamp":"1793577600"}`)
			}
		}
		_, _ = fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(rows, ","))
	default:
		c.t.Errorf("requested %s", r.URL)
	}
}

func (c *catalogue) keyset(w http.ResponseWriter, q map[string][]string, events bool) {
	from, _ := strconv.Atoi(strings.Join(q["after_cursor"], ""))
	limit := min(3, len(c.markets)+1)
	name, next := "markets", ""
	if events {
		name = "events"
	}
	var rows []string
	for n := from; n < len(c.markets); n++ {
		wants := strings.Join(append(q["condition_ids"], q["clob_token_ids"]...), " ")
		mine := wants == "" || strings.Contains(wants, condition(n).String()) || slices.Contains(q["clob_token_ids"], strconv.Itoa(2*n+1000))
		if closed := !c.markets[n].closedAt.IsZero(); closed != (q["closed"][0] == "true") || !mine && !c.foreign {
			continue
		}
		if len(rows) == limit {
			next = strconv.Itoa(n)
			break
		}
		row := c.row(n)
		if events {
			row = fmt.Sprintf(`{"id":"%d","slug":"e%d","title":"E%d","closed":false,"markets":[%s]}`, n+100, n, n, row)
		}
		rows = append(rows, row)
	}
	if events && c.empty > 0 {
		c.empty, rows, next = c.empty-1, nil, ""
	}
	if !events && c.blank > 0 {
		c.blank, rows, next = c.blank-1, nil, ""
	}
	_, _ = fmt.Fprintf(w, `{"%s":[%s],"next_cursor":"%s"}`, name, strings.Join(rows, ","), next)
}

// list is the CLOB's list, two markets a page.
func (c *catalogue) list(w http.ResponseWriter, cursor string) {
	b, _ := base64.StdEncoding.DecodeString(cursor)
	from, _ := strconv.Atoi(string(b))
	var rows []string
	for n := from; n < min(from+2, len(c.markets)); n++ {
		rows = append(rows, fmt.Sprintf(`{"condition_id":"%s","question":"%s","closed":%t,"tokens":[{"token_id":"%d","outcome":"Yes","price":0.5},{"token_id":"%d","outcome":"No","price":0.5}]}`,
			condition(n), c.markets[n].question, !c.markets[n].closedAt.IsZero(), 2*n+1000, 2*n+1001))
	}
	next := "LTE="
	if from+2 < len(c.markets) {
		next = base64.StdEncoding.EncodeToString([]byte(strconv.Itoa(from + 2)))
	}
	_, _ = fmt.Fprintf(w, `{"data":[%s],"next_cursor":"%s"}`, strings.Join(rows, ","), next)
}

// place is a venue that is followed, and what is followed.
type place struct {
	*catalogue
	k    *keeper.Keeper
	host *fetch.Host
}

// factsOnly opens a venue whose facts alone are checked. A short run keeps no rollups of it.
func factsOnly(t testing.TB, change ...func(*keeper.Config)) *keeper.Keeper {
	t.Helper()
	k := venue(t, t.TempDir(), change...)
	if !testfiles.Long() {
		k.FactsOnly()
	}
	return k
}

func newPlace(t *testing.T, markets int) *place {
	t.Helper()
	c := &catalogue{t: t, now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC), requests: map[string]int{}}
	for n := range markets {
		c.markets = append(c.markets, listed{question: fmt.Sprintf("Q%d?", n)})
	}
	s := httptest.NewServer(c)
	h, err := fetch.New(fetch.Options{Name: "venue", Base: s.URL, Contact: "ops@example.org", Budget: fetch.Budget{PerSecond: 1e4, Burst: 1000, InFlight: 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	k := factsOnly(t, unserved, func(to *keeper.Config) { to.Now = c.clock })
	return &place{c, k, h}
}

func (c *catalogue) clock() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *catalogue) later(d time.Duration) { c.set(func() { c.now = c.now.Add(d) }) }

// lane starts the lane, with all sources or only with Gamma.
func (p *place) lane(all bool, change ...func(*follow.MarketOptions)) *follow.Markets {
	o := follow.MarketOptions{Venue: p.k, Gamma: gamma.New(p.host), Now: p.clock, Pace: time.Nanosecond}
	if all {
		o.CLOB, o.Data = clob.New(p.host), dataapi.New(p.host)
	}
	for _, c := range change {
		c(&o)
	}
	return follow.NewMarkets(o)
}

func (p *place) once(m *follow.Markets) {
	p.t.Helper()
	if err := m.Once(p.t.Context()); err != nil {
		p.t.Error(err)
	}
}

// trade commits a fill of a token.
func (p *place) trade(token string) {
	p.t.Helper()
	p.set(func() { p.trades++ })
	_, err := p.k.Commit(p.t.Context(), ingest.Rows{Feed: data.Feed{Name: "polygon-logs", Kind: data.KindFills}, Name: "polygon",
		Read: func(_ context.Context, s data.Sink) error {
			return s.Fill(1, data.Fill{Tx: data.Hash{1: 1, 31: byte(p.trades)}, LogIndex: int32(p.trades), TS: 1_793_577_600_000_000, Wallet: data.Address{1: 1}, Role: data.Maker,
				TokenID: token, Shares: data.One, USD: data.One / 2, Outcome: data.NoIndex})
		}}, ingest.Remaining{})
	if err != nil {
		p.t.Fatal(err)
	}
}

// said returns the rows of a query, one per line.
func (p *place) said(query string) string {
	p.t.Helper()
	var out []string
	err := p.k.Read(p.t.Context(), func(conn *sql.Conn) error {
		out = nil
		rows, err := conn.QueryContext(p.t.Context(), query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var s sql.NullString
			if err := rows.Scan(&s); err != nil {
				return err
			}
			out = append(out, s.String)
		}
		return rows.Err()
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

func (p *place) want(when, query, want string) {
	p.t.Helper()
	if got := p.said(query); got != want {
		p.t.Errorf("%s: %s\nsays\n%s\nwant\n%s", when, query, got, want)
	}
}
