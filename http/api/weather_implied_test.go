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
	"pmx/rollups/weather"
)

// ladderVenue has one event of as many brackets of one degree each, of the present day of New York.
func ladderVenue(t *testing.T, asOf time.Time, brackets int) *venue {
	t.Helper()
	snap := apitest.Snapshot(1, 1, 1)
	snap.AsOf = asOf
	snap.Desk = apitest.Desk(snap.AsOf)
	c := serving.NewCatalogBuilder()
	event := &serving.DeskEvent{Key: "hot", ID: "7", City: "nyc", Metric: data.TMax, Day: snap.Desk.City("nyc").Today, Tiled: true, Rules: weather.Rules{Unit: data.Fahrenheit}}
	for i := range brackets {
		c.Set(&serving.Market{ID: int32(i), Condition: data.Hash{byte(i + 1)}})
		for outcome := range 2 {
			c.Map(data.TokenID(2*i+outcome), serving.TokenRef{Market: int32(i), Outcome: int8(outcome), ID: fmt.Sprint(2*i + outcome)})
		}
		event.Brackets = append(event.Brackets, serving.DeskBracket{Market: int32(i), Bracket: weather.Bracket{Lo: i, Hi: i, Unit: data.Fahrenheit}})
	}
	snap.Catalog, snap.Desk.City("nyc").Events = c.Seal(), []*serving.DeskEvent{event}
	return newVenue(t, snap)
}

// The database may be ahead of as_of: hours that had not begun by then give no row, so that times
// ascend. All limits of at least the number of rows share one body.
func TestImpliedEndsAtAsOf(t *testing.T) {
	whole := time.Date(2026, 6, 28, 3, 0, 0, 0, time.UTC)
	hour := whole.Unix() / 3600
	for asOf, want := range map[time.Time][]time.Time{
		whole:                       {whole.Add(-time.Hour), whole},
		whole.Add(20 * time.Minute): {whole.Add(-time.Hour), whole, whole.Add(20 * time.Minute)},
		whole.Add(-3 * time.Hour):   nil,
	} {
		v := ladderVenue(t, asOf, 2)
		for start := hour + 1; start >= hour-2; start-- {
			v.markets.Hours = append(v.markets.Hours, serving.Candle{Start: start, Fills: 1, Close: 200_000})
		}
		got := exact[wire.Implied](t, v.get(access.Free, "/weather/city/nyc/implied").Body())
		var at []time.Time
		for _, row := range got.Data {
			if at = append(at, row.At); row.TS.After(row.At) {
				t.Errorf("as_of %s: a row from %s to %s", asOf, row.TS, row.At)
			}
		}
		if !slices.EqualFunc(at, want, time.Time.Equal) || got.Count != len(want) {
			t.Errorf("as_of %s: %d rows, at %s, want %s", asOf, got.Count, at, want)
		}
		_, done := v.api.CachedReads()
		for _, limit := range []int{max(1, len(want)), 10, 2000} {
			v.get(access.Free, fmt.Sprint("/weather/city/nyc/implied?limit=", limit))
		}
		if _, now := v.api.CachedReads(); now != done {
			t.Errorf("as_of %s: %d bodies of the same rows", asOf, 1+now-done)
		}
	}
}

// A ladder of 61 brackets is read in two turns: the candles that the reader gives are of the first bracket of each.
func TestImpliedReadsALadderOfAnyLength(t *testing.T) {
	v := ladderVenue(t, time.Date(2026, 6, 28, 3, 0, 0, 0, time.UTC), 61)
	v.markets.Hours = []serving.Candle{
		{Start: 5, Outcome: 1, Fills: 1, Close: 700_000}, {Start: 5, Outcome: 2, Fills: 1, Close: serving.NoValue}, {Start: 4, Outcome: 0, Fills: 1, Close: 200_000},
	}
	got := exact[wire.Implied](t, v.get(access.Free, "/weather/city/nyc/implied").Body())
	if len(got.Data) != 2 || got.Data[0].Priced != 2 || got.Data[1].PricedMean == nil || *got.Data[1].PricedMean != 3000 || got.Data[1].PricedSum != 600_000 {
		t.Errorf("got.Data = %+v", got.Data)
	}
	if v.markets.Asked != 2 {
		t.Errorf("%d reads of a ladder, want 2", v.markets.Asked)
	}
	if v.get(access.Free, "/weather/city/nyc/implied?limit=1&include=prices"); v.markets.Asked != 2 {
		t.Error("what was read in this epoch is read again")
	}
	for path, want := range map[string]string{"atlantis/implied": "404", "nyc/implied?date=today": "400", "nyc/implied?limit=2001": "400", "nyc/implied?include=all": "400", "la/implied": "308", "london/implied": "200"} {
		if r := v.get(access.Free, "/weather/city/"+path); fmt.Sprint(r.status) != want {
			t.Errorf("%s: status = %d, want %s", path, r.status, want)
		}
	}
}
