package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/sample"
	"pmx/data/upstream/clob"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/fetch"
	"pmx/data/upstream/gamma"
	"pmx/data/upstream/pages"
)

func host(t *testing.T, base string) *fetch.Host {
	t.Helper()
	h, err := fetch.New(fetch.Options{Name: "replay", Base: base, Contact: "ops@example.org", Version: "1",
		Budget: fetch.Budget{PerSecond: 1e6, Burst: 1e6, InFlight: 4}, Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

// eventsOf reads all events.
func eventsOf(t *testing.T, url string) (list []gamma.Event) {
	t.Helper()
	c := gamma.New(host(t, url+"/gamma"))
	for _, closed := range []bool{false, true} {
		if err := c.EachEvents(t.Context(), closed, "", func(p gamma.Page) error { list = append(list, p.Events...); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// TestGammaAtTheEndIsTheFileOfEvents compares them byte by byte.
func TestGammaAtTheEndIsTheFileOfEvents(t *testing.T) {
	cfg := sample.Config{Fills: 6000, Seed: 3, Chain: true}
	var file bytes.Buffer
	if _, err := sample.Stream(t.Context(), cfg, io.Discard, &file, nil); err != nil {
		t.Fatal(err)
	}
	_, url := startServer(t, Options{Venue: venue(t, cfg)})
	var got []string
	for _, e := range eventsOf(t, url) {
		got = append(got, string(e.Raw))
	}
	want := strings.Split(strings.TrimSpace(file.String()), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestGammaOfAMoment checks that only listed markets are returned, closed once they were, and
// quoted around the last trade.
func TestGammaOfAMoment(t *testing.T) {
	s, url := startServer(t, Options{})
	v := s.Venue()
	s.Clock().Set(v.Manifest.End.AddDate(0, 0, -12))
	at := s.Clock().Now().Unix()
	listed, markets := v.Listed(at)
	list := eventsOf(t, url)
	if len(list) != listed || listed == 0 || int64(listed) >= v.Manifest.Events || markets >= len(v.Markets) {
		t.Fatalf("%d events of %d", len(list), listed)
	}
	last, volume := map[data.Hash]data.Micro{}, map[data.Hash]data.Micro{}
	for i := range v.Matches {
		if m := &v.Matches[i]; m.At <= at {
			rows := v.AppendRows(nil, m)
			condition, taker := v.Markets[m.Market].Condition, rows[len(rows)-1]
			volume[condition] += data.Micro(taker.USD)
			maker := rows[len(rows)-2]
			last[condition] = data.MulDiv(data.Micro(maker.USD), data.One, data.Micro(maker.Shares))
			if maker.Outcome == 1 {
				last[condition] = data.One - last[condition]
			}
		}
	}
	states := map[bool]int{}
	for _, e := range list {
		for _, m := range e.Markets {
			states[*m.Closed]++
			n := slices.IndexFunc(v.Markets, func(o sample.Market) bool { return o.Condition == m.Condition })
			if want := v.Markets[n]; want.Opens > at || *m.Closed && want.Closes > at || want.Paid != 0 && want.Paid <= at && !*m.Closed {
				t.Errorf("m.Market = %+v", m.Market)
			}
			var quote struct {
				LastTradePrice, BestBid, BestAsk *data.Micro
				VolumeNum                        data.Micro
			}
			if err := json.Unmarshal(m.Raw, &quote); err != nil {
				t.Fatal(err)
			}
			if p := quote.LastTradePrice; quote.VolumeNum != volume[m.Condition] || p == nil && volume[m.Condition] > 0 || p != nil && *p != last[m.Condition] {
				t.Errorf("%s: %v of %v, want %v of %v", m.Condition, p, quote.VolumeNum, last[m.Condition], volume[m.Condition])
			}
			if quote.BestBid != nil && *quote.BestBid >= *quote.BestAsk {
				t.Errorf("%s: quote.BestBid = %v, quote.BestAsk = %v", m.Condition, quote.BestBid, quote.BestAsk)
			}
		}
	}
	if states[true] == 0 || states[false] == 0 {
		t.Errorf("states = %v", states)
	}
}

// TestMarketsByTheirIDs checks that a requested market is the one of its event, in both protocols
// and also by short ids.
func TestMarketsByTheirIDs(t *testing.T) {
	s, url := startServer(t, Options{})
	byCondition := map[data.Hash]data.Market{}
	for _, e := range eventsOf(t, url) {
		for _, m := range e.Markets {
			byCondition[m.Condition] = m.Market
		}
	}
	c := gamma.New(host(t, url+"/gamma"))
	var conditions []data.Hash
	var tokens []string
	versions := map[bool]int{}
	for n := 0; n < len(s.venue.Markets); n += 9 {
		m := &s.venue.Markets[n]
		conditions, tokens = append(conditions, m.Condition), append(tokens, tokenID(m.Tokens[n%2]))
		versions[m.Positions]++
	}
	got, err := c.ByConditions(t.Context(), conditions)
	if err != nil || len(got) != len(conditions) || versions[true] < 3 || versions[false] < 3 {
		t.Fatalf("%d of %d %v: %v", len(got), len(conditions), versions, err)
	}
	for _, m := range got {
		if diff := cmp.Diff(byCondition[m.Condition], m.Market); diff != "" || m.Bad != nil {
			t.Errorf("m.Bad = %v, diff = %s", m.Bad, diff)
		}
	}
	if got, err := c.ByTokens(t.Context(), tokens); err != nil || len(got) != len(tokens) {
		t.Errorf("%d of %d: %v", len(got), len(tokens), err)
	}
	short := strings.TrimSuffix(s.venue.Markets[len(s.venue.Markets)-1].Condition.String(), "00")
	for query, want := range map[string]int{"closed=false&condition_ids=" + short: 1, "closed=true&condition_ids=" + short: 0,
		"limit=7&condition_ids%5B%5D=" + short: 7, "": 20, "ids=2600003&ids=2600004&ids=2600005&closed=false": 3} {
		var page struct{ Markets []json.RawMessage }
		if status := get(t, url+"/gamma/markets/keyset?"+query, &page); status != http.StatusOK || len(page.Markets) != want {
			t.Errorf("%s: %d, %d markets, want %d", query, status, len(page.Markets), want)
		}
	}
	for query, want := range map[string]int{"limit=101": 422, "offset=3": 422, "after_cursor=x": 422, "slug=" + strings.Repeat("x", 9000): 414} {
		if status := get(t, url+"/gamma/markets/keyset?"+query, nil); status != want {
			t.Errorf("%.20s: status = %d", query, status)
		}
	}
}

func get(t *testing.T, url string, into any) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

// TestGammaFaults checks that the client detects the faults that can be detected, and that the
// others have their effect.
func TestGammaFaults(t *testing.T) {
	v := venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	type result struct {
		err     error
		n, bad  int
		records string
	}
	fits := map[string]func(r result, plain result) bool{
		"page-repeated":    func(r, _ result) bool { return errors.As(r.err, &loop) },
		"cursor-loop":      func(r, _ result) bool { return errors.As(r.err, &loop) },
		"filter-ignored":   func(r, _ result) bool { return errors.As(r.err, &foreign) },
		"closed-ignored":   func(r, _ result) bool { return errors.As(r.err, &foreign) },
		"empty-page":       func(r, _ result) bool { return r.err == nil && r.n == 0 },
		"lost-market":      func(r, p result) bool { return r.err == nil && r.n > 0 && r.n < p.n },
		"short-conditions": func(r, p result) bool { return r.err == nil && r.n == p.n && r.records != p.records && r.bad == 0 },
		"unknown-fields": func(r, p result) bool {
			return r.err == nil && r.n == p.n && strings.Contains(r.records, "holdingsRewardsV9")
		},
		"description-edited": func(r, p result) bool { return r.err == nil && r.n == p.n && strings.Contains(r.records, `"Updated. `) },
		"version-changed": func(r, p result) bool {
			return r.err == nil && r.n == p.n && !strings.Contains(r.records, `"version":"v1"`)
		},
	}
	walk := func(f map[string]Faults) (r result) {
		s, url := startServer(t, Options{Venue: v, Faults: f})
		s.Clock().Set(v.Manifest.End.AddDate(0, 0, -10))
		c := gamma.New(host(t, url+"/gamma"))
		take := func(list []gamma.Market) {
			for _, m := range list {
				r.n++
				r.records += string(m.Raw) + "\n"
				if m.Bad != nil {
					r.bad++
				}
			}
		}
		var list []gamma.Market
		if f["gamma"].Names != nil && f["gamma"].Names[0] == "filter-ignored" {
			list, r.err = c.ByConditions(t.Context(), []data.Hash{v.Markets[40].Condition})
			take(list)
			return r
		}
		for _, closed := range []bool{true, false} {
			if err := c.EachMarkets(t.Context(), closed, "", func(p gamma.Page) error { take(p.Markets); return nil }); err != nil {
				r.err = err
			}
		}
		return r
	}
	plain := walk(nil)
	if plain.err != nil || plain.n < 250 || plain.bad > 0 {
		t.Fatalf("%d markets, %d bad: %v", plain.n, plain.bad, plain.err)
	}
	for _, k := range gammaFaults {
		if fits[k.Name] == nil {
			t.Errorf("no case tries %s", k.Name)
		} else if r := walk(alone("gamma", k.Name)); !fits[k.Name](r, plain) {
			t.Errorf("%s: %d markets, %d bad: %v", k.Name, r.n, r.bad, r.err)
		}
	}
}

// TestCLOB checks that it returns all markets with their winners, and the order books of those that
// are traded.
func TestCLOB(t *testing.T) {
	s, url := startServer(t, Options{})
	v := s.Venue()
	c := clob.New(host(t, url+"/clob"))
	found := map[data.Hash]data.Market{}
	err := c.EachMarkets(t.Context(), clob.Start, func(p clob.Page) error {
		for _, m := range p.Markets {
			if m.Bad != nil {
				t.Error(m.Bad)
			}
			found[m.Condition] = m.Market
		}
		return nil
	})
	if err != nil || len(found) != len(v.Markets) {
		t.Fatalf("%d markets: %v", len(found), err)
	}
	var open []string
	paid := ""
	for n := range v.Markets {
		m := &v.Markets[n]
		got := found[m.Condition]
		if r := got.Resolution; (r != nil) != (m.Paid != 0) || r != nil && !slices.Equal(r.Payouts, m.Payouts[:]) {
			t.Errorf("r = %v, want %v", r, m.Payouts)
		}
		if v.Phase(m.Event, s.clock.Now().Unix()) == sample.Open {
			open = append(open, tokenID(m.Tokens[n%2]))
		} else {
			paid = tokenID(m.Tokens[0])
		}
	}
	books, err := c.Books(t.Context(), append(open, "5", paid))
	if err != nil || len(books) != len(open) {
		t.Fatalf("%d books of %d: %v", len(books), len(open), err)
	}
	for _, b := range books {
		if b.Bid == nil || b.Ask == nil || *b.Bid >= *b.Ask || b.At.After(s.clock.Now()) {
			t.Errorf("%+v", b)
		}
	}
	if _, b := post(t, url+"/clob/books", `{"params":[{"token_id":"`+open[0]+`"}]}`); string(b) != "[]" {
		t.Errorf("%s", b)
	}
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	for name, fits := range map[string]func([]clob.Book, error) bool{
		"books-none":    func(_ []clob.Book, err error) bool { return errors.Is(err, clob.ErrNoBooks) },
		"books-foreign": func(_ []clob.Book, err error) bool { return errors.As(err, &foreign) },
		"books-empty":   func(b []clob.Book, err error) bool { return err == nil && b[0].Bid == nil },
		"clob-loop": func([]clob.Book, error) bool {
			return errors.As(c.EachMarkets(t.Context(), clob.Start, func(clob.Page) error { return nil }), &loop)
		},
	} {
		if err := s.SetFaults("clob", Faults{Names: []string{name}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		if books, err := c.Books(t.Context(), open); !fits(books, err) {
			t.Errorf("%s: %d books, %v", name, len(books), err)
		}
	}
}

// TestDataAPI checks that trades are the rows of the venue, and that resolutions and volumes are
// correct.
func TestDataAPI(t *testing.T) {
	s, url := startServer(t, Options{})
	v := s.Venue()
	c := dataapi.New(host(t, url+"/data"))
	s.tape.find()
	busy := slices.MaxFunc(slices.Collect(maps.Values(s.tape.conditions)), func(a, b int) int { return len(s.tape.matches[a]) - len(s.tape.matches[b]) })
	m := &v.Markets[busy]
	want := map[string]int{}
	volume := data.Micro(0)
	for _, i := range s.tape.matches[busy] {
		for _, r := range v.AppendRows(nil, &v.Matches[i]) {
			want[v.Tx(int(i)).String()]++
			if r.Taker {
				volume += data.Micro(r.Shares)
			}
		}
	}
	walk := func() (n int, err error) {
		last := int64(1 << 40)
		err = c.EachTrades(t.Context(), []data.Hash{m.Condition}, false, "", func(p dataapi.TradesPage) error {
			for _, tr := range p.Trades {
				var row struct {
					Size  data.Micro
					Price float64
				}
				if err := json.Unmarshal(tr.Raw, &row); err != nil || tr.At > last || row.Price <= 0 || row.Price >= 1 {
					t.Errorf("err = %v, tr.Raw = %s", err, tr.Raw)
				}
				last = tr.At
				want[tr.Tx.String()]--
				n++
			}
			return nil
		})
		return n, err
	}
	if _, err := walk(); err != nil {
		t.Fatal(err)
	}
	for tx, n := range want {
		if n != 0 {
			t.Errorf("%d rows of %s", -n, tx)
		}
	}
	event := v.Label(busy).EventID
	if got, err := c.LiveVolume(t.Context(), event); err != nil || got[m.Condition] != volume {
		t.Errorf("%v, want %v: %v", got, volume, err)
	}
	if st, err := c.Status(t.Context()); err != nil || *st.Synced < v.Manifest.End.Unix()/1000 || st.Lagging != 0 {
		t.Errorf("%+v: %v", st, err)
	}
	var ids []data.Hash
	for n := 0; n < len(v.Markets) && len(ids) < dataapi.MostConditions; n += 7 {
		ids = append(ids, v.Markets[n].Condition)
	}
	res, err := c.Resolutions(t.Context(), ids)
	if err != nil || len(res) != len(ids) {
		t.Fatalf("%d resolutions: %v", len(res), err)
	}
	for _, r := range res {
		if n, _ := s.tape.market(r.Condition.String()); (r.Status == "resolved") != (v.Markets[n].Paid != 0) {
			t.Errorf("%s: v.Markets[n] = %+v", r.Raw, v.Markets[n])
		}
	}
	plain, _ := walk()
	for name, fits := range map[string]func(n int, err error) bool{
		"dust-missing:1000000": func(n int, err error) bool { return err == nil && n < plain },
		"late-trades:8640000":  func(n int, err error) bool { return err == nil && n < plain },
		"cursor-restart":       func(n int, err error) bool { return err == nil && n == plain }, // all of it fits on a page
		"data-lagging":         func(int, error) bool { st, err := c.Status(t.Context()); return err == nil && st.Lagging == 1 },
		"volume-more": func(int, error) bool {
			got, err := c.LiveVolume(t.Context(), event)
			return err == nil && got[m.Condition] > volume
		},
	} {
		if err := s.SetFaults("data", Faults{Names: []string{name}, Rate: 1}); err != nil {
			t.Fatal(err)
		}
		if n, err := walk(); !fits(n, err) {
			t.Errorf("%s: %d of %d, %v", name, n, plain, err)
		}
	}
}

// TestTradesPageByPage checks that pages of any size have the same rows, and that a reader can
// detect a cursor that leads to the newest again.
func TestTradesPageByPage(t *testing.T) {
	s, url := startServer(t, Options{})
	var all, some []string
	type answer struct {
		Data       []json.RawMessage
		Pagination struct {
			More bool   `json:"has_more"`
			Next string `json:"next_cursor"`
		}
	}
	var whole answer
	get(t, url+"/data/v2/trades?taker_only=false&limit=50", &whole)
	for _, raw := range whole.Data {
		all = append(all, string(raw))
	}
	next := "limit=7"
	for range 7 {
		var p answer
		get(t, url+"/data/v2/trades?taker_only=false&"+next, &p)
		for _, raw := range p.Data {
			some = append(some, string(raw))
		}
		if !p.Pagination.More {
			t.Fatal("the list ends before the seventh page")
		}
		next = "cursor=" + p.Pagination.Next
	}
	if !slices.Equal(all[:49], some) {
		t.Errorf("the %d rows of the small pages differ from those of the large one", len(some))
	}
	if err := s.SetFaults("data", Faults{Names: []string{"cursor-restart"}, Rate: 1}); err != nil {
		t.Fatal(err)
	}
	var p answer
	if get(t, url+"/data/v2/trades?taker_only=false&"+next, &p); string(p.Data[0]) != all[0] {
		t.Errorf("p.Data[0] = %s", p.Data[0])
	}
	for _, query := range []string{"offset=1", "condition=0x12", "limit=1001", "user=0x1"} {
		if status := get(t, url+"/data/v2/trades?"+query, nil); status != http.StatusBadRequest {
			t.Errorf("%s: status = %d", query, status)
		}
	}
}

// TestTapeIsNotWoundForASecond checks that a request that read the clock before another gets the
// quotes of the other, and that setting the clock back rewinds the tape.
func TestTapeIsNotWoundForASecond(t *testing.T) {
	v := venue(t, sample.Config{Fills: 6000, Seed: 3, Chain: true})
	tp := newTape(v)
	end := v.Manifest.End.Unix()
	sum := func(at int64) (volume data.Micro) {
		q := tp.quotes(at)
		for n := range v.Markets {
			volume += q(n).Volume
		}
		return volume
	}
	whole := sum(end)
	if whole != v.Manifest.TakerUSD {
		t.Errorf("whole = %v, want %v", whole, v.Manifest.TakerUSD)
	}
	if got := sum(end - setBack); got != whole {
		t.Errorf("got %v, want %v", got, whole)
	}
	half := sum(end - 20*86400)
	if half >= whole || half == 0 || sum(end) != whole {
		t.Errorf("%v of %v", half, whole)
	}
}
