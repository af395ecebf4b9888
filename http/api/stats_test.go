package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestEveryStatsResponseIsItsWireType(t *testing.T) {
	for _, days := range []int{0, 1, 7, 8, 200, 1200} {
		snap := apitest.Snapshot(1, 3, 3)
		if snap.Stats = apitest.Stats(days); days == 0 {
			snap = &serving.Snapshot{Epoch: 1} // nothing was ever imported
		}
		v := newVenue(t, snap)
		for _, tier := range access.Tiers() {
			exact[wire.One[wire.StatsOverview]](t, v.get(tier, "/stats").Body())
			exact[wire.StatsSeries[wire.StatsHour]](t, v.get(tier, "/stats/hourly").Body())
			daily := exact[wire.StatsSeries[wire.StatsDay]](t, v.get(tier, "/stats/daily?days=3650").Body())
			growth := exact[wire.One[wire.StatsGrowth]](t, v.get(tier, "/stats/growth").Body())
			short := exact[wire.One[wire.StatsGrowth]](t, v.get(tier, "/stats/growth?days=false").Body())
			if len(short.Data.Days) != 0 || len(short.Data.Weeks) != len(growth.Data.Weeks) || short.Truncated != growth.Truncated ||
				short.Data.WeekOverWeek.Volume != growth.Data.WeekOverWeek.Volume {
				t.Errorf("without its days: %+v", short)
			}
			if days > 0 && (!daily.Data[len(daily.Data)-1].IsPartial || !growth.Data.Weeks[len(growth.Data.Weeks)-1].IsPartial) {
				t.Errorf("%s, %d days: the last bucket is not flagged", tier, days)
			}
		}
	}
}

func TestNothingImportedGivesNoBuckets(t *testing.T) {
	v := newVenue(t, &serving.Snapshot{Epoch: 1})
	for _, path := range []string{"/stats/hourly", "/stats/daily"} {
		if r := v.get(access.Free, path); r.rows(t) != 0 || r.text("as_of") != "null" || r.text("truncated") != "false" {
			t.Errorf("%s: body = %s", path, r.Body())
		}
	}
	growth := exact[wire.One[wire.StatsGrowth]](t, v.get(access.Free, "/stats/growth").Body()).Data
	if growth.WeekOverWeek.WindowStart != nil || growth.ActiveWallets.Stickiness != nil || growth.Days == nil || len(growth.Days) != 0 {
		t.Errorf("growth of nothing: %+v", growth)
	}
}

// as_of is 2026-03-14T15:09:26Z. A plan of 30 days reaches back to 2026-02-12T15:09:26Z: the 12th is shown, for
// a part of it is within, and the 11th is not. That makes 17 days of February and 14 of March: 31.
func TestDaysAreCutByThePlansHistory(t *testing.T) {
	cases := []struct {
		tier        access.Tier
		days, rows  int
		first       string
		truncated   bool
		hint        string
		venueOfDays int
	}{
		{access.Free, 30, 30, "2026-02-13", false, "null", 200},
		{access.Free, 31, 31, "2026-02-12", false, "null", 200},
		{access.Free, 32, 31, "2026-02-12", true, `"explorer"`, 200},
		{access.Free, 3650, 31, "2026-02-12", true, `"trader"`, 200}, // 200 days there are
		{access.Free, 3650, 20, "2026-02-23", false, "null", 20},     // none is older
		{access.Free, 3650, 31, "2026-02-12", true, `"explorer"`, 32},
		{access.Explorer, 3650, 181, "2025-09-15", true, `"trader"`, 200},
		{access.Trader, 3650, 200, "2025-08-27", false, "null", 200},
		{access.Trader, 3650, 366, "2025-03-14", true, `"alpha"`, 1000},
		{access.Alpha, 3650, 1000, "2023-06-19", false, "null", 1000},
		{access.Alpha, 1, 1, "2026-03-14", false, "null", 1000},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %d of %d", c.tier, c.days, c.venueOfDays), func(t *testing.T) {
			snap := apitest.Snapshot(1, 1, 1)
			snap.Stats = apitest.Stats(c.venueOfDays)
			r := newVenue(t, snap).get(c.tier, fmt.Sprintf("/stats/daily?days=%d", c.days))
			body := exact[wire.StatsSeries[wire.StatsDay]](t, r.Body())
			got := fmt.Sprint(len(body.Data), body.Data[0].Date, body.Truncated, r.text("upgrade_hint"), r.text("max_rows"))
			if want := fmt.Sprint(c.rows, c.first, c.truncated, c.hint, "3650"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			for i, d := range body.Data {
				if d.IsPartial != (i == len(body.Data)-1) {
					t.Errorf("%s: is_partial %t", d.Date, d.IsPartial)
				}
			}
		})
	}
}

