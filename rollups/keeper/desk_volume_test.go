package keeper_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// compareDesk compares every city's volumes and counts with plain SQL over fills and markets, and
// returns how many cities traded today.
func compareDesk(t *testing.T, k *keeper.Keeper) (today int) {
	t.Helper()
	d := k.Snapshot().Desk
	want := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(table(t, k, `
		WITH traded AS (
		  SELECT s.city, f.ts // 86400000000 AS day, f.usd, f.role,
		    bool_and(f.role = 1) OVER (PARTITION BY s.market) AS makers
		  FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m USING (market)
		  JOIN (
		    SELECT market, regexp_extract(series_slug, '^(.*)-daily-weather$', 1) AS city FROM markets WHERE series_slug LIKE '%-daily-weather'
		  ) AS s USING (market)
		),
		counted AS (SELECT * FROM traded WHERE makers = (role = 1))
		SELECT city, SUM(usd)::BIGINT, coalesce(SUM(usd) FILTER (day >= today - 6), 0)::BIGINT, coalesce(SUM(usd) FILTER (day = today), 0)::BIGINT
		FROM counted, (SELECT max(ts) // 86400000000 AS today FROM fills) GROUP BY city`)), "\n") {
		city, rest, _ := strings.Cut(line, "|")
		want[city] = strings.TrimSuffix(rest, "|")
	}
	var sums serving.DeskVolumes
	for _, c := range d.Cities {
		v := c.Volumes
		sums.Add(v)
		if v.Day > 0 {
			today++
		}
		got := fmt.Sprintf("%d|%d|%d", v.Lifetime, v.Week, v.Day)
		if w := want[c.City.Slug]; w != got && (w != "" || got != "0|0|0") {
			t.Errorf("%s: lifetime, week and day are %s, from the facts %s", c.City.Slug, got, w)
		}
	}
	if sums != d.Sums || sums.Lifetime == 0 {
		t.Errorf("the sum of the cities is %+v, the desk's sums are %+v", sums, d.Sums)
	}
	return today
}

// TestTheDesksVolumesAreTheFacts: the desk's volumes of each city, of today, of seven days and in
// total, are those of the fills, batch by batch, after a restart and after a rebuild; its brackets
// are those of the listings.
func TestTheDesksVolumesAreTheFacts(t *testing.T) {
	testfiles.InLong(t, "TestTheDeskEqualsPlainSQLOnTheSampleVenue compares the desk with the fills")
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: 12_000, FileRows: int64(testfiles.Cases(6_000, 3_000)), Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	withoutWeather(t, dir)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { // fills first: the events map them late
		return strings.Compare(strings.TrimSuffix(filepath.Base(b), "s.ndjson"), strings.TrimSuffix(filepath.Base(a), "s.ndjson"))
	})
	home := t.TempDir()
	k := open(t, home)
	for _, f := range files {
		if !strings.HasSuffix(f, "manifest.json") {
			mustImport(t, k, f)
		}
	}
	if cities := compareDesk(t, k); cities < 20 {
		t.Errorf("%d cities traded today", cities)
	}
	events, _ := deskEvents(t, k)
	checkEvents(t, k, len(events))
	alsoVerify(t, k)
	before := k.Snapshot()
	if err := k.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if _, bad := before.Compare(k.Snapshot()); bad > 0 {
		t.Errorf("%d values differ after a rebuild", bad)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, home)
	compareDesk(t, again)
	if _, bad := before.Compare(again.Snapshot()); bad > 0 {
		t.Errorf("%d values differ after a restart", bad)
	}
}

func checkEvents(t *testing.T, k *keeper.Keeper, want int) {
	t.Helper()
	d, events, open := k.Snapshot().Desk, 0, 0
	for _, c := range d.Cities {
		events += len(c.Events)
		open += c.OpenEvents
		if !c.Live {
			t.Errorf("%s: a source gives the states of its markets", c.City.Slug)
		}
		if here := c.City.DateOf(time.UnixMicro(c.Clock)); c.Today != here {
			t.Errorf("%s: its day is %s, but by its clock it is %s", c.City.Slug, c.Today, here)
		}
		for _, e := range c.Open {
			if e.Day < c.Today || !e.Tiled || len(e.Brackets) < 7 || !e.Brackets[0].OpenLow || e.City != c.City.Slug {
				t.Errorf("%+v is open on %s", e, c.Today)
			}
		}
	}
	if events != want || open == 0 || open >= events {
		t.Errorf("%d events, %d open; %d are listed", events, open, want)
	}
}

// TestDeskIsRebuiltForOtherCities: an operator who adds a city gets the events that were listed
// before.
func TestDeskIsRebuiltForOtherCities(t *testing.T) {
	home := t.TempDir()
	k := open(t, home)
	mustImport(t, k, listed())
	all := k.Snapshot().Desk.City("munich").Events
	if len(all) == 0 {
		t.Fatal("Munich has no events")
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	var few []data.City
	for _, c := range k.Snapshot().Desk.Cities {
		if c.City.Slug != "munich" {
			few = append(few, c.City)
		}
	}
	places, err := data.NewGazetteer(few, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		cities *data.Gazetteer
		events int
	}{{places, 0}, {nil, len(all)}} {
		k := openWith(t, home, step.cities)
		n := 0
		if c := k.Snapshot().Desk.City("munich"); c != nil {
			n = len(c.Events)
		}
		if rows := count(t, k, "SELECT count(DISTINCT event) FROM desk_market WHERE city = 'munich'"); n != step.events || int(rows) != step.events {
			t.Errorf("%d events served, %d in the database, want %d", n, rows, step.events)
		}
		alsoVerify(t, k)
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
