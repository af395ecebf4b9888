package api_test

import (
	"fmt"
	"testing"

	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

func TestWeatherTradersAreTheirWireType(t *testing.T) {
	for _, n := range []int{0, 1, 60, 400} {
		snap := apitest.Snapshot(1, 400, 3)
		snap.DeskTraders = apitest.DeskTraders(n)
		v := newVenue(t, snap)
		for _, tier := range access.Tiers() {
			for sort, first := range map[string]int{"real_pnl": 0, "volume": n - 1} {
				r := exact[wire.WeatherTraders](t, v.get(tier, "/weather/traders?limit=200&sort="+sort).Body())
				rows := min(n, tier.Caps().Rows, 200)
				if len(r.Data) != rows || r.Total != n+3 || r.Sort != sort || r.Truncated != (rows < min(n, 200)) {
					t.Fatalf("%s, %d wallets by %s: %d rows, %+v", tier, n, sort, len(r.Data), r.Envelope)
				}
				if n > 0 && r.Data[0].Address != apitest.Wallet(first).String() {
					t.Errorf("%d wallets by %s: %s is first", n, sort, r.Data[0].Address)
				}
			}
		}
	}
	exact[wire.WeatherTraders](t, newVenue(t, &serving.Snapshot{Epoch: 1}).get(access.Free, "/weather/traders").Body())
}

func TestWeatherTradersRefuseWhatTheyDoNotKnow(t *testing.T) {
	snap := apitest.Snapshot(1, 10, 3)
	snap.DeskTraders = apitest.DeskTraders(60)
	v := newVenue(t, snap)
	for query, want := range map[string]string{"": "200 50", "?limit=200": "200 60", "?limit=201": "400 invalid_parameter", "?limit=0": "400 invalid_parameter",
		"?sort=PNL": "400 invalid_parameter", "?period=1d": "400 unknown_parameter"} {
		r := v.get(access.Alpha, "/weather/traders"+query)
		got := fmt.Sprint(r.status, " ")
		if r.status == 200 {
			got += fmt.Sprint(len(exact[wire.WeatherTraders](t, r.Body()).Data))
		} else {
			got += exact[wire.Problem](t, r.Body()).Code
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}
