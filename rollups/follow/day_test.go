package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/http/replay"
	"pmx/rollups/keeper"
)

// TestADayThroughAllFaultsIsTheImport: all lanes follow a venue at once over HTTP, with all faults
// of every source, a restart and a week in which nothing runs. The result must be that of the
// files, and following everything again must add nothing. A short run tests only single lanes
// (TestFollowingIsImporting, TestFollowedMarketsAreThoseOfTheFile,
// TestWhatIsFollowedIsWhatIsImported), and at several that are killed at once
// (TestAKilledFollowerOfMarketsLosesAndDoublesNothing).
func TestADayThroughAllFaultsIsTheImport(t *testing.T) {
	if !testfiles.Long() {
		t.Skip("a day of all lanes at once is followed by make test-long")
	}
	end := time.Date(2026, 11, 7, 8, 0, 0, 0, time.UTC)
	venue, err := sample.New(t.Context(), sample.Config{Fills: 20_000, Days: 9, End: end, Seed: 5, Chain: true})
	if err != nil {
		t.Fatal(err)
	}
	start := end.AddDate(0, 0, -8)
	d := &playedDay{t: t, venue: venue, cities: someCities(t, 1), clock: &clock{now: start, was: time.Now(), by: 1}}
	d.server, err = replay.New(t.Context(), replay.Options{Venue: venue, Start: start, Speed: 1, Now: d.time, Tick: 5 * time.Millisecond, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(d.server.Handler())
	defer web.Close()
	defer d.server.Close()
	d.url = web.URL
	d.faults(0.2)
	dir := t.TempDir()
	suspect := int64(0) // ranges whose logs were incomplete
	part := func(f func(l *lanes)) {
		k := openVenue(t, dir, unserved)
		l := d.lanes(k)
		f(l)
		suspect += l.chain.Status().Suspect
		l.close()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const pace = 1_800
	atOnce := func() bool { return true }
	part(func(l *lanes) { l.follow(pace, start.Add(6*time.Hour), atOnce) })
	part(func(l *lanes) { l.follow(pace, start.Add(12*time.Hour), atOnce) })
	d.advance(end.Add(-13 * time.Hour).Sub(d.time())) // nobody follows for a week
	part(func(l *lanes) { l.catchUpWeek() })
	back := d.time()
	part(func(l *lanes) {
		l.follow(pace, end.Add(50*time.Minute), func() bool { return d.kindsDrawn() >= 40 && suspect+l.chain.Status().Suspect > 0 })
	})

	d.faults(0)
	k := openVenue(t, dir, unserved)
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := d.lanes(k)
	d.advance(20 * time.Minute) // hosts with an open circuit and resting nodes are used again
	d.pace(t, 60)
	l.catchUp()
	l.tellQuotes()
	l.audit()
	l.settle()
	l.close()

	files := t.TempDir()
	if _, err := sample.Write(t.Context(), venue.Config(), files, nil); err != nil {
		t.Fatal(err)
	}
	logs, err := os.Create(filepath.Join(files, "logs.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(replay.WriteLogs(logs, venue), logs.Close()); err != nil {
		t.Fatal(err)
	}
	imported := openVenue(t, t.TempDir(), unserved)
	defer func() {
		if err := imported.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := d.archive(filepath.Join(files, "archive-now.ndjson")); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, name := range []string{"logs.ndjson", "events.ndjson", "openmeteo-forecasts.ndjson", "openmeteo-archive.ndjson", "archive-now.ndjson", "metar.ndjson"} {
		paths = append(paths, filepath.Join(files, name))
	}
	if res, err := imported.Import(t.Context(), keeper.Request{Paths: paths}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("err = %v, res = %+v", err, res)
	}
	for _, v := range []*keeper.Keeper{k, imported} {
		if err := v.Refresh(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	everyTable(t, k)
	dayEqual(t, k, factsOfDay(t, imported))
	for _, c := range append(d.weatherOf([][2]time.Time{{start, start.Add(12 * time.Hour)}, {back, end.Add(50 * time.Minute)}}), d.lastPrices()) {
		mustHave(t, imported, k, &c)
	}
	alsoVerify(t, k)

	// The same once more, without the stored ranges and cursors.
	before := factsOfDay(t, k)
	if _, err := k.Commit(t.Context(), ingest.Rows{Name: "forget", Within: func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "DELETE FROM sync_range; DELETE FROM sync_cursor WHERE source NOT LIKE 'weather/openmeteo'")
		return err
	}}, ingest.Remaining{}); err != nil {
		t.Fatal(err)
	}
	d.clock.advance(end.Add(2 * time.Hour).Sub(d.time())) // the day of the venue
	l = d.lanes(k)
	l.catchUp()
	l.close()
	if s := l.chain.Status(); s.Fills != 0 || s.Logs < int64(len(before["fills"])) {
		t.Errorf("once more: %+v", s)
	}
	dayEqual(t, k, before)
	if twice := rowsOf(t, k, "SELECT station, source, ts, report FROM weather_obs GROUP BY ALL HAVING count(*) > 1"); len(twice) > 0 {
		t.Errorf("once more: %d reports are there twice", len(twice))
	}
	alsoVerify(t, k)
}

// someCities returns every one-th city.
func someCities(t *testing.T, one int) *data.Gazetteer {
	t.Helper()
	var some []data.City
	for i, c := range (feeds.Catalog{}).Gazetteer().Cities() {
		if i%one == 0 {
			some = append(some, c)
		}
	}
	out, err := data.NewGazetteer(some, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
