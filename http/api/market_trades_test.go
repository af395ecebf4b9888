package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// A scan returns every fill once, in the order of the overview, whatever the page size.
func TestTradesOfAMarketArePaged(t *testing.T) {
	v := marketVenue(t)
	newest := v.markets.Filled[0]
	v.markets.Filled = nil
	for i := range 23 {
		f := newest
		f.TS -= int64(i/7) * 1_000_000 // seven at a time
		f.LogIndex, f.Wallet, f.Shares = data.NoIndex, data.WalletID(i%3), data.Micro(20-i%4)
		f.Repeat = 1
		v.markets.Filled = append(v.markets.Filled, f)
	}
	slices.SortFunc(v.markets.Filled, func(x, y serving.Fill) int { return y.CompareInBlock(&x, fillNames{}) })
	whole := exact[wire.Page[wire.MarketFill]](t, v.get(access.Alpha, "/market/"+data.Hash{1}.String()+"/trades").Body())
	if len(whole.Data) != 23 || whole.NextCursor != nil || whole.Truncated {
		t.Fatalf("%d rows, %+v", len(whole.Data), whole.Envelope)
	}
	for _, limit := range []int{1, 5, 23} {
		var rows []wire.MarketFill
		for cursor := ""; ; {
			page := exact[wire.Page[wire.MarketFill]](t, v.get(access.Alpha, fmt.Sprintf("/market/%s/trades?limit=%d%s", data.Hash{1}, limit, cursor)).Body())
			rows = append(rows, page.Data...)
			if page.NextCursor == nil {
				break
			}
			if len(page.Data) != limit {
				t.Fatalf("a page of %d has %d rows and a next page", limit, len(page.Data))
			}
			cursor = "&cursor=" + *page.NextCursor
		}
		got, _ := json.Marshal(rows)
		want, _ := json.Marshal(whole.Data)
		if string(got) != string(want) {
			t.Errorf("pages of %d give\n%s\nwant\n%s", limit, got, want)
		}
	}
}

// fillNames orders wallets and tokens by number.
type fillNames struct{}

func (fillNames) CompareTokens(a, b data.TokenID) int   { return int(a - b) }
func (fillNames) CompareWallets(a, b data.WalletID) int { return int(a - b) }

// The fills of market 0 have different ages: free sees 30 days, explorer 180. A cursor of another
// market or of a wallet's fills, and a damaged one, are refused.
func TestTradesOfAMarketReachAsFarAsThePlan(t *testing.T) {
	v := marketVenue(t)
	path := "/market/" + data.Hash{1}.String() + "/trades"
	free := exact[wire.Page[wire.MarketFill]](t, v.get(access.Free, path).Body())
	if len(free.Data) != 1 || !free.Truncated || *free.UpgradeHint != "explorer" || free.NextCursor != nil {
		t.Errorf("free: %d rows, %+v", len(free.Data), free.Envelope)
	}
	if e := exact[wire.Page[wire.MarketFill]](t, v.get(access.Explorer, path).Body()); len(e.Data) != 2 || e.Truncated {
		t.Errorf("explorer: %+v", e.Envelope)
	}
	if e := exact[wire.Page[wire.MarketFill]](t, v.get(access.Free, "/market/"+data.Hash{2}.String()+"/trades").Body()); len(e.Data) != 0 || e.Truncated {
		t.Errorf("a market without fills: %+v", e)
	}
	first := exact[wire.Page[wire.MarketFill]](t, v.get(access.Alpha, path+"?limit=1").Body())
	if first.NextCursor == nil {
		t.Fatal("no cursor")
	}
	for _, bad := range []string{
		"/market/" + data.Hash{2}.String() + "/trades?cursor=" + *first.NextCursor, path + "?cursor=AA", path + "?cursor=" + (*first.NextCursor)[:20],
		"/market/" + data.Hash{1}.String() + "/candles?cursor=" + *first.NextCursor,
	} {
		if r := v.get(access.Alpha, bad); r.status != 400 || r.text("code") != `"invalid_cursor"` {
			t.Errorf("%s: status = %d, body = %s", bad, r.status, r.Body())
		}
	}
	if r := v.get(access.Alpha, "/market/"+data.Hash{99}.String()+"/trades"); r.status != 404 || r.text("code") != `"market_not_found"` {
		t.Errorf("an unknown market: %d %s", r.status, r.Body())
	}
}
