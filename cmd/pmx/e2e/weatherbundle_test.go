package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/data/reference"
	"pmx/data/testfiles"
	"pmx/http/wire"
)

// bundleMost is the maximum size of a bundle, including its envelope.
const bundleMost = 200_000

// largeDesk creates a desk with two events a day for every city, highs and lows, over a number of
// days. Each has eleven brackets with quotes, and five sources. It returns the slugs of the events.
func (v *venue) largeDesk(days int) map[string]bool {
	v.t.Helper()
	var markets, forecasts strings.Builder
	slugs := map[string]bool{}
	event := 0
	for _, c := range reference.Gazetteer().Cities() {
		for day := range days {
			for _, m := range []struct{ word, metric string }{{"Highest", "tmax"}, {"Lowest", "tmin"}} {
				event++
				title := fmt.Sprintf("%s temperature in %s on July %d?", m.word, c.Title, 3+day)
				slug := fmt.Sprintf("%s-temperature-in-%s-on-july-%d-2026", strings.ToLower(m.word), c.Slug, 3+day)
				slugs[slug] = true
				for i := range 11 {
					label := fmt.Sprintf("%d°C", 10+i)
					switch i {
					case 0:
						label += " or below"
					case 10:
						label += " or higher"
					}
					row, err := json.Marshal(map[string]any{"condition": fmt.Sprintf("0x%064x", event*100+i), "question": title, "group_item_title": label,
						"event_id": fmt.Sprint(event), "event_slug": slug, "event_title": title, "slug": fmt.Sprint(slug, "-", i), "tags": []string{"highest-temperature"},
						"outcomes": []string{"Yes", "No"}, "tokens": []string{fmt.Sprint(event*1000 + 2*i), fmt.Sprint(event*1000 + 2*i + 1)},
						"end_at": fmt.Sprintf("2026-07-%02dT12:00:00Z", 3+day), "active": true, "closed": false, "best_bid": fmt.Sprintf("0.%03d", 11+7*i),
						"best_ask": fmt.Sprintf("0.%03d", 13+8*i), "updated_at": "2026-07-03T09:00:00Z"})
					if err != nil {
						v.t.Fatal(err)
					}
					markets.Write(append(row, '\n'))
				}
				for source := range 5 {
					fmt.Fprintf(&forecasts, "%s,2026-07-%02d,%s,model_number_%d,2026-07-03T0%d:00:00Z,%d.%d,C\n", c.Slug, 3+day, m.metric, source, source, 12+source, event%10)
				}
			}
		}
	}
	v.load(v.write("m.ndjson", markets.String()), v.write("f.csv", "city,target,metric,source,issued_at,value,unit\n"+forecasts.String()),
		v.write("t.csv", "ts,wallet,role,token,side,shares,usd\n2026-07-03T10:00:00Z,0x00000000000000000000000000000000000000aa,taker,1000,BUY,10,5\n"))
	return slugs
}

// bundle requests a bundle, which must fit, on every plan.
func (v *venue) bundle(query string) wire.WeatherBundle {
	v.t.Helper()
	v.clock.Set(v.clock.Now().Add(time.Minute)) // no plan's requests are used up
	for tier := range v.keys {
		res := v.send(tier, "GET", "/weather/bot-bundle"+query, "")
		if n := len(res.Body()); n > bundleMost || res.StatusCode() != 200 {
			v.t.Fatalf("%s %s: status %d, %d bytes", tier, query, res.StatusCode(), n)
		}
	}
	b := reply[wire.WeatherBundle](v, "/weather/bot-bundle"+query)
	events, brackets := 0, 0
	for _, c := range b.Data {
		for _, e := range c.Events {
			events, brackets = events+1, brackets+len(e.Brackets.Lo)
			if short := e.Forecast == nil; short != (b.LeftOut != nil) || short && e.NullReasons["forecast"] != "bundle_size" {
				v.t.Fatalf("%s %s: forecast %v, reasons %v", query, e.Slug, e.Forecast, e.NullReasons)
			}
		}
	}
	v.t.Logf("%q: %d events, %d brackets, left out %+v", query, events, brackets, b.LeftOut)
	return b
}

// take records the slugs of a bundle's events and returns their number. Events that are left out
// must be of the first day that is named, or later.
func take(t *testing.T, b *wire.WeatherBundle, found map[string]bool) (events int) {
	t.Helper()
	for _, c := range b.Data {
		for _, e := range c.Events {
			found[e.Slug] = true
			if events++; b.LeftOut != nil && b.LeftOut.FromDate != nil && e.TargetDate > *b.LeftOut.FromDate {
				t.Errorf("%s is included, although events from %s on are left out", e.Slug, *b.LeftOut.FromDate)
			}
		}
	}
	return events
}

// TestTheBundleFitsForAnyDesk checks that 440 events with 4,840 brackets are cut to 200
// KB, that the rest is counted, and that it can be requested by date and by city.
func TestTheBundleFitsForAnyDesk(t *testing.T) {
	testfiles.InLong(t, "TestTheBundleIsTheDeskInShort checks the size of the sample venue's bundle")
	const days = 4
	v := newVenue(t)
	all := v.largeDesk(days)
	full, found := v.bundle(""), map[string]bool{}
	here := take(t, &full, found)
	left := full.LeftOut
	if left == nil || left.Events == 0 || here+left.Events != len(all) || left.Brackets != 11*left.Events || left.Forecast != here || left.Trades != here ||
		left.FromDate == nil || len(left.Cities) != 55 {
		t.Fatalf("%d of %d events are there, %+v is left out", here, len(all), left)
	}
	for day := range days {
		b := v.bundle(fmt.Sprintf("?date=2026-07-%02d", 3+day))
		take(t, &b, found)
	}
	for _, c := range full.LeftOut.Cities {
		b := v.bundle("?cities=" + c)
		if b.LeftOut != nil || take(t, &b, found) != 2*days {
			t.Errorf("%s alone is incomplete: %+v", c, b.LeftOut)
		}
	}
	if len(found) != len(all) {
		t.Errorf("%d of %d events are found", len(found), len(all))
	}
	var cities []string
	for _, c := range reference.Gazetteer().Cities() {
		cities = append(cities, c.Slug)
	}
	for _, query := range []string{"?include=ids", "?metric=tmax&include=ids", "?min_volume=0", "?cities=" + strings.Join(cities, ",")} {
		v.bundle(query)
	}
	if again := v.bundle(""); fmt.Sprint(again.LeftOut.Events, again.LeftOut.Cities) != fmt.Sprint(left.Events, left.Cities) {
		t.Errorf("second request: %+v, want %+v", again.LeftOut, left)
	}
}
