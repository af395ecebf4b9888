package api_test

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// marketsBuilder makes successive snapshots of markets.
type marketsBuilder struct {
	epoch    uint64
	catalog  *serving.CatalogBuilder
	screener *serving.ScreenerBuilder
}

func newMarketsBuilder() *marketsBuilder {
	return &marketsBuilder{catalog: serving.NewCatalogBuilder(), screener: serving.NewScreenerBuilder()}
}

// put sets a market with that volume of 24 hours; more may change its figures.
func (s *marketsBuilder) put(m *serving.Market, day data.Micro, more ...func(f *serving.Figures)) {
	f := serving.NewFigures(serving.TakerUSD)
	f.Volume24h, f.Volume7d, f.Volume30d, f.VolumeUSD = day, 2*day, 3*day, 10*day
	for _, change := range more {
		change(&f)
	}
	s.catalog.Set(m)
	s.catalog.SetFigures(m.ID, f)
}

func (s *marketsBuilder) snapshot() *serving.Snapshot {
	s.epoch++
	snap := &serving.Snapshot{Epoch: s.epoch, AsOf: apitest.AsOf.Add(time.Duration(s.epoch) * time.Minute)}
	serving.NewWalletBuilder(0).Seal(snap)
	snap.Catalog = s.catalog.Seal()
	snap.Screener = s.screener.Next(snap.Catalog)
	return snap
}

func conditionOf(id int) data.Hash { return data.Hash{byte(id >> 8), byte(id), 31: 0xcc} }

// number is the id of a market of numbered, by its condition id.
func number(condition string) int {
	h, _ := data.ParseHash(condition)
	return int(h[0])<<8 | int(h[1])
}

// numbered adds n markets, of which the later ones are traded more.
func numbered(n int) *marketsBuilder {
	s := newMarketsBuilder()
	for id := range n {
		s.put(&serving.Market{ID: int32(id), Condition: conditionOf(id), Question: fmt.Sprintf("Market number %d", id)}, data.Micro(id)*data.One)
	}
	return s
}

// few has three markets; of the last one nothing is known.
func few() *marketsBuilder {
	s, yes, no := newMarketsBuilder(), true, false
	s.put(&serving.Market{
		ID: 0, Condition: conditionOf(0), Question: "Will \"it\" rain?", Slug: "rain", EventID: "7", EventSlug: "weather", EventTitle: "Weather in May",
		Category: "weather", Tags: []string{"wet", "daily"}, Outcomes: []string{"Yes", "No"}, NegRisk: &no, Closed: &no,
		EndTS: apitest.AsOf.Add(48 * time.Hour).UnixMicro(), CreatedTS: apitest.AsOf.Add(-48 * time.Hour).UnixMicro(),
	}, 3_000_000, func(f *serving.Figures) {
		f.Price, f.PriceChange24h, f.Spread, f.Liquidity = 430_000, -70_000, 20_000, 1_250_000
		f.Trades, f.Traders, f.Traders24h, f.LastTS, f.WhaleFlow24h = 7, 5, 2, apitest.AsOf.UnixMicro(), -12_000_500_000
		f.FirstTS = f.LastTS
	})
	s.put(&serving.Market{ID: 2, Condition: conditionOf(2), Question: "Rainbow tomorrow", Category: "weather", Tags: []string{"wet"}, Closed: &yes, NegRisk: &yes}, 5_000_000)
	s.put(&serving.Market{ID: 3, Condition: conditionOf(3)}, 0)
	return s
}

func page(t *testing.T, v *venue, tier access.Tier, query string) wire.Page[wire.ScreenerRow] {
	t.Helper()
	r := v.get(tier, "/screener?"+query)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", query, r.status, r.Body())
	}
	return exact[wire.Page[wire.ScreenerRow]](t, r.Body())
}

