package dataapi_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/data/upstream/dataapi"
	"pmx/data/upstream/pages"
	"pmx/data/upstream/upstreamtest"
)

// client returns a client of a server with the handler f.
func client(t *testing.T, f http.HandlerFunc) *dataapi.Client {
	t.Helper()
	return dataapi.New(upstreamtest.Host(t, "data", f))
}

func condition(n int) data.Hash { return data.Hash{0: 0xc0, 31: byte(n)} }

func trade(n int, of data.Hash) string {
	return fmt.Sprintf(`{"proxy_wallet":"0x1111111111111111111111111111111111111111","side":"BUY","token_id":"7","condition_id":"%s","size":%d.5,"price":0.5,"timestamp":%d,"outcome_index":999,"transaction_hash":"%s"}`,
		of, n+1, 1786179735-n, data.Hash{1: byte(n), 2: 1})
}

func envelope(next string, rows ...string) string {
	more, cursor := "false", "null"
	if next != "" {
		more, cursor = "true", `"`+next+`"`
	}
	return `{"data":[` + strings.Join(rows, ",") + `],"pagination":{"limit":1000,"offset":0,"has_more":` + more + `,"next_cursor":` + cursor + `}}`
}

func TestTradesWithTheSameFiltersOnEveryPage(t *testing.T) {
	var asked []url.Values
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q)
		at, _ := strconv.Atoi(q.Get("cursor"))
		next := ""
		if at < 2 {
			next = strconv.Itoa(at + 1)
		}
		upstreamtest.Say(w, envelope(next, trade(2*at, condition(1)), trade(2*at+1, condition(2))))
	})
	var times []int64
	err := c.EachTrades(t.Context(), []data.Hash{condition(1), condition(2)}, false, "", func(p dataapi.TradesPage) error {
		for _, tr := range p.Trades {
			times = append(times, tr.At)
		}
		return nil
	})
	if err != nil || len(times) != 6 || times[5] != 1786179730 {
		t.Fatalf("%v, %v", times, err)
	}
	for i, q := range asked {
		if q.Get("condition") != condition(1).String()+","+condition(2).String() || q.Get("taker_only") != "false" || q.Has("limit") != (i == 0) || q.Has("cursor") == (i == 0) {
			t.Errorf("page %d is requested with %v", i, q)
		}
	}
	if err := c.EachTrades(t.Context(), make([]data.Hash, 21), false, "", nil); err == nil {
		t.Error("21 conditions are requested at once")
	}
}

func TestTradesThatAreNotBelieved(t *testing.T) {
	var foreign *pages.ForeignError
	var loop *pages.LoopError
	var shape *pages.ShapeError
	good := trade(0, condition(1))
	for name, tc := range map[string]struct {
		answers []string
		want    any
	}{
		"another condition":   {[]string{envelope("", good, trade(1, condition(2)))}, &foreign},
		"the cursor stays":    {[]string{envelope("a", good), envelope("a", trade(1, condition(1)))}, &loop},
		"re-anchored":         {[]string{envelope("a", good), envelope("b", trade(1, condition(1))), envelope("c", good)}, &loop},
		"begun again, newer":  {[]string{envelope("a", trade(1, condition(1))), envelope("b", good, trade(1, condition(1)))}, &shape},
		"more and no cursor":  {[]string{strings.Replace(envelope("", good), "false", "true", 1)}, &shape},
		"cursor and no more":  {[]string{strings.Replace(envelope("a", good), "true", "false", 1)}, &shape},
		"no pagination":       {[]string{`{"data":[]}`}, &shape},
		"no data":             {[]string{`{"pagination":{"has_more":false,"next_cursor":null}}`}, &shape},
		"data of another API": {[]string{`{"data":{"trades":[]}}`}, &shape},
		"the older API":       {[]string{`[]`}, &shape},
		"no time":             {[]string{envelope("", strings.Replace(good, "1786179735", `"soon"`, 1))}, &shape},
		"no hash":             {[]string{envelope("", strings.Replace(good, `"transaction_hash":"0x`, `"transaction_hash":"1x`, 1))}, &shape},
	} {
		asked := 0
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			upstreamtest.Say(w, tc.answers[min(asked, len(tc.answers))-1])
		})
		if err := c.EachTrades(t.Context(), []data.Hash{condition(1)}, true, "", func(dataapi.TradesPage) error { return nil }); !errors.As(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResolutions(t *testing.T) {
	answer := `{"data":[{"condition_id":"` + condition(1).String() + `","status":"resolved","payouts":[1000000,0]},{"condition_id":"` + condition(2).String()[:64] + `","status":"Posed"}]}`
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/resolutions" || !strings.HasPrefix(r.URL.Query().Get("condition"), condition(1).String()) {
			t.Errorf("requested %s", r.URL)
		}
		upstreamtest.Say(w, answer)
	})
	second := condition(2)
	second[31] = 0 // a condition of protocol V2 has 62 digits
	got, err := c.Resolutions(t.Context(), []data.Hash{condition(1), second, condition(3)})
	if err != nil || len(got) != 2 || got[0].Status != "resolved" || got[1].Status != "posed" || got[1].Condition != second {
		t.Errorf("%+v, %v", got, err)
	}
	var foreign *pages.ForeignError
	if _, err := c.Resolutions(t.Context(), []data.Hash{condition(1)}); !errors.As(err, &foreign) {
		t.Errorf("a resolution of another condition: %v", err)
	}
}

