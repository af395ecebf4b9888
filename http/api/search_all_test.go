package api_test

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// foundVenue has an event of two markets, a market of its own, four wallets of which two have a name, and the desk.
func foundVenue(t *testing.T) *venue {
	t.Helper()
	snap := &serving.Snapshot{Epoch: 1, AsOf: apitest.AsOf, Desk: apitest.Desk(apitest.AsOf)}
	b := serving.NewWalletBuilder(0)
	for i := range 4 {
		b.Wallets().Add(apitest.Wallet(i))
		b.Set(data.WalletID(i), serving.Totals{FirstTS: 1, BuyUSD: data.Micro(10 * (i % 3))})
	}
	b.SetName(1, "Rainmaker")
	b.SetName(2, "rainer")
	b.Seal(snap)
	c := serving.NewCatalogBuilder()
	for i, m := range []serving.Market{
		{Condition: data.Hash{1}, Question: "Rain in Paris?", EventID: "7", EventSlug: "rain-today", EventTitle: "Rain today", Category: "weather"},
		{Condition: data.Hash{2}, Question: "Rain in London?", EventID: "7", EventSlug: "rain-today", EventTitle: "Rain today", Category: "weather"},
		{Condition: data.Hash{3}, Question: "Who wins in Paris?", EventID: "8", EventSlug: "paris-race", EventTitle: "Paris race"},
	} {
		m.ID = int32(i)
		f := serving.NewFigures(serving.TakerUSD)
		f.VolumeUSD = data.Micro(i + 1)
		c.Set(&m)
		c.SetFigures(m.ID, f)
	}
	snap.Catalog = c.Seal()
	snap.Screener = serving.NewScreenerBuilder().Next(snap.Catalog)
	v := newVenue(t, snap)
	v.wallets.Names = map[string]data.Address{"Rainmaker": apitest.Wallet(1), "rainer": apitest.Wallet(2), "rainy": apitest.Wallet(9)}
	v.wallets.Known = []data.Address{apitest.Wallet(0), apitest.Wallet(1), apitest.Wallet(2), apitest.Wallet(3)}
	return v
}

func found(t *testing.T, v *venue, query string) (list []string, rows []wire.Found) {
	t.Helper()
	r := v.get(access.Free, "/search?"+query)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", query, r.status, r.Body())
	}
	s := exact[wire.Series[wire.Found]](t, r.Body())
	if s.Truncated || *s.MaxRows != 20 {
		t.Errorf("%s: s.Envelope = %+v", query, s.Envelope)
	}
	for _, f := range s.Data {
		id := f.ID
		if f.Kind == "market" {
			id = id[3:4]
		}
		for i := range 10 {
			if id == apitest.Wallet(i).String() {
				id = fmt.Sprint(i)
			}
		}
		list = append(list, f.Kind+" "+id)
	}
	return list, s.Data
}

func TestSearchOverAllKinds(t *testing.T) {
	v := foundVenue(t)
	w := apitest.Wallet(2).String()
	for query, want := range map[string]string{
		"q=rain":                        "[event rain-today market 2 market 1 trader 2 trader 1]", // by volume; the wallet of the third name never traded here
		"q=paris":                       "[event rain-today market 3 market 1 city paris]",        // an event of one market is that market
		"q=PARIS&kind=city":             "[city paris]",
		"q=york":                        "[city nyc]",
		"q=rain&limit=1":                "[event rain-today market 2 trader 2]",
		"q=rain&kind=trader":            "[trader 2 trader 1]",
		"q=" + w:                        "[trader 2]",
		"q=0x" + strings.ToUpper(w[2:]): "[trader 2]",
		"q=" + w[:41]:                   "[trader 2]",
		"q=" + w[:6]:                    "[trader 2]",
		"q=" + w[:5]:                    "[]", // three digits are too few
		"q=0x" + w[2:] + "0":            "[]",
		"q=" + data.Hash{3}.String():    "[market 3]",
		"q=" + data.Hash{99}.String():   "[]",
		"q=nothing+like+it":             "[]",
	} {
		if got, _ := found(t, v, query); fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	_, rows := found(t, v, "q=rain&limit=1")
	if e := rows[0]; *e.Title != "Rain today" || *e.Category != "weather" || *e.Status != "open" || *e.Volume != 3 || e.Subtitle != nil {
		t.Errorf("event: %+v", e)
	}
	if m := rows[1]; *m.Title != "Rain in London?" || *m.Subtitle != "Rain today" || *m.Volume != 2 {
		t.Errorf("market: %+v", m)
	}
	if w := rows[2]; *w.Title != "rainer" || *w.Volume != 20 || w.Category != nil || w.Status != nil {
		t.Errorf("wallet: %+v", w)
	}
	for query, param := range map[string]string{"q=!": "q", "": "q", "q=a&limit=21": "limit", "q=a&kind=wallet": "kind"} {
		if r := v.get(access.Free, "/search?"+query); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}
