package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/http/wire"
)

// ladder writes the markets of an event and the resolution of the one that won, in
// pmx's own form.
func (v *venue) ladder(event int, title, slug, end, description, won string, labels ...string) (markets, resolutions string) {
	v.t.Helper()
	for i, label := range labels {
		condition := fmt.Sprintf("0x%064x", event*100+i)
		row, err := json.Marshal(map[string]any{"condition": condition, "question": title, "group_item_title": label, "event_id": fmt.Sprint(event),
			"event_slug": slug, "event_title": title, "slug": fmt.Sprint(slug, "-", i), "tags": []string{"highest-temperature"}, "description": description,
			"outcomes": []string{"Yes", "No"}, "tokens": []string{fmt.Sprint(event*1000 + 2*i), fmt.Sprint(event*1000 + 2*i + 1)}, "end_at": end})
		if err != nil {
			v.t.Fatal(err)
		}
		markets += string(row) + "\n"
		if won != "" {
			payouts := `["0","1"]`
			if label == won {
				payouts = `["1","0"]`
			}
			resolutions += fmt.Sprintf(`{"condition":%q,"payouts":%s,"resolved_at":%q,"source":"api","version":%q}`+"\n", condition, payouts, end, end)
		}
	}
	return markets, resolutions
}

// TestWeatherDaysByHand: London's event of 7 December 2025 settled in °F, so its forecasts of 12
// and 12.5 °C are 53.6 and 54.5 °F there, 0.9 °F apart; measured values are in °C, as London's
// events are today. The Hong Kong Observatory's 28.9 is in the bracket of 28. A reanalysis had 36.2
// for 26 June, and has 36.3 since 1 July.
func TestWeatherDaysByHand(t *testing.T) {
	v := newVenue(t)
	london, settled := v.ladder(1, "Highest temperature in London on December 7?", "highest-temperature-in-london-on-december-7", "2025-12-07T12:00:00Z", "",
		"54-55°F", "53°F or below", "54-55°F", "56°F or higher")
	hk, won := v.ladder(2, "Highest temperature in Hong Kong on July 5?", "highest-temperature-in-hong-kong-on-july-5-2026", "2026-07-05T12:00:00Z",
		"This market resolves to the highest temperature recorded by the Hong Kong Observatory in degrees Celsius to one decimal place.",
		"28°C", "27°C or below", "28°C", "29°C or higher")
	open, _ := v.ladder(3, "Highest temperature in London on July 6?", "highest-temperature-in-london-on-july-6-2026", "2026-07-06T12:00:00Z", "",
		"", "20°C or below", "21°C", "22°C or higher")
	const forecasts, actuals = "city,target,metric,source,issued_at,value,unit\n", "city,day,metric,kind,source,station,seen_at,value,unit,provisional\n"
	archive := func(seen, value, provisional string) string {
		return "london,2026-06-26,tmax,reanalysis,archive_best_match,," + seen + "," + value + ",C," + provisional + "\n"
	}
	v.load(v.write("m.ndjson", london+hk+open), v.write("r.ndjson", settled+won),
		v.write("f.csv", forecasts+"london,2025-12-07,tmax,gfs,2025-12-06T10:00:00Z,12,C\nlondon,2025-12-07,tmax,gfs,2025-12-06T16:00:00Z,12.5,C\n"+
			"london,2026-07-06,tmax,gfs,2026-07-05T10:00:00Z,21.5,C\n"),
		v.write("a.csv", actuals+archive("2026-06-27T00:01:08Z", "36.2", "true")+"london,2025-12-07,tmax,station,ghcn,EGLC,,12.4,C,\nhong-kong,2026-07-05,tmax,station,hko,HKO,,28.9,C,false\n"),
		v.write("b.csv", actuals+archive("2026-07-01T08:01:13Z", "36.3", "false")))

	e := reply[wire.ForecastEvolution](v, "/weather/forecast-evolution/london/2025-12-07")
	if e.Unit != "F" || len(e.Data) != 2 || e.Data[0].Value != 5360 || e.Data[1].Value != 5450 || *e.Data[1].DeltaVsPrev != 900_000 || e.Settled == nil ||
		e.Settled.Label != "54-55°F" || *e.Settled.Lo != 54 || e.Settled.Rounding != "half_up" || !e.Actual.Settling || e.Actual.Value != 5432 {
		t.Errorf("e.EvolutionSeries = %+v, e.Settled = %+v, e.Actual = %+v", e.EvolutionSeries, e.Settled, e.Actual)
	}
	if e := reply[wire.ForecastEvolution](v, "/weather/forecast-evolution/london/2026-07-06"); e.Unit != "C" || e.Settled != nil || e.NullReasons["settled"] != "not_resolved" {
		t.Errorf("e.Unit = %s, e.NullReasons = %v", e.Unit, e.NullReasons)
	}
	var got []string
	for _, city := range []string{"london", "hong-kong"} {
		for _, r := range reply[wire.CityActuals](v, "/weather/city/"+city+"/actuals").Data {
			line := []string{r.Date, r.Kind, orDash(r.Source), orDash(r.Station), r.Unit}
			switch {
			case r.Settled != nil:
				line = append(line, r.Settled.Label, r.Settled.Rounding, fmt.Sprint(r.TMax == nil && r.TMin == nil))
			case r.RevisedAt != nil:
				line = append(line, fmt.Sprint(*r.FirstTMax, " ", *r.TMax, " ", r.RevisedAt.Format("2006-01-02T15:04:05"), " ", r.Revisions, " ", *r.Provisional))
			default:
				line = append(line, fmt.Sprint(*r.TMax))
			}
			got = append(got, strings.Join(line, " "))
		}
	}
	want := []string{
		"2026-06-26 reanalysis archive_best_match - C 3620 3630 2026-07-01T08:01:13 1 false",
		"2025-12-07 settled wunderground EGLC F 54-55°F half_up true",
		"2025-12-07 station ghcn EGLC C 1240",
		"2026-07-05 settled hko HKO C 28°C floor true",
		"2026-07-05 station hko HKO C 2890",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	status, body := v.get("free", "/weather/city/london/actuals") // 30 days before 5 July
	if rows := body.(map[string]any)["data"].([]any); status != 200 || len(rows) != 1 || body.(map[string]any)["truncated"] != true || body.(map[string]any)["upgrade_hint"] != "trader" {
		t.Errorf("%d rows of the free plan", len(rows))
	}
}
