package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// marketVenue has market 0, fully described and resolved, market 1 of the same event, with hardly
// any data, and market 2 with three outcomes.
func marketVenue(t *testing.T) *venue {
	t.Helper()
	snap := &serving.Snapshot{Epoch: 1, AsOf: apitest.AsOf, Venue: []data.WalletID{3}}
	b := serving.NewWalletBuilder(0)
	for i := range 10 {
		b.Wallets().Add(apitest.Wallet(i))
		b.Set(data.WalletID(i), serving.Totals{FirstTS: 1})
	}
	b.SetName(1, "Ann")
	b.Seal(snap)
	yes := true
	micro := func(v data.Micro) *data.Micro { return &v }
	c := serving.NewCatalogBuilder()
	c.Set(&serving.Market{ID: 0, Condition: data.Hash{1}, Question: "Will it \"rain\"?", Slug: "rain", EventID: "7", EventSlug: "weather",
		EventTitle: "Weather", SeriesSlug: "daily", Category: "weather", Tags: []string{"rain"}, Outcomes: []string{"Yes", "No"},
		Payouts: []data.Micro{0, data.One}, NegRisk: &yes, Closed: &yes, AcceptingOrders: &yes, BestBid: micro(400_000), BestAsk: micro(410_000),
		Liquidity: micro(5_000_000), ReportedVolume: micro(9_000_000), CreatedTS: ago(90 * hour), StartTS: ago(80 * hour), EndTS: ago(20 * hour),
		ClosedTS: ago(19 * hour), ResolvedTS: ago(18 * hour), ResolvedBy: data.TimeOfOracle, UpdatedTS: ago(10 * hour),
		QuotedTS: ago(9 * hour)})
	c.Set(&serving.Market{ID: 1, Condition: data.Hash{2}, EventID: "7"})
	c.Set(&serving.Market{ID: 2, Condition: data.Hash{3}, Outcomes: []string{"a", "b", "c"}})
	for id, ref := range []serving.TokenRef{{Market: 0, Outcome: 0, ID: "100"}, {Market: 0, Outcome: 1, ID: "101"},
		{Market: 2, Outcome: 1, ID: "121"}, {Market: 2, Outcome: 0, ID: "120"}} {
		c.Map(data.TokenID(id), ref)
	}
	c.SetPrice(2, 250_000)
	f := serving.NewFigures(serving.TakerUSD)
	f.VolumeUSD, f.VolumeShares, f.Volume24h, f.Volume7d, f.Volume30d = 120_500_000, 300_000_000, 10_000_000, 20_000_000, 30_000_000
	f.Trades, f.Traders, f.Traders24h, f.FirstTS, f.LastTS = 4, 3, 2, ago(50*24*hour), ago(2*hour)
	f.Price, f.PriceChange24h, f.Spread, f.Liquidity, f.Binary = 0, -400_000, 10_000, 5_000_000, true
	c.SetFigures(0, f)
	c.SetFirsts(0, 3, []data.WalletID{3}) // four wallets of the event, one of them the venue's own
	c.SetFirsts(1, 1, []data.WalletID{3})
	snap.Catalog = c.Seal()
	v := newVenue(t, snap)
	v.markets.Texts = map[int32]serving.MarketTexts{0: {Description: "Rules.", ResolutionSource: "https://example.com", PayoutSource: data.ResolvedByAPI}}
	v.markets.Filled = []serving.Fill{
		{Wallet: 1, TS: ago(2 * hour), Tx: data.Hash{9}, LogIndex: 5, Token: 1, Side: data.Sell, Role: data.Taker, Shares: 10_000_001, USD: 4_000_000, Fee: 1},
		{Wallet: 2, TS: ago(50 * 24 * hour), LogIndex: data.NoIndex, Repeat: 1, Token: 0, Side: data.Buy, USD: 0, Fee: data.DollarFee(data.Buy, 2)},
	}
	return v
}

