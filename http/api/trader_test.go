package api_test

import (
	"encoding/json"
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

// trades makes a venue in which wallet 1 has fills and markets 0 (resolved, paid
// half) and 1 (open) have two outcomes each; token 4 is of no known market.
func tradesVenue(t *testing.T, fills []serving.Fill) *venue {
	t.Helper()
	snap := &serving.Snapshot{Epoch: 1, AsOf: apitest.AsOf}
	b := serving.NewWalletBuilder(0)
	for i := range 10 {
		b.Wallets().Add(apitest.Wallet(i))
		b.Set(data.WalletID(i), serving.Totals{FirstTS: oldest(fills)})
	}
	b.Seal(snap)
	closed := true
	snap.Catalog = serving.NewCatalog([]*serving.Market{
		{ID: 0, Condition: data.Hash{1}, Question: "Will it \"rain\"?", Slug: "rain", EventID: "7", EventSlug: "weather",
			Category: "weather", Outcomes: []string{"Yes", "No"}, Payouts: []data.Micro{500_000, 500_000},
			ResolvedTS: apitest.AsOf.Add(-24 * time.Hour).UnixMicro()},
		{ID: 1, Condition: data.Hash{2}, Outcomes: []string{"Up", "Down"}, Closed: &closed},
	}, []serving.TokenRef{{Market: 0, Outcome: 0, ID: "100"}, {Market: 0, Outcome: 1, ID: "101"},
		{Market: 1, Outcome: 0, ID: "110"}, {Market: 1, Outcome: 1, ID: "111"}, {Market: -1, ID: "999"}})
	v := newVenue(t, snap)
	v.wallets.Fills = map[data.WalletID][]serving.Fill{1: fills}
	return v
}

func oldest(fills []serving.Fill) int64 {
	first := ago(0)
	for _, f := range fills {
		first = min(first, f.TS)
	}
	return first
}

func ago(d time.Duration) int64 { return apitest.AsOf.Add(-d).UnixMicro() }

const hour = time.Hour

func someFills() []serving.Fill {
	return []serving.Fill{
		{TS: ago(50 * hour), Tx: data.Hash{9}, LogIndex: 5, Token: 0, Side: data.Buy, Role: data.Taker, Repeat: 1, Shares: 10_000_001, USD: 4_000_000, Fee: 1},
		{TS: ago(49 * hour), LogIndex: data.NoIndex, Token: 1, Side: data.Sell, Role: data.Maker, Repeat: 1, Shares: 4_000_000, USD: 1_000_000, Fee: 10_000},
		{TS: ago(2 * hour), Tx: data.Hash{8}, LogIndex: 0, Token: 2, Side: data.Buy, Repeat: 1, Shares: 0, USD: 0},
		{TS: ago(0), Tx: data.Hash{8}, LogIndex: 1, Token: 4, Side: data.Buy, Role: data.Taker, Repeat: 1, Shares: 1_000_000, USD: 100_000},
	}
}

func ask[T any](t *testing.T, v *venue, tier access.Tier, what string) T {
	t.Helper()
	r := v.get(tier, "/trader/"+apitest.Wallet(1).String()+what)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", what, r.status, r.Body())
	}
	return exact[T](t, r.Body())
}

