package follow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/engine/ingest"
	"pmx/http/replay"
	"pmx/rollups/keeper"
)

// weatherOf are the words of the weather that files of a venue have in common with following
// it, by name: what stations reported in the last two days, and what the last day was that was
// over everywhere.
func (d *playedDay) weatherOf() map[string]string {
	end := d.venue.Manifest.End
	return map[string]string{
		"reports": fmt.Sprintf("SELECT city, station, source, ts, report, day, value, whole, seen_at FROM weather_obs WHERE source = 'metar' AND ts >= %d AND ts < %d",
			end.AddDate(0, 0, -2).UnixMicro(), end.UnixMicro()),
		"past days": fmt.Sprintf("SELECT city, day, metric, kind, source, station, value FROM weather_actual WHERE kind = 2 AND day BETWEEN %d AND %d",
			end.Unix()/86_400-2, end.Unix()/86_400-2),
	}
}

// TestADayThroughAllFaultsIsTheImport: all lanes follow a venue at once, over the wire, while
// every source makes every mistake it can, with a restart and a week without anybody; what is
// there in the end is what the files have. Following all of it again adds nothing.
func TestADayThroughAllFaultsIsTheImport(t *testing.T) {
	end := time.Date(2026, 11, 7, 8, 0, 0, 0, time.UTC)
	venue, err := sample.New(t.Context(), sample.Config{Fills: int64(testfiles.Cases(2_000, 20_000)), Days: 9, End: end, Seed: 5, Chain: true})
	if err != nil {
		t.Fatal(err)
	}
	start := end.AddDate(0, 0, -8)
	d := &playedDay{t: t, venue: venue, clock: &clock{now: start, was: time.Now(), by: 1}}
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
	suspect := int64(0) // ranges whose logs could not be all
	part := func(f func(l *lanes)) {
		k := openVenue(t, dir)
		l := d.lanes(k)
		f(l)
		suspect += l.chain.State().Suspect
		l.close()
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	pace, atOnce := testfiles.Cases(5_400, 1_800), func() bool { return true }
	part(func(l *lanes) { l.follow(pace, start.Add(6*time.Hour), atOnce) })
	part(func(l *lanes) { l.follow(pace, start.Add(12*time.Hour), atOnce) })
	d.advance(end.Add(-12 * time.Hour).Sub(d.time())) // nobody follows for a week
	part(func(l *lanes) { l.catchUpWeek() })
	part(func(l *lanes) {
		l.follow(pace, end.Add(50*time.Minute), func() bool { return d.kindsDrawn() >= 40 && suspect+l.chain.State().Suspect > 0 })
	})

	d.faults(0)
	k := openVenue(t, dir)
	defer func() {
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := d.lanes(k)
	d.advance(20 * time.Minute) // hosts that were shut, and nodes that rest, are asked again
	d.pace(t, 60)
	l.catchUp()
	l.audit()
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
	imported := openVenue(t, t.TempDir())
	defer func() {
		if err := imported.Close(); err != nil {
			t.Error(err)
		}
	}()
	var paths []string
	for _, name := range []string{"logs.ndjson", "events.ndjson", "openmeteo-forecasts.ndjson", "openmeteo-archive.ndjson", "metar.ndjson"} {
		paths = append(paths, filepath.Join(files, name))
	}
	if res, err := imported.Import(t.Context(), keeper.Request{Paths: paths}, nil); err != nil || len(res.Failed) > 0 {
		t.Fatalf("%v %+v", err, res)
	}
	for _, v := range []*keeper.Keeper{k, imported} {
		if err := v.Refresh(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	dayEqual(t, k, factsOfDay(t, imported))
	for name, query := range d.weatherOf() {
		want, got := rowsOf(t, imported, query), rowsOf(t, k, query)
		if len(want) < 100 {
			t.Errorf("%s: the files have %d", name, len(want))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %d are followed, %d imported (-imported +followed):\n%s", name, len(got), len(want), diff[:min(len(diff), 2000)])
		}
	}
	mustVerify(t, k)

	// The same once more, as if nothing were known of what was asked for.
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
	if s := l.chain.State(); s.Fills != 0 || s.Logs < int64(len(before["fills"])) {
		t.Errorf("once more: %+v", s)
	}
	dayEqual(t, k, before)
	if twice := rowsOf(t, k, "SELECT station, source, ts, report FROM weather_obs GROUP BY ALL HAVING count(*) > 1"); len(twice) > 0 {
		t.Errorf("once more: %d reports are there twice", len(twice))
	}
	mustVerify(t, k)
}

// movesOn are columns of markets that move while nothing else does: a record is not written
// for them alone.
var movesOn = regexp.MustCompile(`'updated_at': [^,]*, |'quote': \{[^}]*\}, `)

// factsOfDay are the facts without them.
func factsOfDay(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := facts(t, k)
	for i, row := range out["markets"] {
		out["markets"][i] = movesOn.ReplaceAllString(row, "")
	}
	slices.Sort(out["markets"])
	if len(out["fills"]) < 2_000 || len(out["markets"]) < 300 || len(out["tokens"]) < 600 {
		t.Errorf("%d fills, %d markets, %d tokens", len(out["fills"]), len(out["markets"]), len(out["tokens"]))
	}
	return out
}

func dayEqual(t *testing.T, k *keeper.Keeper, want map[string][]string) {
	t.Helper()
	got := factsOfDay(t, k)
	for name := range tables {
		if diff := cmp.Diff(want[name], got[name]); diff != "" {
			t.Errorf("%s differ: %d rows, want %d:\n%s", name, len(got[name]), len(want[name]), diff[:min(len(diff), 3000)])
		}
	}
}