func overview(t *testing.T, v *venue, tier access.Tier, condition byte) wire.One[wire.MarketOverview] {
	t.Helper()
	r := v.get(tier, "/market/"+data.Hash{condition}.String()+"/overview")
	if r.status != 200 {
		t.Fatalf("status = %d, body = %s", r.status, r.Body())
	}
	return exact[wire.One[wire.MarketOverview]](t, r.Body())
}

func TestMarketOverview(t *testing.T) {
	v := marketVenue(t)
	m := overview(t, v, access.Alpha, 1).Data
	got, _ := json.Marshal(m.RecentFills)
	// 4 ÷ 10.000001 = 0.39999996 → 0.4; a fill of no tokens has no price.
	want := `[{"ts":"2026-03-14T13:09:26Z","transaction_hash":"0x09` + strings.Repeat("0", 62) + `","log_index":5,"ordinal":1,"address":"` + apitest.Wallet(1).String() +
		`","username":"Ann","outcome":"No","outcome_index":1,"token_id":"101","side":"SELL","role":"taker","price":0.4,"shares":10.000001,"usd":4,"fee":0.000001,"fee_asset":"usd"},` +
		`{"ts":"2026-01-23T15:09:26Z","transaction_hash":null,"log_index":null,"ordinal":1,"address":"` + apitest.Wallet(2).String() +
		`","username":null,"outcome":"Yes","outcome_index":0,"token_id":"100","side":"BUY","role":null,"price":null,"shares":0,"usd":0,"fee":0.000002,"fee_asset":"usd"}]`
	if string(got) != want {
		t.Errorf("fills\n got %s\nwant %s", got, want)
	}
	got, _ = json.Marshal([]any{m.Outcomes, m.Resolution, m.Volume, m.VolumeBasis, m.Price, m.PriceChange24h, m.Spread, m.Status, m.Description, m.Traders24h, m.QuotedAt})
	want = `[[{"outcome":"Yes","outcome_index":0,"token_id":"100","price":0,"payout":0},{"outcome":"No","outcome_index":1,"token_id":"101","price":1,"payout":1}],` +
		`{"payouts":[0,1],"winner":"No","resolved_at":"2026-03-13T21:09:26Z","resolved_at_source":"oracle","source":"api"},120.5,"taker_usd",0,-0.4,0.01,"resolved","Rules.",2,"2026-03-14T06:09:26Z"]`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if unquoted := overview(t, v, access.Alpha, 2).Data; unquoted.QuotedAt != nil {
		t.Errorf("a market without a quote has the time %v of one", unquoted.QuotedAt)
	}
	v.markets.Asked = 1
	overview(t, v, access.Alpha, 1)
	if v.markets.Asked != 1 {
		t.Errorf("the database was queried %d times in one epoch, want once", v.markets.Asked)
	}
	kept := string(v.get(access.Alpha, "/market/"+data.Hash{1}.String()+"/overview").Body())
	v.markets.InMemory = true
	for range 2 {
		if got := string(v.get(access.Alpha, "/market/"+data.Hash{1}.String()+"/overview").Body()); got != kept {
			t.Errorf("read from memory\n got %s\nwant %s", got, kept)
		}
	}
	if v.markets.Asked != 3 {
		t.Errorf("what is in memory was read %d times for two requests", v.markets.Asked-1)
	}
}

// TestShortConditionIDs: 62 digits name the market of the 64 digits that end in 00.
func TestShortConditionIDs(t *testing.T) {
	v := marketVenue(t)
	id := data.Hash{1}.String()
	for _, path := range []string{"/market/%/overview", "/whales/moves?market_id=%", "/whales/flow?market_id=%"} {
		long := v.get(access.Alpha, strings.Replace(path, "%", id, 1))
		short := v.get(access.Alpha, strings.Replace(path, "%", strings.ToUpper(id[:64]), 1))
		if long.status != 200 || short.status != 200 || string(long.Body()) != string(short.Body()) {
			t.Errorf("%s: %d %s\nwant %d %s", path, short.status, short.Body(), long.status, long.Body())
		}
		for _, wrong := range []string{id[:65], id[:63], id[2:], id + "00"} {
			if r := v.get(access.Alpha, strings.Replace(path, "%", wrong, 1)); r.status != 400 {
				t.Errorf("%s of %s: status = %d", path, wrong, r.status)
			}
		}
	}
}

