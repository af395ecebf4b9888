package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// exact decodes body into T, which must know every field, and encodes it again:
// equal bytes mean that the hand-written encoder and the wire type agree.
func exact[T any](t *testing.T, body []byte) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode: %v\n%s", err, body)
	}
	var again bytes.Buffer
	e := json.NewEncoder(&again)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	if got := bytes.TrimSpace(again.Bytes()); !bytes.Equal(got, body) {
		t.Fatalf("the wire type encodes to different bytes\nserved: %s\nagain:  %s", body, got)
	}
	return v
}

func TestEveryResponseIsItsWireType(t *testing.T) {
	for _, rows := range []int{0, 1, 70, 1000} {
		v := newVenue(t, apitest.Snapshot(1, 300, rows))
		for _, tier := range access.Tiers() {
			exact[wire.RankedList[wire.TraderRow]](t, v.get(tier, "/leaderboard/traders").Body())
			exact[wire.RankedList[wire.MarketRow]](t, v.get(tier, "/leaderboard/markets?period=30d&limit=200").Body())
			stats := exact[wire.One[wire.TraderStats]](t, v.get(tier, "/trader/"+apitest.Wallet(1).String()+"/stats").Body())
			if stats.Data.PnLMethod != wire.PnLMethod || *stats.Plan != tier.String() {
				t.Errorf("%s: method %q of plan %q", tier, stats.Data.PnLMethod, *stats.Plan)
			}
		}
		exact[wire.One[wire.Health]](t, v.get(access.Nobody, "/health").Body())
		exact[wire.One[wire.Health]](t, v.get(access.Nobody, "/status").Body())
		exact[wire.One[wire.PublicStatus]](t, v.get(access.Nobody, "/status/public").Body())
		exact[wire.Problem](t, v.get(access.Nobody, "/leaderboard/traders").Body())
		exact[wire.Problem](t, v.get(access.Free, "/leaderboard/traders?limit=0").Body())
	}
}

// The number of rows that a tier gets of a leaderboard with so many rows, for a limit.
func TestLeaderboardsAreTrimmedToThePlan(t *testing.T) {
	cases := []struct {
		tier      access.Tier
		total     int
		query     string
		rows      int
		truncated bool
		hint      string
		maxRows   string
	}{
		{access.Free, 1000, "", 20, true, `"explorer"`, "20"}, // the default 50 is more than 20
		{access.Free, 20, "", 20, false, "null", "20"},        // there are no more
		{access.Free, 21, "", 20, true, `"explorer"`, "20"},
		{access.Free, 1000, "?limit=20", 20, false, "null", "20"}, // as asked
		{access.Free, 1000, "?limit=51", 20, true, `"trader"`, "20"},
		{access.Free, 40, "?limit=200", 20, true, `"explorer"`, "20"}, // explorer's 50 would hold all 40
		{access.Free, 5, "?limit=200", 5, false, "null", "20"},
		{access.Free, 0, "", 0, false, "null", "20"},
		{access.Explorer, 1000, "", 50, false, "null", "50"},
		{access.Explorer, 1000, "?limit=200", 50, true, `"trader"`, "50"},
		{access.Explorer, 50, "?limit=200", 50, false, "null", "50"},
		{access.Trader, 1000, "?limit=200", 200, false, "null", "200"},
		{access.Alpha, 1000, "?limit=200", 200, false, "null", "200"}, // the endpoint's own maximum
		{access.Alpha, 1000, "", 50, false, "null", "200"},
	}
	for _, c := range cases {
		v := newVenue(t, apitest.Snapshot(1, 1, c.total))
		for _, leaderboard := range []string{"traders", "markets"} {
			t.Run(fmt.Sprintf("%s %s of %d%s", c.tier, leaderboard, c.total, c.query), func(t *testing.T) {
				r := v.get(c.tier, "/leaderboard/"+leaderboard+c.query)
				lock := "null"
				if c.truncated {
					lock = `"plan_limit"`
				}
				got := []string{fmt.Sprint(r.status, r.rows(t)), r.text("truncated"), r.text("lock_reason"), r.text("upgrade_hint"), r.text("max_rows")}
				want := []string{fmt.Sprint(200, c.rows), fmt.Sprint(c.truncated), lock, c.hint, c.maxRows}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		}
	}
}

func TestEnvelopeOfEveryTier(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 1, 1))
	all := `"status","trader","leaderboard","market","event","stats","index","oracle","whales","screener","research"`
	cases := []struct {
		tier                    access.Tier
		plan, available, locked string
		days                    string
	}{
		{access.Free, `"free"`, `[` + all + `,"weather"]`, `["export"]`, "30"},
		{access.Explorer, `"explorer"`, `[` + all + `,"weather"]`, `["export"]`, "180"},
		{access.Trader, `"trader"`, `[` + all + `,"export","weather"]`, `[]`, "365"},
		{access.Alpha, `"alpha"`, `[` + all + `,"export","weather"]`, `[]`, "null"},
	}
	for _, c := range cases {
		stats := "/trader/" + apitest.Wallet(0).String() + "/stats"
		for _, path := range []string{"/leaderboard/traders", stats, "/health", "/status/public", "/trader/0x12/stats", "/nowhere"} {
			r := v.get(c.tier, path)
			got := []string{r.text("plan"), r.text("available_sections"), r.text("locked_sections"), r.text("max_history_days")}
			if want := []string{c.plan, c.available, c.locked, c.days}; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s %s: got %v, want %v", c.tier, path, got, want)
			}
		}
	}
	r := v.get(access.Nobody, "/health")
	if got := r.text("plan") + r.text("available_sections") + r.text("max_rows"); got != `null["status"]null` {
		t.Errorf("without a key: %s", got)
	}
}

