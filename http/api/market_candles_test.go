package api_test

import (
	"fmt"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// candleVenue is marketVenue in which market 0 was traded in three hours: the one of as_of, the one
// before, and one that ended 31 days before as_of.
func candleVenue(t *testing.T) (v *venue, now int64) {
	v = marketVenue(t)
	now = apitest.AsOf.Unix() / 3600
	v.markets.Hours = []serving.Candle{
		{Start: now, Outcome: 0, Fills: 2, USD: 3, Shares: 9, Open: 400_000, High: 500_000, Low: 300_000, Close: 450_000},
		{Start: now, Outcome: 1, Fills: 1, Open: serving.NoValue, High: serving.NoValue, Low: serving.NoValue, Close: serving.NoValue},
		{Start: now - 1, Outcome: 0, Fills: 7, USD: data.One, Shares: 2 * data.One, Open: 500_000, High: 500_000, Low: 500_000, Close: 500_000},
		{Start: now - 31*24, Outcome: 1, Fills: 1, USD: 1, Shares: 1, Open: 1, High: 1, Low: 1, Close: 1},
	}
	return v, now
}

func askCandles(t *testing.T, v *venue, tier access.Tier, query string) wire.Candles {
	t.Helper()
	r := v.get(tier, "/market/"+data.Hash{1}.String()+"/candles"+query)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", query, r.status, r.Body())
	}
	return exact[wire.Candles](t, r.Body())
}

func TestCandlesOfAMarket(t *testing.T) {
	v, now := candleVenue(t)
	c := askCandles(t, v, access.Alpha, "")
	if len(c.Data) != 4 || c.Truncated || c.NextCursor != nil || c.Interval != "1h" || *c.MaxRows != 1000 || c.FirstTradeAt.Unix() != apitest.AsOf.Add(-50*24*time.Hour).Unix() ||
		len(c.Outcomes) != 2 || *c.Outcomes[1].Outcome != "No" || c.Outcomes[1].OutcomeIndex != 1 {
		t.Fatalf("%+v", c)
	}
	first := c.Data[0]
	if first.TS.Unix() != now*3600 || !first.IsPartial || *first.Open != 400_000 || *first.High != 500_000 || *first.Low != 300_000 || *first.Close != 450_000 ||
		first.Volume != 3 || first.VolumeShares != 9 || first.Trades != 2 {
		t.Errorf("first = %+v", first)
	}
	if none := c.Data[1]; none.Open != nil || none.High != nil || none.Low != nil || none.Close != nil || none.OutcomeIndex != 1 || !none.IsPartial {
		t.Errorf("fills of no tokens: %+v", none)
	}
	if c.Data[2].IsPartial {
		t.Error("an hour that is over is flagged")
	}
	if no := askCandles(t, v, access.Alpha, "?outcome=1").Data; len(no) != 2 || no[0].OutcomeIndex != 1 || no[1].OutcomeIndex != 1 {
		t.Errorf("one outcome: %+v", no)
	}
	if none := askCandles(t, v, access.Alpha, "?outcome=7"); len(none.Data) != 0 || len(none.Outcomes) != 2 {
		t.Errorf("an outcome that does not exist: %+v", none)
	}
}

func TestCandlesAreCutByTheHistoryAndPaged(t *testing.T) {
	v, _ := candleVenue(t)
	for tier, want := range map[access.Tier]string{access.Free: "3 true", access.Explorer: "4 false", access.Alpha: "4 false"} {
		c := askCandles(t, v, tier, "")
		if got := fmt.Sprint(len(c.Data), " ", c.Truncated); got != want || c.NextCursor != nil || c.Truncated && *c.UpgradeHint != "explorer" {
			t.Errorf("%s: got %s, want %s", tier, got, want)
		}
	}
	// A page that is full is not cut, whatever follows.
	for _, limit := range []int{1, 2, 3} {
		var seen []string
		query := fmt.Sprintf("?limit=%d", limit)
		for cursor := ""; ; {
			c := askCandles(t, v, access.Free, query+cursor)
			for _, r := range c.Data {
				seen = append(seen, fmt.Sprint(r.TS.Unix(), r.OutcomeIndex))
			}
			if c.NextCursor == nil {
				if !c.Truncated {
					t.Errorf("pages of %d: the last one is not truncated", limit)
				}
				break
			}
			if c.Truncated {
				t.Errorf("pages of %d: one with a next page is truncated", limit)
			}
			cursor = "&cursor=" + *c.NextCursor
		}
		if len(seen) != 3 {
			t.Errorf("pages of %d have %v", limit, seen)
		}
	}
	page := askCandles(t, v, access.Free, "?limit=1")
	base := "/market/" + data.Hash{1}.String() + "/candles"
	for query, want := range map[string]string{"?limit=1&interval=6h&cursor=" + *page.NextCursor: "cursor", "?outcome=0&cursor=" + *page.NextCursor: "cursor", "?interval=2h": "interval",
		"?limit=1001": "limit", "?outcome=-1": "outcome", "?outcome=Yes": "outcome"} {
		if r := v.get(access.Free, base+query); r.status != 400 || r.text("param") != `"`+want+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
	if r := v.get(access.Free, "/market/"+data.Hash{9}.String()+"/candles"); r.status != 404 || r.text("code") != `"market_not_found"` {
		t.Errorf("an unknown market: %d %s", r.status, r.Body())
	}
}