func TestDaysMustBeInRange(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for _, days := range []string{"0", "3651", "-1", "ten", ""} {
		if r := v.get(access.Alpha, "/stats/daily?days="+days); r.status != 400 || r.text("param") != `"days"` {
			t.Errorf("days=%s: status = %d, body = %s", days, r.status, r.Body())
		}
	}
}

// hand returns a venue of nine days, 2026-03-06 to 2026-03-14, in two ISO weeks and one month.
func hand() *serving.Snapshot {
	snap := &serving.Snapshot{Epoch: 1, AsOf: apitest.AsOf, Counts: serving.Counts{Basis: serving.MakerUSD}}
	s := &serving.Stats{}
	first := time.Date(2026, 3, 6, 0, 0, 0, 0, time.UTC).Unix() / 86_400
	for i, volume := range []data.Micro{1, 2, 3, 4, 5, 6, 7, 10, 100} {
		s.Days = append(s.Days, serving.DayStats{Day: first + int64(i), Activity: serving.Activity{VolumeUSD: volume * data.One, Trades: int64(i)},
			ActiveWallets: 1, NewWallets: 2})
	}
	s.Weeks = []serving.SpanStats{ // Friday to Sunday, Monday to Saturday
		{First: first - 4, Last: first + 2, Activity: serving.Activity{VolumeUSD: 6 * data.One, Trades: 0}, ActiveWallets: 4},
		{First: first + 3, Last: first + 9, Activity: serving.Activity{VolumeUSD: 9 * data.One, Trades: 5}, ActiveWallets: 3},
		{First: first + 10, Last: first + 16, Activity: serving.Activity{VolumeUSD: 9 * data.One}},
	}
	s.Windows[serving.Day].Traders, s.Windows[serving.Month].Traders = 1, 3
	s.Windows[serving.Week] = serving.Rolling{Activity: serving.Activity{VolumeUSD: 2 * data.One, Trades: 1},
		Previous: serving.Activity{VolumeUSD: 3 * data.One, Trades: 0}}
	snap.Stats = s
	return snap
}

func TestGrowthByHand(t *testing.T) {
	v := newVenue(t, hand())
	r := v.get(access.Alpha, "/stats/growth")
	g := exact[wire.One[wire.StatsGrowth]](t, r.Body()).Data
	if g.VolumeBasis != "maker_usd" || *g.ActiveWallets.Stickiness != 333_333 { // 1 ÷ 3
		t.Errorf("basis %s, stickiness %v", g.VolumeBasis, g.ActiveWallets.Stickiness)
	}
	// 2 after 3 dollars is −33.333333 %; one trade after none has no change.
	if w := g.WeekOverWeek; *w.VolumeChangePct != -33_333_333 || w.TradesChangePct != nil {
		t.Errorf("week over week: %+v", w)
	}
	// The last seven finished days are 7 to 13 March: (2+3+4+5+6+7+10) ÷ 7 = 37 ÷ 7 = 5.285714.
	if a := g.Average7d; *a.FirstDate != "2026-03-07" || *a.LastDate != "2026-03-13" || *a.Volume != 5_285_714 || *a.NewWallets != 2*data.One {
		t.Errorf("average: %+v", a)
	}
	// The seventh day is the first with six before it: (1+…+7) ÷ 7 = 4. The last is not over.
	if d := g.Days; d[5].VolumeAverage7d != nil || *d[6].VolumeAverage7d != 4*data.One || *d[7].VolumeAverage7d != 5_285_714 ||
		d[8].VolumeAverage7d != nil || !d[8].IsPartial || d[7].IsPartial {
		t.Errorf("days: %+v", d)
	}
	w := g.Weeks
	if w[0].Bucket != "2026-W10" || w[0].FirstDate != "2026-03-02" || w[0].LastDate != "2026-03-08" || w[0].VolumeChangePct != nil {
		t.Errorf("first week: %+v", w[0])
	}
	// 9 after 6 is +50 %, 5 trades after none have no change, 3 wallets after 4 are −25 %.
	if *w[1].VolumeChangePct != 50*data.One || w[1].TradesChangePct != nil || *w[1].ActiveWalletsChangePct != -25*data.One {
		t.Errorf("second week: %+v", w[1])
	}
	if w[2].VolumeChangePct != nil || !w[2].IsPartial {
		t.Errorf("an unfinished week has no change: %+v", w[2])
	}
}