func TestScreenerRow(t *testing.T) {
	v := newVenue(t, few().snapshot())
	p := page(t, v, access.Free, "event_id=7")
	r := v.get(access.Free, "/screener?event_id=7")
	want := `"as_of":"2026-03-14T15:10:26Z","next_cursor":null,"data":[{"condition_id":"` + conditionOf(0).String() + `","question":"Will \"it\" rain?",` +
		`"slug":"rain","event_id":"7","event_slug":"weather","event_title":"Weather in May","category":"weather","tags":["wet","daily"],"status":"open",` +
		`"neg_risk":false,"outcomes":["Yes","No"],"price":0.43,"price_change_24h":-0.07,"spread":0.02,"liquidity":1.25,` +
		`"volume_24h":3,"volume_7d":6,"volume_30d":9,"volume":30,"volume_basis":"taker_usd","traders_24h":2,"traders":5,"trades":7,` +
		`"whale_flow_24h":-12000.5,"created_at":"2026-03-12T15:09:26Z","end_date":"2026-03-16T15:09:26Z","resolved_at":null,"resolved_at_source":null,` +
		`"last_trade_at":"2026-03-14T15:09:26Z"}]}`
	if !bytes.HasSuffix(r.Body(), []byte(want)) {
		t.Errorf("got  %s\nwant %s", r.Body(), want)
	}
	if len(p.Data) != 1 || *p.MaxRows != 20 || p.Truncated {
		t.Errorf("%+v", p)
	}
	last := page(t, v, access.Free, "status=open").Data[1]
	if last.Question != nil || last.Price != nil || last.EndDate != nil || last.NegRisk != nil || last.Tags != nil || last.Outcomes != nil || last.WhaleFlow24h != 0 {
		t.Errorf("what is not known must be null, and no moves are 0: %+v", last)
	}
}