func TestWhatIsNotKnownOfAMarketIsNull(t *testing.T) {
	v := marketVenue(t)
	m := overview(t, v, access.Free, 2).Data
	got, _ := json.Marshal(m)
	for _, member := range []string{"question", "description", "tags", "status", "volume_basis", "price", "price_change_24h", "spread", "liquidity",
		"best_bid", "first_trade_at", "resolution", "end_date", "neg_risk"} {
		if want := `"` + member + `":null`; member != "status" && !strings.Contains(string(got), want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if m.Status != "open" || m.Volume != 0 || len(m.Outcomes) != 0 || len(m.RecentFills) != 0 {
		t.Errorf("got %s", got)
	}
	// Of three outcomes each has its own price, and no token of the third is known.
	got, _ = json.Marshal(overview(t, v, access.Free, 3).Data.Outcomes)
	want := `[{"outcome":"a","outcome_index":0,"token_id":"120","price":null,"payout":null},` +
		`{"outcome":"b","outcome_index":1,"token_id":"121","price":0.25,"payout":null},{"outcome":"c","outcome_index":2,"token_id":null,"price":null,"payout":null}]`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	r := v.get(access.Free, "/market/"+data.Hash{99}.String()+"/overview")
	if r.status != 404 || r.text("code") != `"market_not_found"` {
		t.Errorf("an unknown market: %d %s", r.status, r.Body())
	}
	if r := v.get(access.Free, "/market/0x12/overview"); r.status != 400 || r.text("param") != `"condition_id"` {
		t.Errorf("no condition id: %d %s", r.status, r.Body())
	}
}

// The older fill of market 0 is 50 days old: free sees 30 days, explorer 180.
func TestRecentFillsReachAsFarAsThePlan(t *testing.T) {
	v := marketVenue(t)
	free := overview(t, v, access.Free, 1)
	if len(free.Data.RecentFills) != 1 || !free.Truncated || *free.UpgradeHint != "explorer" || free.MaxRows != nil || free.Data.Trades != 4 {
		t.Errorf("free: %+v", free.Envelope)
	}
	if e := overview(t, v, access.Explorer, 1); len(e.Data.RecentFills) != 2 || e.Truncated {
		t.Errorf("explorer: %+v", e.Envelope)
	}
	if e := overview(t, v, access.Free, 2); e.Truncated {
		t.Errorf("a market without fills: %+v", e.Envelope)
	}
}

func TestEvent(t *testing.T) {
	v := marketVenue(t)
	for _, key := range []string{"weather", "7"} {
		r := v.get(access.Free, "/event/"+key)
		if r.status != 200 {
			t.Fatalf("%s: status = %d, body = %s", key, r.status, r.Body())
		}
		got, _ := json.Marshal(exact[wire.One[wire.EventOverview]](t, r.Body()).Data)
		want := `{"event_id":"7","event_slug":"weather","title":"Weather","series_slug":"daily","category":"weather","neg_risk":true,"status":"open",` +
			`"start_date":"2026-03-11T07:09:26Z","end_date":"2026-03-13T19:09:26Z","markets":2,"open_markets":1,"closed_markets":0,"resolved_markets":1,` +
			`"volume":120.5,"volume_shares":300,"volume_basis":"taker_usd","volume_24h":10,"volume_7d":20,"volume_30d":30,"trades":4,"traders":3,"liquidity":5,` +
			`"first_trade_at":"2026-01-23T15:09:26Z","last_trade_at":"2026-03-14T13:09:26Z"}`
		if string(got) != want {
			t.Errorf("%s\n got %s\nwant %s", key, got, want)
		}
	}
	if v.markets.Asked != 0 {
		t.Errorf("the database was queried %d times, want never", v.markets.Asked)
	}
	for _, path := range []string{"/event/nothing", "/event/nothing/markets", "/event/nothing/traders"} {
		if r := v.get(access.Free, path); r.status != 404 || r.text("code") != `"event_not_found"` {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
}

func TestMarketsOfAnEvent(t *testing.T) {
	v := marketVenue(t)
	page := exact[wire.Ranked[wire.MarketSummary]](t, v.get(access.Free, "/event/weather/markets").Body())
	got, _ := json.Marshal(page.Data)
	want := `[{"condition_id":"` + data.Hash{1}.String() + `","question":"Will it \"rain\"?","slug":"rain","event_id":"7","event_slug":"weather","category":"weather",` +
		`"status":"resolved","outcomes":["Yes","No"],"payouts":[0,1],"price":0,"price_change_24h":-0.4,"spread":0.01,"liquidity":5,` +
		`"volume":120.5,"volume_shares":300,"volume_basis":"taker_usd","volume_24h":10,"volume_7d":20,"volume_30d":30,"trades":4,"traders":3,"traders_24h":2,` +
		`"first_trade_at":"2026-01-23T15:09:26Z","last_trade_at":"2026-03-14T13:09:26Z","resolved_at":"2026-03-13T21:09:26Z","resolved_at_source":"oracle","end_date":"2026-03-13T19:09:26Z"},` +
		`{"condition_id":"` + data.Hash{2}.String() + `","question":null,"slug":null,"event_id":"7","event_slug":null,"category":null,` +
		`"status":"open","outcomes":null,"payouts":null,"price":null,"price_change_24h":null,"spread":null,"liquidity":null,` +
		`"volume":0,"volume_shares":0,"volume_basis":null,"volume_24h":0,"volume_7d":0,"volume_30d":0,"trades":0,"traders":0,"traders_24h":0,` +
		`"first_trade_at":null,"last_trade_at":null,"resolved_at":null,"resolved_at_source":null,"end_date":null}]`
	if string(got) != want || page.Total != 2 {
		t.Errorf("got %d %s\nwant %s", page.Total, got, want)
	}
	for query, rows := range map[string]int{"?limit=1": 1, "?offset=1": 1, "?offset=2": 0, "?offset=10000": 0} {
		p := exact[wire.Ranked[wire.MarketSummary]](t, v.get(access.Free, "/event/weather/markets"+query).Body())
		if len(p.Data) != rows || p.Total != 2 || p.Truncated {
			t.Errorf("%s: %d rows of %d, truncated %v", query, len(p.Data), p.Total, p.Truncated)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=201", "?offset=-1", "?offset=10001", "?cursor=x"} {
		if r := v.get(access.Free, "/event/weather/markets"+query); r.status != 400 {
			t.Errorf("%s: status = %d", query, r.status)
		}
	}
}

// Eight wallets in pairs of equal volume, four with a real_pnl of 2 and four of 1: ties
// go by volume, then by address.
func TestTradersOfAnEvent(t *testing.T) {
	v := marketVenue(t)
	rows := make([]serving.EventTrader, 8)
	for i := range rows {
		rows[i] = serving.EventTrader{Wallet: data.WalletID(i), NetCash: data.Micro(-i/4) * data.One, Redemption: 2_000_000, BuyUSD: 3_000_000,
			SellUSD: data.Micro(i/2) * data.One, Fills: 2, Markets: 2, ResolvedMarkets: 1, WinningMarkets: 1}
	}
	v.markets.Traders = serving.EventTraders{Total: 30, Rows: rows}
	page := exact[wire.Ranked[wire.EventTrader]](t, v.get(access.Alpha, "/event/7/traders?limit=8").Body())
	var ranks []int
	for i, r := range page.Data {
		ranks = append(ranks, r.Rank)
		if i == 0 {
			continue
		}
		p := page.Data[i-1]
		if p.RealPnL < r.RealPnL || p.RealPnL == r.RealPnL && (p.Volume < r.Volume || p.Volume == r.Volume && p.Address > r.Address) {
			t.Errorf("row %d before row %d: p = %+v, r = %+v", i-1, i, p, r)
		}
	}
	// Wallets 0 to 3 have 2, the others 1.
	if fmt.Sprint(ranks) != "[1 1 1 1 5 5 5 5]" || page.Total != 30 {
		t.Errorf("ranks %v of %d", ranks, page.Total)
	}
	if !slices.Equal(v.markets.Excluded, []data.WalletID{3}) {
		t.Errorf("read without the wallets %v", v.markets.Excluded)
	}
	first := page.Data[0]
	// 2 ÷ 3 = 0.666667 of what was bought.
	if first.RealPnL != 2_000_000 || *first.ROI != 666_667 || first.Volume != 4_000_000 || first.Markets != 2 || first.WinningMarkets != 1 {
		t.Errorf("first %+v", first)
	}
	rest := exact[wire.Ranked[wire.EventTrader]](t, v.get(access.Alpha, "/event/7/traders?limit=2&offset=5").Body())
	if len(rest.Data) != 2 || rest.Data[0] != page.Data[5] && rest.Data[0].Address != page.Data[5].Address || rest.Data[0].Rank != 5 {
		t.Errorf("from the sixth on: %+v", rest.Data)
	}
}

// Few traders are kept unless more are requested; reading on returns the next ones.
func TestTradersOfAnEventAreReadOn(t *testing.T) {
	v := marketVenue(t)
	for i := range 400 {
		v.markets.Traders.Rows = append(v.markets.Traders.Rows, serving.EventTrader{Wallet: data.WalletID(i % 10), Fills: int64(i + 1), Redemption: data.Micro((i * 171) % 400)})
	}
	v.markets.Traders.Total = 400
	var trades []int64
	for offset := 0; offset < 400; offset += 100 {
		page := exact[wire.Ranked[wire.EventTrader]](t, v.get(access.Alpha, fmt.Sprintf("/event/7/traders?limit=100&offset=%d", offset)).Body())
		for i, r := range page.Data {
			if want := data.Micro(399 - offset - i); r.RealPnL != want || r.Rank != offset+i+1 || page.Total != 400 {
				t.Fatalf("row %d: %+v, want a profit of %d", offset+i, r, want)
			}
			trades = append(trades, r.Trades)
		}
	}
	slices.Sort(trades)
	if len(slices.Compact(trades)) != 400 {
		t.Errorf("%d traders of 400", len(slices.Compact(trades)))
	}
}

func TestListsOfAnEventAreTrimmedToThePlan(t *testing.T) {
	v := marketVenue(t)
	for i := range 30 {
		v.markets.Traders.Rows = append(v.markets.Traders.Rows, serving.EventTrader{Wallet: data.WalletID(i % 10), Fills: 1})
	}
	v.markets.Traders.Total = 30
	for query, want := range map[string]string{
		"":                    `20 true "explorer" 20`, // 30 of the default 50 were there
		"?limit=20":           `20 false null 20`,
		"?limit=200&offset=9": `20 true "explorer" 20`,
		"?offset=10":          `20 false null 20`,
		"?offset=25":          `5 false null 20`,
	} {
		r := v.get(access.Free, "/event/7/traders"+query)
		if got := fmt.Sprint(r.rows(t), " ", r.text("truncated"), " ", r.text("upgrade_hint"), " ", r.text("max_rows")); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}
