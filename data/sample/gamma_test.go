package sample

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
)

func TestManifestTotalsAreThoseOfTheFiles(t *testing.T) {
	for _, fills := range []int64{1000, 10_000} {
		v := load(t, Config{Fills: fills, Seed: 11})
		m := v.manifest
		wallets, traded := map[string]bool{}, map[string]bool{}
		volume := map[string]data.Micro{}
		var taker, maker data.Micro
		var whales int64
		for _, row := range v.rows {
			s := decode(t, row)
			usd := data.Micro(max(s.cash, -s.cash))
			id := v.tokens[s.token].condition
			wallets[s.wallet], traded[id] = true, true
			if row[4] != plainExchange && row[4] != negRiskExchange {
				maker += usd
				continue
			}
			taker += usd
			volume[id] += usd
			if usd >= 10_000*data.One {
				whales++
			}
		}
		if taker != m.TakerUSD || maker != m.MakerUSD || whales != m.Whales {
			t.Errorf("%d fills: taker %s maker %s whales %d, manifest %s %s %d", fills, taker, maker, whales, m.TakerUSD, m.MakerUSD, m.Whales)
		}
		if int64(len(wallets)) != m.Wallets || int64(len(traded)) != m.Traded || int64(len(v.markets)) != m.Markets || int64(len(v.events)) != m.Events {
			t.Errorf("%d fills: wallets %d traded %d markets %d events %d, manifest %+v", fills, len(wallets), len(traded), len(v.markets), len(v.events), m)
		}
		if m.Open+m.Unresolved+m.Resolved != m.Markets || m.Split == 0 || m.Open == 0 {
			t.Errorf("%d fills: states do not add up: %+v", fills, m)
		}
		for id, market := range v.markets {
			if got := market["volume"]; got != volume[id].String() {
				t.Errorf("%s: volume %v, fills make %s", id, got, volume[id])
			}
		}
	}
}