// 200 days of buckets up to Saturday 2026-03-14: free sees 31 days, from 2026-02-12 on, and the
// weeks (from Monday the 16th on) and months (of 30 days here) that begin after it, and the hint
// names the plan that shows the rest. The days that explorer sees begin on Monday 2025-09-15, with
// a week that is shown.
func TestGrowthSeriesAreCutByThePlansHistory(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	for _, c := range []struct {
		tier               access.Tier
		days, weeks, month int
		hint               string
	}{
		{access.Free, 31, 4, 1, `"trader"`}, {access.Explorer, 90, 26, 6, `"trader"`},
		{access.Trader, 90, 29, 8, "null"}, {access.Alpha, 90, 29, 8, "null"},
	} {
		r := v.get(c.tier, "/stats/growth")
		g := exact[wire.One[wire.StatsGrowth]](t, r.Body()).Data
		got := fmt.Sprintln(len(g.Days), len(g.Weeks), len(g.Months), r.text("truncated"), r.text("upgrade_hint"), r.text("max_rows"))
		if want := fmt.Sprintln(c.days, c.weeks, c.month, c.hint != "null", c.hint, "null"); got != want {
			t.Errorf("%s: got %s, want %s", c.tier, got, want)
		}
	}
}

// The bytes of an overview and of the last hour, worked out by hand.
func TestStatsBytes(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	snap.Counts = serving.Counts{Fills: 100, Wallets: 12, Markets: 9, ResolvedMarkets: 4, OpenMarkets: 3, ClosedMarkets: 1, Events: 2, Tokens: 18,
		UnmappedFills: 3, UnmappedTokens: 1, Basis: serving.TakerUSD, Trades: 50, VolumeUSD: 12_345_678, VolumeShares: 20 * data.One}
	v := newVenue(t, snap)
	body := string(v.get(access.Alpha, "/stats").Body())
	want := `"as_of":"2026-03-14T15:09:26Z","data":{"volume_basis":"taker_usd","volume":12.345678,"volume_24h":10,"volume_7d":20,"volume_30d":30,` +
		`"volume_shares":20,"trades":50,"trades_24h":11,"trades_7d":21,"trades_30d":31,"traders":400,"active_traders_24h":5,"active_traders_7d":10,` +
		`"active_traders_30d":15,"markets":9,"active_markets":3,"active_markets_7d":6,"active_markets_30d":9,"open_markets":3,"closed_markets":1,` +
		`"resolved_markets":4,"events":2,"first_trade_at":"2025-08-27T00:00:00Z","last_trade_at":"2026-03-14T15:09:26Z",` +
		`"reconciliation":{"fills":100,"taker_fills":40,"maker_fills":50,"unknown_role_fills":10,"wallets":12,"tokens":18,"unmapped_fills":3,` +
		`"unmapped_tokens":1,"buy_volume_usd":70,"sell_volume_usd":30.000001,"fees_usd":0.5,"net_cash":-40.499999,"redemption_value":40,` +
		`"real_pnl":-0.499999,"unresolved_cash":-9,"negative_legs":2}}}`
	if !strings.HasSuffix(body, want) {
		t.Errorf("got  %s\nwant …%s", body, want)
	}
	want = `,{"hour":"2026-03-14T15:00:00Z","volume":23,"volume_shares":57.5,"trades":24,"active_wallets":11,"is_partial":true}]}`
	if body := string(v.get(access.Free, "/stats/hourly").Body()); !strings.HasSuffix(body, want) || !strings.Contains(body, `"max_rows":24`) {
		t.Errorf("got  %s\nwant …%s", body, want)
	}
}
