package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// holdersVenue is marketVenue in which wallets 1 and 2 hold 3 and 1 tokens of Yes, wallet 4 three of No,
// and wallet 5 is short of a token and a half of Yes.
func holdersVenue(t *testing.T) *venue {
	v := marketVenue(t)
	v.markets.Held = serving.Holders{
		{Wallet: 5, Outcome: 0, Net: -1_500_000, SellUSD: 600_000, NetCash: 600_000, RealPnL: 600_000},
		{Wallet: 2, Outcome: 0, Net: 1_000_000, BuyShares: 1_000_000, BuyUSD: 400_000, NetCash: -400_000, RealPnL: -400_000},
		{Wallet: 4, Outcome: 1, Net: 3_000_000, BuyShares: 4_000_000, BuyUSD: 2_000_000, SellUSD: 700_000, NetCash: -1_300_001, RealPnL: 1_699_999},
		{Wallet: 1, Outcome: 0, Net: 3_000_000, NetCash: 7, RealPnL: 8},
	}
	return v
}

func askHolders(t *testing.T, v *venue, tier access.Tier, query string) wire.Holders {
	t.Helper()
	r := v.get(tier, "/market/"+data.Hash{1}.String()+"/holders"+query)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", query, r.status, r.Body())
	}
	return exact[wire.Holders](t, r.Body())
}

func TestHoldersOfAMarket(t *testing.T) {
	v := holdersVenue(t)
	list := askHolders(t, v, access.Alpha, "")
	// Three of Yes and of No are held each, so both are first; wallet 1 has 3 of 4 of Yes, wallet 2 the fourth.
	rows := [2]serving.Holder{v.markets.Held[2], v.markets.Held[3]}
	if apitest.Wallet(1).String() < apitest.Wallet(4).String() {
		slices.Reverse(rows[:])
	}
	if len(list.Data) != 3 || list.Total != 3 || list.Side != "long" || list.Basis != "fills" || list.Data[0].Rank != 1 || list.Data[1].Rank != 1 || list.Data[2].Rank != 3 {
		t.Fatalf("list = %+v", list)
	}
	for i, want := range rows {
		if got := list.Data[i]; got.Address != apitest.Wallet(int(want.Wallet)).String() || got.NetShares != want.Net || got.OutcomeIndex != want.Outcome || got.RealPnL != want.RealPnL {
			t.Errorf("row %d: got %+v, want %+v", i, got, want)
		}
	}
	got, _ := json.Marshal([]any{list.Data[2].SharePct, list.Data[2].AvgBuyPrice, list.Data[2].NetCash, list.Outcomes})
	if want := `[25,0.4,-0.4,[{"outcome":"Yes","outcome_index":0,"holders":2,"long_shares":4,"shorts":1,"short_shares":1.5},` +
		`{"outcome":"No","outcome_index":1,"holders":1,"long_shares":3,"shorts":0,"short_shares":0}]]`; string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if short := askHolders(t, v, access.Alpha, "?side=short"); len(short.Data) != 1 || short.Data[0].NetShares != -1_500_000 || short.Data[0].SharePct != 100*data.One ||
		short.Data[0].AvgBuyPrice != nil || len(short.Outcomes) != 2 {
		t.Errorf("short: %+v", short)
	}
	if no := askHolders(t, v, access.Alpha, "?outcome=1"); len(no.Data) != 1 || *no.Data[0].Outcome != "No" || no.Data[0].SharePct != 100*data.One || no.Outcomes[0].Holders != 2 {
		t.Errorf("of one outcome: %+v", no)
	}
	if none := askHolders(t, v, access.Alpha, "?outcome=9"); none.Total != 0 || len(none.Data) != 0 {
		t.Errorf("an outcome that does not exist: %+v", none)
	}
	if !slices.Equal(v.markets.Excluded, []data.WalletID{3}) {
		t.Errorf("read without the wallets %v", v.markets.Excluded)
	}
	asked := v.markets.Asked
	if askHolders(t, v, access.Free, "?limit=1&offset=2"); v.markets.Asked != asked {
		t.Error("the database was queried again for what was read in this epoch")
	}
}

func TestHoldersAreTrimmedToThePlan(t *testing.T) {
	v := marketVenue(t)
	for i := range 30 {
		v.markets.Held = append(v.markets.Held, serving.Holder{Wallet: data.WalletID(i % 10), Outcome: int8(i / 10 % 2), Net: data.Micro(i + 1)})
	}
	path := "/market/" + data.Hash{1}.String() + "/holders"
	for query, want := range map[string]string{
		"":                      `20 true "explorer" 20 30`,
		"?limit=20":             `20 false null 20 30`,
		"?offset=25":            `5 false null 20 30`,
		"?offset=10000":         `0 false null 20 30`,
		"?outcome=1&offset=3":   `7 false null 20 10`,
		"?side=short&limit=200": `0 false null 20 0`,
	} {
		r := v.get(access.Free, path+query)
		if got := fmt.Sprint(r.rows(t), " ", r.text("truncated"), " ", r.text("upgrade_hint"), " ", r.text("max_rows"), " ", r.text("total")); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
	for query, want := range map[string]string{"?side=both": "side", "?limit=201": "limit", "?offset=-1": "offset", "?outcome=Yes": "outcome"} {
		if r := v.get(access.Free, path+query); r.status != 400 || r.text("param") != `"`+want+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
	if r := v.get(access.Free, "/market/"+data.Hash{9}.String()+"/holders"); r.status != 404 || r.text("code") != `"market_not_found"` {
		t.Errorf("an unknown market: %d %s", r.status, r.Body())
	}
}