func TestRecordsAreUniqueAndWhole(t *testing.T) {
	v := load(t, Config{Fills: int64(testfiles.Cases(30_000, 100_000)), Seed: 2})
	ids := map[string]bool{}
	once := func(kind string, value any) {
		key := kind + " " + value.(string)
		if ids[key] || value == "" {
			t.Errorf("%s: empty or repeated", key)
		}
		ids[key] = true
	}
	closedForm := regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00$`)
	seen := map[any]int{}
	for _, e := range v.events {
		once("event", e["id"])
		once("event slug", e["slug"])
		if len(e["tags"].([]any)) < 2 || e["title"] == "" || e["description"] == "" {
			t.Errorf("event %v is incomplete", e["id"])
		}
		for _, key := range []string{"startDate", "creationDate", "endDate", "createdAt", "updatedAt"} {
			if _, err := time.Parse(time.RFC3339, e[key].(string)); err != nil {
				t.Errorf("event %v: %s: %v", e["id"], key, err)
			}
		}
	}
	for _, m := range v.markets {
		once("market", m["id"])
		once("market slug", m["slug"])
		once("question id", m["questionID"])
		seen[m["umaResolutionStatus"]]++
		prices := texts(t, m["outcomePrices"])
		a, errA := data.ParseMicro(prices[0])
		b, errB := data.ParseMicro(prices[1])
		if errA != nil || errB != nil || a+b != data.One || len(texts(t, m["outcomes"])) != 2 {
			t.Errorf("market %v: prices %v", m["id"], prices)
		}
		if closed, _ := m["closedTime"].(string); m["closed"] != (closed != "") || closed != "" && !closedForm.MatchString(closed) {
			t.Errorf("market %v: closed %v at %q", m["id"], m["closed"], closed)
		}
	}
	for _, status := range []any{"resolved", "proposed", "disputed", nil} {
		if seen[status] == 0 {
			t.Errorf("no market has the state %v", status)
		}
	}
}

func TestNegRiskEventsHaveAtMostOneWinner(t *testing.T) {
	v := load(t, Config{Fills: 100_000, Seed: 5})
	ladders := 0
	for _, e := range v.events {
		if e["negRisk"] != true {
			continue
		}
		markets := e["markets"].([]any)
		won, mids := 0, data.Micro(0)
		for _, a := range markets {
			m := a.(map[string]any)
			price, err := data.ParseMicro(texts(t, m["outcomePrices"])[0])
			if err != nil {
				t.Fatal(err)
			}
			mids += price
			if m["umaResolutionStatus"] == "resolved" && price == data.One {
				won++
			}
		}
		resolved := markets[0].(map[string]any)["umaResolutionStatus"] == "resolved"
		if won > 1 || len(markets) < 3 || len(markets) > 12 {
			t.Errorf("%v: %d winners of %d", e["slug"], won, len(markets))
		}
		if e["seriesSlug"] == nil || len(markets) != brackets {
			continue
		}
		ladders++
		if resolved && won != 1 {
			t.Errorf("%v: a day without a temperature", e["slug"])
		}
		if !resolved && (mids < 980_000 || mids > 1_080_000) {
			t.Errorf("%v: prices add up to %s", e["slug"], mids)
		}
	}
	// 55 cities, ten past days and the next two.
	if ladders != 55*12 {
		t.Errorf("%d ladders, want 660", ladders)
	}
}

func TestLaddersCoverTheLineWithoutGaps(t *testing.T) {
	for forecast := int64(-300); forecast < 500; forecast += 7 {
		for unit, rungs := range map[string][]bracket{"C": celsius(forecast), "F": fahrenheits(fahrenheit(forecast))} {
			if len(rungs) != brackets || !rungs[0].low || !rungs[brackets-1].high {
				t.Fatalf("%d°%s: rungs %v", forecast, unit, rungs)
			}
			next := rungs[0].hi + 1
			for _, b := range rungs[1:] {
				if b.lo != next {
					t.Fatalf("%d°%s: gap below %d", forecast, unit, b.lo)
				}
				next = b.hi + 1
			}
		}
	}
}

func TestBracketLabelsAndSlugsFollowTheVenue(t *testing.T) {
	for _, c := range []struct {
		b           bracket
		unit        string
		label, slug string
	}{
		{bracket{hi: 22, low: true}, "C", "22°C or below", "22corbelow"},
		{bracket{lo: 23, hi: 23}, "C", "23°C", "23c"},
		{bracket{lo: 32, high: true}, "C", "32°C or higher", "32corhigher"},
		{bracket{lo: 54, hi: 55}, "F", "54-55°F", "54-55f"},
		{bracket{hi: -4, low: true}, "C", "-4°C or below", "neg-4corbelow"},
		{bracket{lo: -3, hi: -3}, "C", "-3°C", "neg-3c"},
	} {
		if got := c.b.label(c.unit); got != c.label {
			t.Errorf("label %q, want %q", got, c.label)
		}
		if got := c.b.slug(c.unit); got != c.slug {
			t.Errorf("slug %q, want %q", got, c.slug)
		}
	}
}

// A day begins at local midnight: 23:00 UTC the day before in Paris in winter,
// 05:00 UTC in New York, 18:30 UTC the day before in Lucknow.
func TestWeatherDaysBeginAtLocalMidnight(t *testing.T) {
	v := load(t, Config{Fills: 20_000, Seed: 4})
	want := map[string]string{
		"highest-temperature-in-paris-on-november-19-2026":   "2026-11-18 23:00:00+00",
		"highest-temperature-in-nyc-on-november-19-2026":     "2026-11-19 05:00:00+00",
		"highest-temperature-in-lucknow-on-november-19-2026": "2026-11-18 18:30:00+00",
	}
	for _, e := range v.events {
		slug := e["slug"].(string)
		if want[slug] == "" {
			continue
		}
		m := e["markets"].([]any)[3].(map[string]any)
		if m["gameStartTime"] != want[slug] || m["endDate"] != "2026-11-19T12:00:00Z" {
			t.Errorf("%s: day begins %v, ends %v", slug, m["gameStartTime"], m["endDate"])
		}
		delete(want, slug)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// Over many orders, outcomes bought at a price p must pay in about a share p of the cases.
func TestPricesAreAsOftenRightAsTheyClaim(t *testing.T) {
	v := load(t, Config{Fills: int64(testfiles.Cases(80_000, 200_000))})
	var paid, n [5]float64
	for _, row := range v.rows {
		s := decode(t, row)
		at := v.tokens[s.token]
		m := v.markets[at.condition]
		if m["umaResolutionStatus"] != "resolved" || (row[4] != plainExchange && row[4] != negRiskExchange) {
			continue
		}
		payout, err := strconv.ParseFloat(texts(t, m["outcomePrices"])[at.outcome], 64)
		if err != nil {
			t.Fatal(err)
		}
		bin := min(int(5*float64(s.cash)/float64(-s.shares)), 4)
		paid[bin], n[bin] = paid[bin]+payout, n[bin]+1
	}
	for i, want := range []float64{0.06, 0.3, 0.5, 0.7, 0.94} {
		if got := paid[i] / n[i]; got < want-0.12 || got > want+0.12 {
			t.Errorf("bin %d: %.3f of %.0f orders paid, want about %.2f", i, got, n[i], want)
		}
	}
}