func TestStatusAndVolumes(t *testing.T) {
	answer := ""
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/live-volume" && r.URL.Query().Get("id") != "77" {
			t.Errorf("requested %s", r.URL)
		}
		upstreamtest.Say(w, answer)
	})
	answer = `{"data":{"computed_at":"2026-10-01T12:00:00Z","age_seconds":4,"serving":{"lag_seconds":30,"worst":"custody_balances"},"ingestion":{"lagging":[{"behind_max":3}],"max_synced_block":103,"min_synced_block":null}}}`
	s, err := c.Status(t.Context())
	if err != nil || s.Age != 4 || s.Lag == nil || *s.Lag != 30 || s.Worst != "custody_balances" || s.Synced == nil || *s.Synced != 103 || s.OldestBlock != nil || s.Lagging != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	answer = `{"data":{"taker_volume_total":12.5,"conditions":[{"condition_id":"` + condition(1).String() + `","taker_volume":"10.25"},{"condition_id":"` + condition(2).String() + `","taker_volume":2.25}]}}`
	v, err := c.LiveVolume(t.Context(), "77")
	if err != nil || len(v) != 2 || v[condition(1)] != 10_250_000 {
		t.Errorf("%v, %v", v, err)
	}
	var shape *pages.ShapeError
	for _, answer = range []string{`{"data":null}`, `{"data":[]}`, `{"data":{}}`, `{"data":{"conditions":[{"condition_id":"","taker_volume":1}]}}`} {
		if _, err := c.LiveVolume(t.Context(), "77"); !errors.As(err, &shape) {
			t.Errorf("volumes of %s: %v", answer, err)
		}
		if _, err := c.Status(t.Context()); !errors.As(err, &shape) {
			t.Errorf("status of %s: %v", answer, err)
		}
	}
}

// TestCapturedTrades: a captured page is read, if it is next to the checkout.
func TestCapturedTrades(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "data_api_v2", "trades_captured_sanitized.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(w http.ResponseWriter, _ *http.Request) { upstreamtest.Say(w, string(b)) })
	of, err := data.ParseCondition("0x" + strings.Repeat("cc", 32))
	if err != nil {
		t.Fatal(err)
	}
	var times []int64
	err = c.EachTrades(t.Context(), []data.Hash{of}, false, "", func(p dataapi.TradesPage) error {
		for _, tr := range p.Trades {
			times = append(times, tr.At)
		}
		return nil
	})
	if err != nil || len(times) != 3 || !slices.Contains(times, 1786179735) {
		t.Errorf("%v, %v", times, err)
	}
}

// The newest trades of all markets take one request, and a row that cannot be parsed does not
// affect others.
func TestNewestTradesOfAllMarkets(t *testing.T) {
	bad := strings.Replace(trade(2, condition(2)), `"side":"BUY"`, `"side":"HOLD"`, 1)
	var asked []url.Values
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query())
		upstreamtest.Say(w, envelope("more", trade(0, condition(1)), trade(1, condition(2)), bad))
	})
	got, odd, err := c.Newest(t.Context(), 5000)
	if err != nil || odd != 1 || len(got) != 2 || len(asked) != 1 || asked[0].Get("limit") != "1000" || asked[0].Get("taker_only") != "true" || asked[0].Has("condition") {
		t.Fatalf("%v, %d bad, %+v, requested %v", err, odd, got, asked)
	}
	if first := got[0]; first.Condition != condition(1) || first.Token != "7" || first.Side != data.Buy || first.Shares != 1_500_000 || first.Price != 500_000 || first.At != 1786179735 || first.Wallet.IsZero() {
		t.Errorf("%+v", first)
	}
	c = client(t, func(w http.ResponseWriter, _ *http.Request) { upstreamtest.Say(w, `{"data":[{"timestamp":"soon"}]}`) })
	var shape *pages.ShapeError
	if _, _, err := c.Newest(t.Context(), 5); !errors.As(err, &shape) {
		t.Errorf("%v", err)
	}
}
