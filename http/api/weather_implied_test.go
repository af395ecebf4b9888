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
	"pmx/rollups/weather"
)

// A ladder of 61 brackets is read in two turns: the candles that the reader gives are of the first bracket of each.
func TestImpliedReadsALadderOfAnyLength(t *testing.T) {
	snap := apitest.Snapshot(1, 1, 1)
	snap.AsOf = time.Date(2026, 6, 28, 3, 0, 0, 0, time.UTC)
	snap.Desk = apitest.Desk(snap.AsOf)
	c := serving.NewCatalogBuilder()
	event := &serving.DeskEvent{Key: "hot", ID: "7", City: "nyc", Metric: data.TMax, Day: snap.Desk.City("nyc").Today, Tiled: true, Rules: weather.Rules{Unit: data.Fahrenheit}}
	for i := range 61 {
		c.Set(&serving.Market{ID: int32(i), Condition: data.Hash{byte(i + 1)}})
		for outcome := range 2 {
			c.Map(data.TokenID(2*i+outcome), serving.TokenRef{Market: int32(i), Outcome: int8(outcome), ID: fmt.Sprint(2*i + outcome)})
		}
		event.Brackets = append(event.Brackets, serving.DeskBracket{Market: int32(i), Bracket: weather.Bracket{Lo: i, Hi: i, Unit: data.Fahrenheit}})
	}
	snap.Catalog, snap.Desk.City("nyc").Events = c.Seal(), []*serving.DeskEvent{event}
	v := newVenue(t, snap)
	v.markets.Hours = []serving.Candle{
		{Start: 5, Outcome: 1, Fills: 1, Close: 700_000}, {Start: 5, Outcome: 2, Fills: 1, Close: serving.NoValue}, {Start: 4, Outcome: 0, Fills: 1, Close: 200_000},
	}
	got := exact[wire.Implied](t, v.get(access.Free, "/weather/city/nyc/implied").Body())
	if len(got.Data) != 2 || got.Data[0].Priced != 2 || got.Data[1].PricedMean == nil || *got.Data[1].PricedMean != 3000 || got.Data[1].PricedSum != 600_000 {
		t.Errorf("%+v", got.Data)
	}
	if v.markets.Asked != 2 {
		t.Errorf("%d reads of a ladder, want 2", v.markets.Asked)
	}
	if v.get(access.Free, "/weather/city/nyc/implied?limit=1&include=prices"); v.markets.Asked != 2 {
		t.Error("what was read in this epoch is read again")
	}
	for path, want := range map[string]string{"atlantis/implied": "404", "nyc/implied?date=today": "400", "nyc/implied?limit=2001": "400", "nyc/implied?include=all": "400", "la/implied": "308", "london/implied": "200"} {
		if r := v.get(access.Free, "/weather/city/"+path); fmt.Sprint(r.status) != want {
			t.Errorf("%s: %d, want %s", path, r.status, want)
		}
	}
}