func TestTradesOfAWallet(t *testing.T) {
	v := tradesVenue(t, someFills())
	p := ask[wire.Page[wire.Trade]](t, v, access.Free, "/trades")
	if len(p.Data) != 4 || p.NextCursor != nil || p.Truncated || *p.MaxRows != 20 {
		t.Fatalf("%+v", p)
	}
	// 4 ÷ 10.000001 = 0.39999996 → 0.4.
	got, _ := json.Marshal(p.Data[3])
	want := `{"ts":"2026-03-12T13:09:26Z","transaction_hash":"0x09` + strings.Repeat("0", 62) + `","log_index":5,"ordinal":1,` +
		`"condition_id":"0x01` + strings.Repeat("0", 62) + `","question":"Will it \"rain\"?","slug":"rain","event_id":"7","event_slug":"weather",` +
		`"outcome":"Yes","outcome_index":0,"token_id":"100","side":"BUY","role":"taker","price":0.4,"shares":10.000001,"usd":4,` +
		`"fee":0.000001,"fee_asset":"shares","resolved":true,"payout":0.5}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s := p.Data[2]; s.Side != "SELL" || *s.Role != "maker" || s.FeeAsset != "usd" || s.TransactionHash != nil || s.LogIndex != nil {
		t.Errorf("a sale without a transaction: %+v", s)
	}
	if s := p.Data[1]; s.Price != nil || s.Role != nil || *s.Resolved || s.Payout != nil || s.Question != nil {
		t.Errorf("a fill of nothing in an open market: %+v", s)
	}
	if s := p.Data[0]; s.ConditionID != nil || s.Outcome != nil || s.OutcomeIndex != nil || s.Resolved != nil || s.TokenID != "999" {
		t.Errorf("a fill of an unknown market: %+v", s)
	}
}

// marketEpoch pages through a wallet's trades and returns the rows that it saw.
func marketEpoch(t *testing.T, v *venue, tier access.Tier, limit int, between func()) (seen []string, last wire.Page[wire.Trade]) {
	t.Helper()
	next := ""
	for {
		what := fmt.Sprintf("/trades?limit=%d", limit)
		if next != "" {
			what += "&cursor=" + url.QueryEscape(next)
		}
		p := ask[wire.Page[wire.Trade]](t, v, tier, what)
		for _, r := range p.Data {
			tx := ""
			if r.TransactionHash != nil {
				tx = *r.TransactionHash
			}
			seen = append(seen, fmt.Sprint(r.TS.Unix(), tx, r.Side, r.Shares, r.USD, r.TokenID, r.Ordinal))
		}
		if p.NextCursor == nil {
			return seen, p
		}
		next = *p.NextCursor
		if between != nil {
			between()
		}
	}
}

func TestAScanSeesEveryFillOnce(t *testing.T) {
	var fills []serving.Fill
	for i := range 57 { // many share their time, transaction and token
		fills = append(fills, serving.Fill{TS: ago(time.Duration(i/9) * hour), Tx: data.Hash{byte(i / 4)}, LogIndex: data.NoIndex, Token: data.TokenID(i % 3),
			Side: data.Side(i % 2), Repeat: int16(i%4 + 1), Shares: data.Micro(i/8) * 1e6, USD: data.Micro(i / 20)})
	}
	for _, slow := range []bool{false, true} {
		for _, limit := range []int{1, 4, 20, 56, 57, 58, 200} {
			v := tradesVenue(t, fills)
			v.wallets.Slow = slow
			whole, _ := marketEpoch(t, v, access.Alpha, 200, nil)
			if distinct := slices.Compact(slices.Sorted(slices.Values(whole))); len(distinct) != len(fills) {
				t.Fatalf("%d distinct rows of %d fills", len(distinct), len(fills))
			}
			newer := 0
			seen, _ := marketEpoch(t, v, access.Alpha, limit, func() { // newer fills come in meanwhile
				newer++
				v.wallets.Fills[1] = append(v.wallets.Fills[1], serving.Fill{TS: ago(0) + int64(newer), LogIndex: data.NoIndex, Repeat: 1, Shares: 1})
			})
			if fmt.Sprint(seen) != fmt.Sprint(whole) {
				t.Errorf("limit %d: %d rows seen, want the %d of one page\n%v\n%v", limit, len(seen), len(whole), seen, whole)
			}
		}
	}
}

// Free sees 30 days and 20 rows: older rows end the scan, and the last page says so.
func TestTradesAreCutByThePlan(t *testing.T) {
	var fills []serving.Fill
	for i := range 25 {
		fills = append(fills, serving.Fill{TS: ago(time.Duration(i) * 2 * 24 * hour), LogIndex: data.NoIndex, Repeat: 1, Shares: 1})
	}
	v := tradesVenue(t, fills)
	seen, last := marketEpoch(t, v, access.Free, 10, nil)
	// Days 0, 2 … 30: the sixteenth is exactly thirty days old, which is not older.
	if len(seen) != 16 || !last.Truncated || *last.UpgradeHint != "explorer" || *last.LockReason != wire.LockPlan {
		t.Errorf("%d rows, last page %+v", len(seen), last.Envelope)
	}
	first := ask[wire.Page[wire.Trade]](t, v, access.Free, "/trades?limit=10")
	if first.Truncated || first.NextCursor == nil {
		t.Errorf("a full page with a next page: %+v", first.Envelope)
	}
	// Explorer has 180 days, and 50 rows hold all of it.
	all := ask[wire.Page[wire.Trade]](t, v, access.Explorer, "/trades?limit=200")
	if len(all.Data) != 25 || all.Truncated || all.NextCursor != nil {
		t.Errorf("explorer: %d rows, %+v", len(all.Data), all.Envelope)
	}
}

func TestAShortPageIsReported(t *testing.T) {
	var fills []serving.Fill
	for i := range 30 {
		fills = append(fills, serving.Fill{TS: ago(time.Duration(i) * time.Minute), LogIndex: data.NoIndex, Repeat: 1, Shares: 1})
	}
	v := tradesVenue(t, fills)
	p := ask[wire.Page[wire.Trade]](t, v, access.Free, "/trades")
	if len(p.Data) != 20 || !p.Truncated || *p.UpgradeHint != "explorer" || p.NextCursor == nil {
		t.Errorf("%d rows, %+v", len(p.Data), p.Envelope)
	}
}

// Market 0 pays half: 10.000001 − 0.000001 Yes and −4 No are worth 5 − 2 = 3.
func TestMarketsOfAWalletAddUp(t *testing.T) {
	v := tradesVenue(t, someFills())
	for _, slow := range []bool{false, true} {
		v.wallets.Slow = slow
		m := ask[wire.WalletMarkets](t, v, access.Free, "/markets")
		if m.Total != 3 || len(m.Data) != 3 || m.Truncated {
			t.Fatalf("%+v", m)
		}
		rain := m.Data[0]
		if *rain.Question != `Will it "rain"?` || rain.Status != "resolved" || rain.Trades != 2 || rain.Volume != 5_000_000 ||
			rain.FeesUSD != 10_000 || rain.NetCash != -3_010_000 || rain.RedemptionValue != 3_000_000 || rain.RealPnL != -10_000 ||
			*rain.ROI != -2_500 || rain.NegativeLegs != 1 || len(rain.Positions) != 2 {
			t.Errorf("rain = %+v", rain)
		}
		if p := rain.Positions[0]; p.NetShares != 10_000_000 || *p.AvgBuyPrice != 400_000 || p.AvgSellPrice != nil || *p.Payout != 500_000 || p.FeeShares != 1 {
			t.Errorf("%+v", p)
		}
		if unknown := m.Data[1]; unknown.ConditionID != nil || unknown.Positions != nil || unknown.Status != "open" || unknown.Volume != 100_000 {
			t.Errorf("unknown = %+v", unknown)
		}
		if open := m.Data[2]; open.Status != "closed" || open.Positions[0].Payout != nil || open.ResolvedAt != nil {
			t.Errorf("open = %+v", open)
		}
		want := wire.WalletTotals{UniqueMarkets: 2, ResolvedMarkets: 1, Trades: 4, Volume: 5_100_000, BuyVolumeUSD: 4_100_000, SellVolumeUSD: 1_000_000,
			FeesUSD: 10_000, NetCash: -3_110_000, RedemptionValue: 3_000_000, RealPnL: -110_000, UnresolvedCash: -100_000, NegativeLegs: 1, UnmappedFills: 1}
		if m.Totals != want {
			t.Errorf("got  %+v\nwant %+v", m.Totals, want)
		}
		one := ask[wire.WalletMarkets](t, v, access.Free, "/markets?limit=1")
		if one.Total != 3 || len(one.Data) != 1 || one.Truncated || one.Totals != want {
			t.Errorf("one = %+v", one)
		}
	}
}

// names returns the markets of rows: 0 (resolved), 1 (closed), and − for unknown ones.
func names(rows []wire.WalletMarket) (text string) {
	for _, r := range rows {
		switch {
		case r.ConditionID == nil:
			text += "-"
		case (*r.ConditionID)[3] == '1':
			text += "0"
		default:
			text += "1"
		}
	}
	return text
}

// Profits: −0.01 of market 0, −0.1 of the unknown one, 0 of market 1. Only market 0 is resolved.
func TestMarketsOfAWalletAreSortedAndFiltered(t *testing.T) {
	v := tradesVenue(t, someFills())
	cases := map[string]string{
		"?sort=real_pnl":                           "10-",
		"?sort=real_pnl&order=asc":                 "-01",
		"?sort=abs_real_pnl":                       "-01",
		"?sort=last_trade_at":                      "-10",
		"?sort=last_trade_at&order=asc":            "01-",
		"?sort=resolved_at":                        "0-1", // the others are not known: by volume
		"?sort=resolved_at&order=asc":              "0-1",
		"?order=asc":                               "1-0",
		"?status=closed":                           "1",
		"?status=open":                             "-",
		"?status=resolved&status=closed&order=asc": "10",
		"?category=Weather":                        "0",
		"?category=weather&status=open":            "",
		"?category=sports":                         "",
	}
	for _, slow := range []bool{false, true} {
		v.wallets.Slow = slow
		for query, want := range cases {
			m := ask[wire.WalletMarkets](t, v, access.Trader, "/markets"+query)
			if got := names(m.Data); got != want || m.Total != len(want) || m.NextCursor != nil {
				t.Errorf("%s: %s, want %s; total %d", query, got, want, m.Total)
			}
			got, cursor := "", ""
			for range 5 {
				page := ask[wire.WalletMarkets](t, v, access.Trader, "/markets"+strings.TrimSuffix("?limit=1&"+strings.TrimPrefix(query, "?")+cursor, "&"))
				got += names(page.Data)
				if page.Totals != m.Totals || page.Total != m.Total || page.Truncated {
					t.Errorf("%s: a page's totals are %+v, those of all %+v", query, page.Totals, m.Totals)
				}
				if page.NextCursor == nil {
					break
				}
				cursor = "&cursor=" + *page.NextCursor
			}
			if got != want {
				t.Errorf("%s: pages of one row give %s, want %s", query, got, want)
			}
		}
	}
	m := ask[wire.WalletMarkets](t, v, access.Trader, "/markets?status=closed&positions=false")
	if want := (wire.WalletTotals{UniqueMarkets: 1, Trades: 1}); m.Totals != want || m.Data[0].Positions != nil {
		t.Errorf("totals %+v, positions %v", m.Totals, m.Data[0].Positions)
	}
	wallet := "/trader/" + apitest.Wallet(1).String()
	for query, param := range map[string]string{"?sort=roi": "sort", "?category=nothing": "category", "?status=over": "status", "?positions=1": "positions", "?cursor=x": "cursor"} {
		if r := v.get(access.Trader, wallet+"/markets"+query); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}

// A cursor belongs to its filters, to the wallet, and to the data of its first page.
func TestACursorOfAWalletsMarketsIsBound(t *testing.T) {
	v := tradesVenue(t, someFills())
	first := ask[wire.WalletMarkets](t, v, access.Free, "/markets?limit=1")
	if first.NextCursor == nil {
		t.Fatal("no cursor")
	}
	for _, path := range []string{apitest.Wallet(1).String() + "/markets?sort=real_pnl&", apitest.Wallet(2).String() + "/markets?", apitest.Wallet(1).String() + "/trades?"} {
		if r := v.get(access.Free, "/trader/"+path+"limit=1&cursor="+*first.NextCursor); r.status != 400 || r.text("code") != `"invalid_cursor"` {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
	// A plan's rows end a page as the limit does; the cursor says what follows.
	later := *v.source.Snapshot()
	later.Epoch, later.AsOf = 2, later.AsOf.Add(time.Hour)
	later.Catalog = serving.NewCatalog(nil, nil)
	v.api.Publish(&later)
	second := ask[wire.WalletMarkets](t, v, access.Free, "/markets?limit=5&cursor="+*first.NextCursor)
	if names(second.Data) != "-1" || !second.AsOf.Equal(*first.AsOf) || second.Totals != first.Totals {
		t.Errorf("the second page is %s as of %s, totals %+v", names(second.Data), second.AsOf, second.Totals)
	}
	v.clock.Add(11 * time.Minute)
	if r := v.get(access.Free, "/trader/"+apitest.Wallet(1).String()+"/markets?cursor="+*first.NextCursor); r.status != 400 || !strings.Contains(r.text("detail"), "expired") {
		t.Errorf("after eleven minutes: %d %s", r.status, r.Body())
	}
}

func TestCategoriesOfAWalletAddUp(t *testing.T) {
	v := tradesVenue(t, someFills())
	for _, slow := range []bool{false, true} {
		v.wallets.Slow = slow
		s := ask[wire.Series[wire.WalletCategory]](t, v, access.Free, "/categories")
		if len(s.Data) != 2 || s.MaxRows != nil || *s.Data[0].Category != "weather" || s.Data[1].Category != nil {
			t.Fatalf("%+v", s)
		}
		if w := s.Data[0]; w.Trades != 2 || w.UniqueMarkets != 1 || w.ResolvedMarkets != 1 || *w.WinRate != 0 || w.RealPnL != -10_000 || *w.ROI != -2_500 || w.UnresolvedCash != 0 {
			t.Errorf("weather: %+v", w)
		}
		// Market 1 has no category, and token 4 no market.
		if w := s.Data[1]; w.Trades != 2 || w.UniqueMarkets != 1 || w.UnmappedFills != 1 || w.WinRate != nil || w.RealPnL != -100_000 || w.UnresolvedCash != -100_000 {
			t.Errorf("unknown: %+v", w)
		}
	}
}

// as_of is 2026-03-14 15:09; market 0 was resolved a day before, on the 13th.
func TestDaysOfAWallet(t *testing.T) {
	v := tradesVenue(t, someFills())
	for _, slow := range []bool{false, true} {
		v.wallets.Slow = slow
		s := ask[wire.Series[wire.WalletDay]](t, v, access.Free, "/activity/daily")
		want := []wire.WalletDay{
			{Date: "2026-03-14", IsPartial: true, Trades: 2, Volume: 100_000, BuyVolumeUSD: 100_000, NetCash: -100_000, RealPnL: -100_000, CumulativePnL: -110_000},
			{Date: "2026-03-13", RedemptionValue: 3_000_000, RealPnL: 3_000_000, CumulativePnL: -10_000},
			{Date: "2026-03-12", Trades: 2, Volume: 5_000_000, BuyVolumeUSD: 4_000_000, SellVolumeUSD: 1_000_000, FeesUSD: 10_000, NetCash: -3_010_000,
				RealPnL: -3_010_000, CumulativePnL: -3_010_000},
		}
		if fmt.Sprint(s.Data) != fmt.Sprint(want) || s.Truncated || *s.MaxRows != 365 {
			t.Errorf("got  %+v\nwant %+v", s.Data, want)
		}
		if two := ask[wire.Series[wire.WalletDay]](t, v, access.Free, "/activity/daily?limit=2"); len(two.Data) != 2 || two.Truncated {
			t.Errorf("two = %+v", two)
		}
	}
}

// Thirty days back from the 14th of March, 15:09, is the 12th of February: a day of
// which a part is shown is shown whole.
func TestDaysAreCutByThePlan(t *testing.T) {
	day := func(d int) serving.Fill {
		return serving.Fill{TS: ago(time.Duration(d) * 24 * hour), LogIndex: data.NoIndex, Token: 4, Repeat: 1, Side: data.Buy, Shares: 1, USD: 1}
	}
	v := tradesVenue(t, []serving.Fill{day(0), day(30), day(31), day(180), day(364), day(400)})
	for _, c := range []struct {
		tier  access.Tier
		query string
		rows  int
		hint  string
	}{
		{access.Free, "", 2, "alpha"}, {access.Free, "?limit=2", 2, ""}, {access.Free, "?limit=3", 2, "explorer"},
		{access.Free, "?limit=4", 2, "explorer"}, {access.Free, "?limit=5", 2, "trader"},
		{access.Explorer, "", 4, "alpha"}, {access.Trader, "", 5, "alpha"}, {access.Alpha, "", 6, ""},
	} {
		s := ask[wire.Series[wire.WalletDay]](t, v, c.tier, "/activity/daily"+c.query)
		hint := ""
		if s.UpgradeHint != nil {
			hint = *s.UpgradeHint
		}
		if len(s.Data) != c.rows || hint != c.hint || s.Truncated != (c.hint != "") {
			t.Errorf("%s%s: %d rows, hint %q, truncated %v", c.tier, c.query, len(s.Data), hint, s.Truncated)
		}
	}
}

func TestWalletsSideBySide(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 12, 0))
	paths := func(ids ...int) string {
		var q []string
		for _, i := range ids {
			q = append(q, "address="+apitest.Wallet(i).String())
		}
		return "/trader/compare?" + strings.Join(q, "&")
	}
	for _, c := range []struct {
		tier access.Tier
		ids  []int
		want string // addresses' numbers, then the hint
	}{
		{access.Free, []int{3}, "[3]"}, {access.Free, []int{3, 1}, "[3] explorer"}, {access.Free, []int{3, 1, 2}, "[3] trader"},
		{access.Explorer, []int{3, 1}, "[3 1]"}, {access.Trader, []int{3, 1, 2, 4}, "[3 1 2] alpha"},
		{access.Alpha, []int{9, 1, 2, 3, 4, 5, 6, 7, 8, 10}, "[9 1 2 3 4 5 6 7 8 10]"},
		{access.Free, []int{3, 3, 3}, "[3]"},
	} {
		s := exact[wire.Series[wire.TraderComparison]](t, v.get(c.tier, paths(c.ids...)).Body())
		var got []int
		for _, row := range s.Data {
			for i := range 12 {
				if apitest.Wallet(i).String() == row.Address {
					got = append(got, i)
				}
			}
		}
		text := fmt.Sprint(got)
		if s.UpgradeHint != nil {
			text += " " + *s.UpgradeHint
		}
		if text != c.want || s.Truncated != (s.UpgradeHint != nil) || *s.MaxRows != c.tier.Caps().Compare {
			t.Errorf("%s %v: %s, max_rows %d; want %s", c.tier, c.ids, text, *s.MaxRows, c.want)
		}
	}
	s := exact[wire.Series[wire.TraderComparison]](t, v.get(access.Explorer, paths(1, 99)).Body())
	if known := s.Data[0]; !known.Found || *known.RealPnL != 499_999_999 || *known.Trades != 11 {
		t.Errorf("known = %+v", known)
	}
	if unknown := s.Data[1]; unknown.Found || unknown.Trades != nil || unknown.Address != apitest.Wallet(99).String() {
		t.Errorf("unknown = %+v", unknown)
	}
	for path, param := range map[string]string{"/trader/compare": "address", paths(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10): "address",
		"/trader/compare?address=0x12": "address"} {
		if r := v.get(access.Alpha, path); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", path, r.status, r.Body())
		}
	}
}

// The figures of a wallet are the same alone and in a comparison.
func TestComparisonEqualsStats(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 12, 0))
	stats := decoded(t, v.get(access.Alpha, "/trader/"+apitest.Wallet(5).String()+"/stats").body["data"]).(map[string]any)
	row := decoded(t, v.get(access.Alpha, "/trader/compare?address="+apitest.Wallet(5).String()).body["data"]).([]any)[0].(map[string]any)
	delete(row, "found")
	delete(row, "days")
	if fmt.Sprint(stats) != fmt.Sprint(row) {
		t.Errorf("stats   %v\ncompare %v", stats, row)
	}
}

// A scan stops among equal fills, a source with the log indexes of some or all of them is imported,
// and the scan continues. Every fill is shown once, with its current values.
func TestScansContinueWhenLogIndexesArrive(t *testing.T) {
	const equal = 5
	for limit := 1; limit <= 6; limit++ {
		for stop := 1; stop*limit <= equal; stop++ {
			for known := 0; known <= equal; known++ {
				fill := func(repeat int16) serving.Fill {
					return serving.Fill{TS: ago(2 * hour), LogIndex: data.NoIndex, Token: 1, Shares: 5, USD: 6, Repeat: repeat}
				}
				older := serving.Fill{TS: ago(3 * hour), LogIndex: data.NoIndex, Token: 1, Shares: 5, USD: 6, Repeat: 1}
				fills := []serving.Fill{older}
				for i := range int16(equal) {
					fills = append(fills, fill(i+1))
				}
				v := tradesVenue(t, fills)
				seen, next := 0, ""
				for page := 0; ; page++ {
					if page == stop { // in no order of repeats
						for i := range known {
							fills[1+i].LogIndex = int32(100 - 7*i)
						}
					}
					got := ask[wire.Page[wire.Trade]](t, v, access.Alpha, fmt.Sprintf("/trades?limit=%d%s", limit, next))
					if seen += len(got.Data); got.NextCursor == nil {
						break
					}
					next = "&cursor=" + *got.NextCursor
				}
				if seen != equal+1 {
					t.Errorf("limit %d, stopped after page %d, %d log indexes: %d fills of %d", limit, stop, known, seen, equal+1)
				}
			}
		}
	}
}

func TestUnseenWalletsAndForeignCursors(t *testing.T) {
	v := tradesVenue(t, someFills())
	v.wallets.Fills[2] = someFills()
	for _, what := range []string{"/trades", "/markets", "/categories", "/activity/daily"} {
		if r := v.get(access.Free, "/trader/"+apitest.Wallet(99).String()+what); r.status != 404 || r.text("code") != `"trader_not_found"` {
			t.Errorf("%s: status = %d, body = %s", what, r.status, r.Body())
		}
	}
	next := ask[wire.Page[wire.Trade]](t, v, access.Free, "/trades?limit=1").NextCursor
	r := v.get(access.Free, "/trader/"+apitest.Wallet(2).String()+"/trades?cursor="+*next)
	if r.status != 400 || r.text("code") != `"invalid_cursor"` {
		t.Errorf("another wallet's cursor: %d %s", r.status, r.Body())
	}
}
