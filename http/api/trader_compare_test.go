package api_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// The days of a comparison are those of /activity/daily: as many days back as requested, within the
// plan's history.
func TestDaysOfComparedWallets(t *testing.T) {
	v := tradesVenue(t, someFills())
	paths := "/trader/compare?address=" + apitest.Wallet(1).String() + "&address=" + apitest.Wallet(2).String() + "&address=" + apitest.Wallet(99).String()
	for _, slow := range []bool{false, true} {
		v.wallets.Slow = slow
		s := exact[wire.Series[wire.TraderComparison]](t, v.get(access.Alpha, paths+"&series=daily").Body())
		want := []wire.ProfitDay{{Date: "2026-03-12", RealPnL: -3_010_000, CumulativePnL: -3_010_000}, {Date: "2026-03-13", RealPnL: 3_000_000, CumulativePnL: -10_000},
			{Date: "2026-03-14", IsPartial: true, RealPnL: -100_000, CumulativePnL: -110_000}}
		if !slices.Equal(s.Data[0].Days, want) || s.Data[1].Days == nil || len(s.Data[1].Days) != 0 || s.Data[2].Days != nil || s.Truncated {
			t.Errorf("got %+v", s.Data)
		}
		two := exact[wire.Series[wire.TraderComparison]](t, v.get(access.Alpha, paths+"&series=daily&days=2").Body())
		if !slices.Equal(two.Data[0].Days, want[1:]) || two.Truncated {
			t.Errorf("of two days: %+v", two.Data[0].Days)
		}
	}
	if none := exact[wire.Series[wire.TraderComparison]](t, v.get(access.Alpha, paths).Body()); none.Data[0].Days != nil {
		t.Errorf("not requested: %+v", none.Data[0].Days)
	}
	day := func(d int) serving.Fill {
		return serving.Fill{TS: ago(time.Duration(d) * 24 * hour), LogIndex: data.NoIndex, Token: 4, Repeat: 1, Side: data.Buy, Shares: 1, USD: 1}
	}
	v = tradesVenue(t, []serving.Fill{day(0), day(30), day(31), day(180), day(364)})
	one := "/trader/compare?series=daily&address=" + apitest.Wallet(1).String()
	for _, c := range []struct {
		tier access.Tier
		path string
		want string // days, and the hint
	}{
		{access.Free, one, "2 explorer"}, {access.Free, one + "&days=31", "2 "}, {access.Free, one + "&days=365", "2 trader"}, {access.Trader, one + "&days=365", "5 "},
		{access.Free, one + "&days=365&address=" + apitest.Wallet(2).String(), "2 trader"},
		{access.Free, one + "&days=90&address=" + apitest.Wallet(2).String() + "&address=" + apitest.Wallet(3).String(), "2 trader"},
	} {
		s := exact[wire.Series[wire.TraderComparison]](t, v.get(c.tier, c.path).Body())
		hint := ""
		if s.UpgradeHint != nil {
			hint = *s.UpgradeHint
		}
		if got := fmt.Sprint(len(s.Data[0].Days), " ", hint); got != c.want || s.Truncated != (hint != "") {
			t.Errorf("%s %s: got %s, want %s", c.tier, c.path, got, c.want)
		}
	}
	for query, param := range map[string]string{"&series=hourly": "series", "&days=0": "days", "&days=366": "days"} {
		if r := v.get(access.Free, one[:len("/trader/compare?")]+one[len("/trader/compare?series=daily&"):]+query); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}
