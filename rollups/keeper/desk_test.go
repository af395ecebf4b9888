package keeper_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/reference"
	"pmx/rollups/keeper"
	"pmx/rollups/weather"

	"pmx/data/testfiles"
)

// deskEvents reads the events of the desk from the database, with the payout of each bracket's
// first outcome.
func deskEvents(t *testing.T, k *keeper.Keeper) (events []weather.Event, won [][]bool) {
	t.Helper()
	type market struct {
		weather.Outcome
		won bool
	}
	listings, order := map[string]*weather.Listing{}, []string{}
	markets := map[string][]market{}
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), `SELECT event_id, event_title, event_slug, series_slug, tags, description, resolution_source,
			end_at, game_start_at, question, group_item_title, slug, coalesce(payouts[1], 0) = 1000000
			FROM markets WHERE series_slug LIKE '%-daily-weather' ORDER BY market`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var l weather.Listing
			var m market
			var tags string
			var end, start int64
			if err := rows.Scan(&l.ID, &l.Title, &l.Slug, &l.Series, &tags, &l.Description, &l.Resolution, &end, &start,
				&m.Question, &m.Label, &m.Slug, &m.won); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(tags), &l.Tags); err != nil {
				return err
			}
			l.End, l.GameStart = time.UnixMicro(end), time.UnixMicro(start)
			if listings[l.ID] == nil {
				listings[l.ID], order = &l, append(order, l.ID)
			}
			markets[l.ID] = append(markets[l.ID], m)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range order {
		l := listings[id]
		var paid []bool
		for _, m := range markets[id] {
			l.Markets, paid = append(l.Markets, m.Outcome), append(paid, m.won)
		}
		e, err := weather.Parse(reference.Gazetteer(), *l)
		if err != nil {
			t.Fatal(err)
		}
		events, won = append(events, e), append(won, paid)
	}
	return events, won
}

// TestTheSampleVenuesWeatherIsWhole: every weather file is imported without a rejected row, every
// city has forecasts of four sources, measurements and normals, and the measured values are in the
// brackets that won.
func TestTheSampleVenuesWeatherIsWhole(t *testing.T) {
	k, man := readSample(t), sampleVenue.manifest
	for _, r := range sampleVenue.receipts {
		if r.RejectedRows() > 0 {
			t.Errorf("%s: r.Rejected = %v", r.File, r.Rejected)
		}
	}
	if len(man.WeatherFiles) != 7 {
		t.Errorf("%d files of the weather", len(man.WeatherFiles))
	}
	end := data.DateOf(man.End)
	for what, query := range map[string]string{
		"forecasts of four sources for tomorrow": fmt.Sprintf(`SELECT count(*) FROM (SELECT city FROM weather_forecast WHERE target = %d GROUP BY city HAVING count(DISTINCT source) = 4)`, end+1),
		"highs of the day before yesterday":      fmt.Sprintf(`SELECT count(DISTINCT city) FROM weather_actual WHERE metric = 0 AND kind = 2 AND day = %d`, end-2),
		"measured highs of the day before":       fmt.Sprintf(`SELECT count(DISTINCT city) FROM weather_actual WHERE metric = 0 AND kind = 1 AND day = %d AND NOT provisional IS TRUE`, end-2),
		"normals of tomorrow":                    fmt.Sprintf(`SELECT count(DISTINCT city) FROM weather_normal WHERE metric = 1 AND month_day = %d`, (end + 1).MonthDay()),
	} {
		if n := count(t, k, query); n != 55 {
			t.Errorf("%s: %d cities", what, n)
		}
	}
	if n := count(t, k, "SELECT count(*) FROM weather_actual WHERE revisions > 0"); n == 0 {
		t.Error("no value was revised")
	}
	checkSettlement(t, k)
}

// checkSettlement compares the brackets that won with the highs of their stations.
func checkSettlement(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	highs := map[string]data.Temp{}
	for _, line := range strings.Fields(table(t, k, `SELECT city, day, value FROM weather_actual WHERE metric = 0 AND kind = 1 AND provisional IS NOT TRUE
		AND NOT (source = 'metar' AND observations < 24) AND source <> 'iem'`)) {
		cells := strings.Split(line, "|")
		var value int32
		if _, err := fmt.Sscan(cells[2], &value); err != nil {
			t.Fatal(err)
		}
		highs[cells[0]+cells[1]] = data.Temp(value)
	}
	events, won := deskEvents(t, k)
	compared := 0
	for i, e := range events {
		high, ok := highs[fmt.Sprintf("%s%d", e.City.Slug, e.Day)]
		at := e.Settles(high)
		for m, paid := range won[i] {
			if ok && paid {
				compared++
				if m != at {
					t.Errorf("%s: %s won, but the station had %s °C and %s °F", e.Slug, e.Brackets[m].Label(), high.Text('C'), high.Text('F'))
				}
			}
		}
	}
	if compared < 40 {
		t.Errorf("%d of %d events were compared", compared, len(events))
	}
}

// listed is what Gamma lists of the weather desk on a day: four cities, two days each, in the
// shape in which it was kept.
func listed() string {
	return testfiles.Path("feeds", "desk", "polymarket_2026-06-22.ndjson.gz")
}

// TestTheDeskOfASnapshot: what Gamma listed on 22 June 2026 becomes the desk's events again
// from what the database keeps of it.
func TestTheDeskOfASnapshot(t *testing.T) {
	deskOf(t, listed())
	if path, ok := testfiles.Beside("C_weather_markets", "seminar4_gamma_snapshots", "polymarket_2026-06-22.ndjson.gz"); ok {
		deskOf(t, path)
	}
}

func deskOf(t *testing.T, path string) {
	t.Helper()
	k := open(t, t.TempDir())
	mustImport(t, k, path)
	events, _ := deskEvents(t, k)
	cities := map[string]int{}
	for _, e := range events {
		cities[e.City.Slug]++
		if len(e.Ladder) != 11 || e.Rules.Source != weather.Wunderground || e.Rules.Station != e.City.Station || e.Day.String() < "2026-06-21" {
			t.Errorf("%s: e.Rules = %+v", e.Slug, e.Rules)
		}
	}
	if len(cities) != 4 || len(events) < 8 {
		t.Errorf("%d events of %v", len(events), cities)
	}
}