// Each filter against the three markets of few: which ids pass, in order.
func TestScreenerFilters(t *testing.T) {
	v := newVenue(t, few().snapshot())
	for query, want := range map[string]string{
		"": "2 0 3", "q=rain": "2 0", "q=RAIN+wea": "0", "q=weather": "0", "q=rian": "0", "category=weather": "2 0", "category=WeatheR": "2 0", "category=sports": "", "exclude_category=Weather": "3", "category=sports&category=weather": "2 0",
		"exclude_category=weather": "3", "tag=daily": "0", "tag=daily&tag=wet": "2 0", "exclude_tag=daily": "2 3", "status=open": "0 3", "status=open&status=closed": "2 0 3",
		"neg_risk=true": "2", "neg_risk=false": "0", "has_resolution=true": "", "has_resolution=false": "2 0 3", "event_id=weather": "0", "event_id=nowhere": "",
		"min_volume=30": "2 0", "min_volume=30.000001": "2", "max_volume=0": "3", "min_price=0.43&max_price=0.43": "0", "max_price=1": "0",
		"max_price_change_24h=-0.07": "0", "max_whale_flow_24h=-12000.5": "0", "min_traders=5": "0", "max_spread=1": "0", "min_liquidity=0": "0",
		"ends_after=2026-03-16T15:09:26Z": "0", "ends_before=2026-03-16T15:09:26Z": "", "created_before=2026-03-13": "0", "created_after=2026-03-13": "",
		"sort=price": "0 2 3", "sort=price&order=asc": "0 2 3", "order=asc": "3 0 2", "sort=volume&order=asc": "3 0 2", "sort=whale_flow_24h": "2 3 0",
	} {
		var got []string
		for _, row := range page(t, v, access.Trader, query).Data {
			got = append(got, fmt.Sprint(number(row.ConditionID)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
}

func TestScreenerProblems(t *testing.T) {
	v := newVenue(t, few().snapshot())
	for query, param := range map[string]string{
		"screener?sort=question": "sort", "screener?order=down": "order", "screener?q=%3F!": "q", "screener?min_volume=x": "min_volume",
		"screener?min_volume=2&max_volume=1": "max_volume", "screener?min_price=1.5": "min_price", "screener?fields=price,prize": "fields",
		"screener?fields=price,": "fields", "screener?status=done": "status", "screener?ends_after=2026-03-02&ends_before=2026-03-02": "ends_before",
		"screener?category=wether": "category", "screener?category=weather&category=": "category", "screener/summary?exclude_category=x": "exclude_category",
		"markets/search?q=a&category=rain": "category",
		"screener?limit=201":               "limit", "screener?neg_risk=1": "neg_risk", "screener/summary?limit=1": "limit", "screener/summary?min_trades=1.5": "min_trades",
		"markets/search": "q", "markets/search?q=": "q", "markets/search?q=%20-%20": "q", "markets/search?q=a&sort=volume": "sort",
	} {
		r := v.get(access.Free, "/"+query)
		if p := exact[wire.Problem](t, r.Body()); r.status != 400 || p.Param != param {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}

func TestFieldsLeaveOutWhatWasNotRequested(t *testing.T) {
	v := newVenue(t, few().snapshot())
	for _, query := range []string{"fields=question,volume_24h,condition_id", "fields=volume_24h,%20question&fields=condition_id"} {
		r := v.get(access.Free, "/screener?tag=daily&"+query)
		want := `"data":[{"condition_id":"` + conditionOf(0).String() + `","question":"Will \"it\" rain?","volume_24h":3}]}`
		if !bytes.HasSuffix(r.Body(), []byte(want)) {
			t.Errorf("%s: body = %s", query, r.Body())
		}
	}
}

// The page that is encoded once and the one put together for a request are alike.
func TestEncodedFirstPageEqualsComputedPage(t *testing.T) {
	v := newVenue(t, numbered(230).snapshot())
	for _, tier := range access.Tiers() {
		for _, limit := range []int{1, 50, 200} {
			plain := page(t, v, tier, fmt.Sprintf("limit=%d", limit))
			full := page(t, v, tier, fmt.Sprintf("limit=%d&sort=volume_24h", limit))
			rows := min(limit, tier.Caps().Rows)
			if len(plain.Data) != rows || fmt.Sprint(ids(plain)) != fmt.Sprint(ids(full)) || plain.NextCursor == nil || full.NextCursor == nil {
				t.Errorf("%s, limit %d: %v and %v", tier, limit, ids(plain), ids(full))
			}
			if want := limit > tier.Caps().Rows; plain.Truncated != want || full.Truncated != want {
				t.Errorf("%s, limit %d: truncated %v and %v, want %v", tier, limit, plain.Truncated, full.Truncated, want)
			}
		}
	}
	again := v.get(access.Free, "/screener")
	if r := v.get(access.Free, "/screener", "If-None-Match: "+again.header("Etag")); r.status != 304 {
		t.Errorf("unchanged: %d", r.status)
	}
	if none := page(t, newVenue(t, newMarketsBuilder().snapshot()), access.Free, ""); len(none.Data) != 0 || none.NextCursor != nil {
		t.Errorf("no markets: %+v", none)
	}
	for _, path := range []string{"/screener", "/screener?sort=price", "/screener/summary", "/markets/search?q=a", "/screener/summary?q=a&event_id=1"} {
		if r := newVenue(t, apitest.Snapshot(1, 1, 1)).get(access.Free, path); r.status != 200 {
			t.Errorf("without a screener, %s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
}

func ids(p wire.Page[wire.ScreenerRow]) (list []int) {
	for i := range p.Data {
		list = append(list, number(p.Data[i].ConditionID))
	}
	return list
}

// A scan shows each market that existed at its start once, in the order of that time, whatever is
// published meanwhile.
func TestAScanStaysInItsEpoch(t *testing.T) {
	for _, query := range []string{"", "q=number", "sort=volume&order=asc&min_volume=0"} {
		s := numbered(100)
		first := s.snapshot()
		v := newVenue(t, first)
		want := ids(page(t, v, access.Trader, query+"&limit=200"))
		var got []int
		for next := ""; ; {
			p := page(t, v, access.Trader, query+"&limit=9"+next)
			got = append(got, ids(p)...)
			if !p.AsOf.Equal(first.AsOf.Truncate(time.Second)) {
				t.Fatalf("a page of %v in a scan of %v", p.AsOf, first.AsOf)
			}
			if p.NextCursor == nil {
				break
			}
			next = "&cursor=" + url.QueryEscape(*p.NextCursor)
			for range 7 { // what was least is now most, and there are new ones
				id := len(got)*7%100 + int(s.epoch)%50
				s.put(&serving.Market{ID: int32(id), Condition: conditionOf(id), Question: "Renamed"}, data.Micro(1000-id)*data.One)
				v.api.Publish(s.snapshot())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: walked %v, want %v", query, got, want)
		}
		if now := page(t, v, access.Trader, "limit=1"); number(now.Data[0].ConditionID) == want[0] {
			t.Errorf("%s: a new scan begins like the old one", query)
		}
	}
}

func TestPinnedEpochsExpire(t *testing.T) {
	s := numbered(30)
	v := newVenue(t, s.snapshot())
	start := func() string {
		return "/screener?limit=5&cursor=" + url.QueryEscape(*page(t, v, access.Trader, "limit=5").NextCursor)
	}
	status := func(path string) int {
		r := v.get(access.Trader, path)
		if r.status != 200 && (r.text("code") != `"invalid_cursor"` || !strings.Contains(r.text("detail"), "expired")) {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
		return r.status
	}
	idle := start()
	v.clock.Add(11 * time.Minute)
	if got := status(idle); got != 200 {
		t.Errorf("the data is what is served: %d", got)
	}
	v.api.Publish(s.snapshot())
	v.clock.Add(9 * time.Minute)
	if got := status(idle); got != 200 {
		t.Errorf("after 9 minutes: %d", got)
	}
	v.clock.Add(11 * time.Minute)
	if got := status(idle); got != 400 {
		t.Errorf("after 11 minutes: %d", got)
	}
	// Of 70 epochs, 64 are pinned: the one from which a second page was read, and the newest others.
	followed := start()
	status(followed)
	var others []string
	for range 70 {
		v.clock.Add(time.Second)
		v.api.Publish(s.snapshot())
		others = append(others, start())
	}
	if got := status(followed); got != 200 {
		t.Errorf("a resumed scan among many: %d", got)
	}
	if first, last := status(others[0]), status(others[69]); first != 400 || last != 200 {
		t.Errorf("the first of many scans %d, the last %d", first, last)
	}
}

// The sums over the markets of few, computed by hand.
func TestScreenerSummary(t *testing.T) {
	v := newVenue(t, few().snapshot())
	s := exact[wire.One[wire.ScreenerSummary]](t, v.get(access.Free, "/screener/summary").Body())
	d := s.Data
	if s.MaxRows != nil || d.Count != 3 || d.Volume24h != 8_000_000 || d.Volume7d != 16_000_000 || d.Volume30d != 24_000_000 || d.Volume != 80_000_000 ||
		*d.Liquidity != 1_250_000 || d.LiquidityMarkets != 1 || d.TagCount != 2 {
		t.Errorf("%+v", d)
	}
	facets := func(list []wire.Facet) (text string) {
		for _, f := range list {
			name := "-"
			if f.Name != nil {
				name = *f.Name
			}
			text += fmt.Sprint(name, " ", f.Count, " ", f.Volume24h, ", ")
		}
		return text
	}
	for _, c := range [][2]string{
		{facets(d.ByCategory), "weather 2 8, - 1 0, "},
		{facets(d.ByStatus), "open 2 3, closed 1 5, resolved 0 0, "},
		{facets(d.ByTag), "wet 2 8, daily 1 3, "},
	} {
		if c[0] != c[1] {
			t.Errorf("facets %s, want %s", c[0], c[1])
		}
	}
	// 0.43 lies in the fifth bucket, and the other two have no price. It ends 47 hours and 59 minutes after as_of.
	if b := d.ByPrice; len(b) != 11 || b[4].Count != 1 || *b[4].From != 400_000 || *b[4].To != 500_000 || b[10].Count != 2 || b[10].From != nil {
		t.Errorf("prices %+v", d.ByPrice)
	}
	if b := d.ByEndDate; len(b) != 7 || b[2].Bucket != "7d" || b[2].Count != 1 || b[2].From.Sub(*s.AsOf) != 24*time.Hour || b[6].Count != 2 || b[0].From != nil || b[5].To != nil {
		t.Errorf("ends %+v", d.ByEndDate)
	}
	some := exact[wire.One[wire.ScreenerSummary]](t, v.get(access.Free, "/screener/summary?tag=wet&status=closed").Body()).Data
	empty := newVenue(t, &serving.Snapshot{Epoch: 1})
	for _, b := range exact[wire.One[wire.ScreenerSummary]](t, empty.get(access.Free, "/screener/summary").Body()).Data.ByEndDate {
		if b.From != nil || b.To != nil || b.Count != 0 {
			t.Errorf("without as_of: %+v", b)
		}
	}
	if some.Count != 1 || some.Volume24h != 5_000_000 || some.Liquidity != nil || len(some.ByCategory) != 1 {
		t.Errorf("closed and wet: %+v", some)
	}
}

func TestSearchRanksByMatchThenActivity(t *testing.T) {
	v := newVenue(t, few().snapshot())
	for query, want := range map[string]string{
		"q=rain":                 "title 0, title_prefix 2, ", // Rainbow is traded more, and matches less
		"q=rainbow+tomorrow":     "whole_title 2, ",
		"q=rain+weather":         "exact 0, ",
		"q=rian":                 "title_typo 0, ",
		"q=rain&status=closed":   "title_prefix 2, ",
		"q=rain&category=sports": "",
		"q=r":                    "title_prefix 2, title_prefix 0, ",
		"q=nothing":              "",
		"q=rain&category=weather&status=open&status=closed": "title 0, title_prefix 2, ",
	} {
		r := v.get(access.Explorer, "/markets/search?"+query)
		p := exact[wire.MarketHits](t, r.Body())
		got := ""
		for _, hit := range p.Data {
			got += fmt.Sprint(hit.Match, " ", number(hit.ConditionID), ", ")
		}
		if got != want || p.Total != len(p.Data) {
			t.Errorf("%s: %s (of %d), want %s", query, got, p.Total, want)
		}
	}
	many := newVenue(t, numbered(120).snapshot())
	for tier, rows := range map[access.Tier]int{access.Free: 20, access.Explorer: 50, access.Trader: 120, access.Alpha: 120} {
		p := exact[wire.MarketHits](t, many.get(tier, "/markets/search?q=mark&limit=200").Body())
		if len(p.Data) != rows || p.Total != 120 || p.Truncated != (rows < 120) || number(p.Data[0].ConditionID) != 119 || *p.MaxRows != min(tier.Caps().Rows, 200) {
			t.Errorf("%s: %d rows of %d, truncated %v, max_rows %d", tier, len(p.Data), p.Total, p.Truncated, *p.MaxRows)
		}
	}
}

// A decimal has only digits, with at most six after the point.
func TestDecimalsAreNeverRounded(t *testing.T) {
	v := newVenue(t, few().snapshot())
	for text, ok := range map[string]bool{
		"0": true, "30": true, "30.000001": true, "007.50": true, "1000000000000": true, "1000000000000.000000": true,
		"30.0000001": false, "30.0000000": false, "3e1": false, "3E-2": false, "30.": false, ".5": false, "": false, "-": false, "%2B3": false,
		"0x1f": false, "1_000": false, "NaN": false, "Inf": false, "%2030": false, "30%20": false, "1000000000000.000001": false, "-1": false, "1.2.3": false,
	} {
		r := v.get(access.Free, "/screener?min_volume="+text)
		if (r.status == 200) != ok || !ok && r.status != 400 {
			t.Errorf("min_volume=%s: status = %d, body = %s", text, r.status, r.Body())
		}
	}
	for text, ok := range map[string]bool{"-1": true, "-0.000001": true, "-1.000001": false, "--1": false, "-.5": false} {
		if r := v.get(access.Free, "/screener?min_price_change_24h="+text); (r.status == 200) != ok {
			t.Errorf("min_price_change_24h=%s: status = %d, body = %s", text, r.status, r.Body())
		}
	}
	r := v.get(access.Free, "/screener?min_price=1e-1")
	if p := exact[wire.Problem](t, r.Body()); p.Param != "min_price" ||
		p.Detail != "min_price must be a number from 0 to 1 with at most 6 decimals and no exponent, such as 0.25." {
		t.Errorf("%+v", p)
	}
}