// The bytes of a small leaderboard, computed by hand: roi 3000003/21000000 = 0.142857…
func TestLeaderboardBytes(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 3)
	v := newVenue(t, snap)
	r := v.get(access.Alpha, "/leaderboard/traders?limit=1&period=1d")
	want := `{"plan":"alpha","truncated":false,"lock_reason":null,"upgrade_hint":null,` +
		`"available_sections":["status","trader","leaderboard","market","event","stats","index","oracle","whales","screener","research","export","weather"],` +
		`"locked_sections":[],"max_history_days":null,"max_rows":200,"as_of":"2026-03-14T15:09:26Z",` +
		`"period":"1d","window_start":"2026-03-13T15:09:26Z","window_end":"2026-03-14T15:09:26Z","data":[` +
		`{"rank":1,"address":"` + apitest.Wallet(0).String() + `","username":"trader 0","real_pnl":3.000003,"real_pnl_all_time":27,` +
		`"net_cash":-6,"redemption_value":9.000003,"undated_redemption":0,"undated_markets":0,"volume":36,"buy_volume_usd":21,"sell_volume_usd":15,"trades":3,` +
		`"roi":0.142857,"win_rate_all_time":0.285714,"resolved_markets_all_time":7,"winning_markets_all_time":2,"last_trade_at":"2026-03-14T15:09:26Z","resolved_pnl":null,"unresolved_cash":null,"previous_rank":null,"spark":null}]}`
	if got := string(r.Body()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestMarketStatus(t *testing.T) {
	open, closed := false, true
	snap := apitest.Snapshot(1, 1, 4)
	rows := snap.Markets[serving.Week]
	rows[0].Resolved, rows[0].Closed = true, nil
	rows[1].Resolved, rows[1].Closed = false, nil
	rows[2].Resolved, rows[2].Closed = false, &closed
	rows[3] = serving.MarketRow{Rank: 4, Closed: &open}
	v := newVenue(t, snap)
	b := exact[wire.RankedList[wire.MarketRow]](t, v.get(access.Alpha, "/leaderboard/markets").Body())
	for i, want := range []string{"resolved", "open", "closed", "open"} {
		if b.Data[i].Status != want {
			t.Errorf("row %d is %s, want %s", i, b.Data[i].Status, want)
		}
	}
	if m := b.Data[3]; m.Question != nil || m.EventID != nil || m.Outcomes != nil || m.EndDate != nil || m.VolumeBasis != nil {
		t.Errorf("unknown values must be null: %+v", m)
	}
}

func TestTraderStats(t *testing.T) {
	v := newVenue(t, apitest.Snapshot(1, 10, 1))
	// Wallet 1: -1250.000001 + 1750 = 499.999999; / 1500.000001 = 0.333333; 1 of 3 markets won.
	one := exact[wire.One[wire.TraderStats]](t, v.get(access.Free, "/trader/"+apitest.Wallet(1).String()+"/stats").Body()).Data
	if one.RealPnL != 499_999_999 || one.RealizedPnL != one.RealPnL || *one.ROI != 333_333 || *one.WinRate != 333_333 || one.Username != nil {
		t.Errorf("wallet 1: %+v", one)
	}
	zero := exact[wire.One[wire.TraderStats]](t, v.get(access.Free, "/trader/"+apitest.Wallet(0).String()+"/stats").Body()).Data
	if zero.WinRate != nil || *zero.Username != "trader 0" || zero.UnrealizedPnL != nil {
		t.Errorf("wallet 0: %+v", zero)
	}
	upper := "/trader/" + strings.ToUpper(apitest.Wallet(1).String()) + "/stats"
	if r := v.get(access.Free, upper); r.status != 200 || !bytes.Contains(r.Body(), []byte(apitest.Wallet(1).String())) {
		t.Errorf("%s: status = %d, body = %s", upper, r.status, r.Body())
	}
	if r := v.get(access.Free, "/trader/"+apitest.Wallet(99).String()+"/stats"); r.status != 404 || r.text("code") != `"trader_not_found"` {
		t.Errorf("unseen wallet: %d %s", r.status, r.Body())
	}
}
