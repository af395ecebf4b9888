package keeper_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/engine/export"
	"pmx/rollups/keeper"
	"pmx/rollups/weather"

	"pmx/data/testfiles"
)

const forecastHeader = "city,target,metric,source,issued_at,value,unit\n"

// table returns the rows of a query as text, one per line.
func table(t *testing.T, k *keeper.Keeper, query string) string {
	t.Helper()
	var b strings.Builder
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), query)
		if err != nil {
			return err
		}
		defer rows.Close()
		cols, err := rows.Columns()
		if err != nil {
			return err
		}
		for rows.Next() {
			cells := make([]any, len(cols))
			for i := range cells {
				cells[i] = new(sql.NullString)
			}
			if err := rows.Scan(cells...); err != nil {
				return err
			}
			for _, c := range cells {
				fmt.Fprintf(&b, "%s|", c.(*sql.NullString).String)
			}
			b.WriteString("\n")
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// changePoints lists the changes, with temperatures in tenths of a degree Celsius.
const changePoints = `SELECT source, strftime(make_timestamp(issued_at), '%H:%M'), strftime(make_timestamp(confirmed_at), '%H:%M'), value // 90, issues
FROM weather_forecast WHERE city = 'london' ORDER BY source, issued_at`

// TestChangePointsAskNotWhichFileCameFirst: 33.6 at 23:01, 31.9 at 08:33 and 08:50, 33.6 again at
// 10:00. Whichever file comes first, and however often, there are three changes, the second
// confirmed at 08:50.
func TestChangePointsAskNotWhichFileCameFirst(t *testing.T) {
	dir := t.TempDir()
	row := func(at, value string) string { return "london,2026-06-26,tmax,best_match," + at + "," + value + ",C\n" }
	files := map[string]string{
		"a": forecastHeader + row("2026-06-24T23:01:00Z", "33.6") + row("2026-06-25T10:00:00Z", "33.6"),
		"b": forecastHeader + row("2026-06-25T08:50:00Z", "31.9") + row("2026-06-25T08:33:00Z", "31.9"),
		"c": forecastHeader + row("2026-06-25T08:33:00Z", "31.9") + row("2026-06-24T23:01:00Z", "33.6"),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const want = "best_match|23:01|23:01|336|1|\nbest_match|08:33|08:50|319|2|\nbest_match|10:00|10:00|336|1|\n"
	for _, order := range []string{"cba", "aabbcc", "abc"}[:testfiles.Cases(2, 3)] {
		k := open(t, t.TempDir())
		for _, name := range order {
			mustImport(t, k, filepath.Join(dir, string(name)+".csv"))
		}
		if diff := cmp.Diff(want, table(t, k, changePoints)); diff != "" {
			t.Errorf("order %s (-want +got):\n%s", order, diff)
		}
		alsoVerify(t, k)
	}
}

func TestReceiptsOfTheWeatherAccountForEveryRow(t *testing.T) {
	path := write(t, "f.csv", forecastHeader+
		"london,2026-06-26,tmax,gfs_seamless,2026-06-24T01:00:00Z,30.1,C\n"+
		"london,2026-06-26,tmax,gfs_seamless,2026-06-24T01:00:00Z,30.1,C\n"+ // the same
		"nyc,2026-06-26,tmin,gfs_seamless,2026-06-24T01:00:00Z,71.5,F\n"+
		"atlantis,2026-06-26,tmin,gfs_seamless,2026-06-24T01:00:00Z,71.5,F\n"+
		"nyc,2026-06-26,tmin,gfs_seamless,2026-06-27T04:00:00Z,71.5,F\n"+ // New York's day is over
		"nyc,2026-06-26,tmin,gfs_seamless,2026-06-27T03:59:59Z,71.5,F\n"+
		"nyc,2026-06-26,tmin,gfs_seamless,,71.5,F\n"+
		"nyc,2026-06-26,tavg,gfs_seamless,2026-06-24T01:00:00Z,71.5,F\n"+
		"nyc,2026-06-26,tmin,gfs_seamless,2026-06-24T01:00:00Z,295.1,K\n"+
		"nyc,2026-06-31,tmin,gfs_seamless,2026-06-24T01:00:00Z,71,F\n"+
		"nyc,2096-06-26,tmin,gfs_seamless,2096-06-24T01:00:00Z,71,F\n")
	k := open(t, t.TempDir())
	r := mustImport(t, k, path)[0]
	want := map[string]int64{"unknown_city": 1, "past_day": 1, "no_issue_time": 1, "bad_metric": 1, "bad_unit": 1, "bad_date": 1, "future_time": 1}
	if diff := cmp.Diff(want, r.Rejected); diff != "" || r.Read != 11 || r.Forecasts != 3 || r.Identical != 1 || r.Feed != "pmx-forecasts" {
		t.Errorf("%+v\n%s", r, diff)
	}
	again := mustImport(t, k, path)[0]
	if again.Forecasts != 0 || again.AlreadyThere != 3 || again.Identical != 1 || again.RejectedRows() != 7 {
		t.Errorf("again: %+v", again)
	}
	dry, err := k.Import(context.Background(), keeper.Request{Paths: []string{write(t, "g.csv", forecastHeader+
		"london,2026-06-26,tmax,gfs_seamless,2026-06-24T02:00:00Z,30.1,C\n")}, DryRun: true}, nil)
	if err != nil || dry.Receipts[0].Forecasts != 1 || count(t, k, "SELECT count(*) FROM weather_issue") != 3 {
		t.Errorf("err = %v, dry.Receipts = %+v", err, dry.Receipts)
	}
}

// TestReceiptsTellWhatIsSupersededFromWhatIsTheSame: a station's report and its correction in one
// file are two rows, of which the later one counts. For each row that is imported again, the
// receipt says whether an equal one is known. The same applies to all kinds of rows.
func TestReceiptsTellWhatIsSupersededFromWhatIsTheSame(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt counts the rows of every feed")
	const obs = "city,station,source,ts,report,value,unit,whole,seen_at\n"
	const actuals = "city,day,metric,kind,source,station,seen_at,value,unit,provisional\n"
	const normals = "city,metric,month_day,source,station,period,value,unit,deviation,p10,p90,years\n"
	for name, kind := range map[string]struct{ header, early, late string }{
		"observations": {obs, "nyc,KLGA,metar,2026-07-02T10:51:00Z,routine,24.4,C,24,2026-07-02T10:55:00Z\n", "nyc,KLGA,metar,2026-07-02T10:51:00Z,routine,25.0,C,25,2026-07-02T11:05:00Z\n"},
		"forecasts":    {forecastHeader, "nyc,2026-07-02,tmax,gfs,2026-07-01T10:00:00Z,32,C\n", "nyc,2026-07-02,tmax,gfs,2026-07-01T10:00:00Z,33,C\n"},
		"actuals":      {actuals, "nyc,2026-06-30,tmax,station,iem,KLGA,2026-07-01T12:00:00Z,85,F,true\n", "nyc,2026-06-30,tmax,station,iem,KLGA,2026-07-01T12:00:00Z,86,F,\n"},
		"normals":      {normals, "nyc,tmax,07-02,iem,KLGA,1991-2020,83,F,,,,\n", "nyc,tmax,07-02,iem,KLGA,1991-2020,84,F,,,,\n"},
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, t.TempDir())
			for i, step := range []struct {
				rows string
				want [5]int64 // added, corrected, identical, already there, superseded
			}{
				{kind.early + kind.late + kind.late, [5]int64{1, 0, 1, 0, 1}},
				{kind.late, [5]int64{0, 0, 0, 1, 0}},
				{kind.early, [5]int64{0, 0, 0, 0, 1}},
				{kind.late + kind.early + kind.early, [5]int64{0, 0, 1, 1, 1}},
			} {
				r := mustImport(t, k, write(t, "f.csv", kind.header+step.rows))[0]
				added := r.Forecasts + r.Actuals + r.Observations + r.Normals
				got := [5]int64{added, r.Corrected, r.Identical, r.AlreadyThere, r.Superseded}
				if got != step.want || r.Read != added+r.Identical+r.AlreadyThere+r.Superseded {
					t.Errorf("step %d: %v, want %v; %d rows read", i, got, step.want, r.Read)
				}
			}
			k = open(t, t.TempDir())
			mustImport(t, k, write(t, "f.csv", kind.header+kind.early))
			if r := mustImport(t, k, write(t, "f.csv", kind.header+kind.late+kind.early))[0]; r.Corrected != 1 || r.AlreadyThere != 1 || r.Superseded != 0 {
				t.Errorf("a correction: r = %+v", r)
			}
		})
	}
}

// TestRevisionsOfAReanalysis: 36.2 on 27 June, 36.3 since 1 July and still on the 3rd.
func TestRevisionsOfAReanalysis(t *testing.T) {
	const header = "city,day,metric,kind,source,station,seen_at,value,unit,provisional\n"
	row := func(seen, value, provisional string) string {
		return "london,2026-06-26,tmax,reanalysis,archive_best_match,," + seen + "," + value + ",C," + provisional + "\n"
	}
	paths := []string{
		write(t, "a.csv", header+row("2026-06-27T09:00:00Z", "36.2", "true")),
		write(t, "b.csv", header+row("2026-07-03T09:00:00Z", "36.3", "false")+row("2026-06-28T09:00:00Z", "36.2", "true")),
		write(t, "c.csv", header+row("2026-07-01T09:00:00Z", "36.3", "true")+
			"london,2026-06-26,tmax,station,ghcn,EGLC,,37.0,C,\nlondon,2026-06-26,tmax,station,ghcn,EGLC,,37.2,C,\n"),
	}
	const want = "reanalysis|363|362|2026-07-01 09:00|1|false|\nstation|372|372||0||\n"
	const query = `SELECT CASE kind WHEN 1 THEN 'station' ELSE 'reanalysis' END, value // 90, first_value // 90,
		strftime(make_timestamp(revised_at), '%Y-%m-%d %H:%M'), revisions, provisional FROM weather_actual ORDER BY 1`
	for range 2 {
		rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		k := open(t, t.TempDir())
		for _, p := range paths {
			mustImport(t, k, p)
		}
		if diff := cmp.Diff(want, table(t, k, query)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", paths, diff)
		}
		alsoVerify(t, k)
	}
}

// TestAStationsDayIsTheCitysOwn: New York's 2 July lasts from 04:00Z to 04:00Z. The more precise
// value and the whole degrees are kept apart. Special reports count for the former but not for the
// routine extreme.
func TestAStationsDayIsTheCitysOwn(t *testing.T) {
	const header = "city,station,source,ts,report,value,unit,whole,seen_at\n"
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "obs.csv", header+
		"nyc,KLGA,metar,2026-07-02T03:51:00Z,routine,39.9,C,40,\n"+ // still 1 July
		"nyc,KLGA,metar,2026-07-02T04:51:00Z,routine,22.8,C,23,\n"+
		"nyc,KLGA,metar,2026-07-02T19:51:00Z,routine,35.0,C,35,\n"+
		"nyc,KLGA,metar,2026-07-02T20:10:00Z,special,35.6,C,36,2026-07-02T20:12:00Z\n"+
		"nyc,KLGA,metar,2026-07-02T20:10:00Z,special,36.1,C,36,2026-07-02T20:30:00Z\n"+ // corrected
		"nyc,KLGA,metar,2026-07-03T03:59:00Z,routine,28.3,C,28,\n"+
		"nyc,KLGA,metar,2026-07-03T04:00:00Z,routine,28.0,C,28,\n"))
	const query = `SELECT metric, DATE '1970-01-01' + day, value // 90, whole // 900, routine // 900, observations, provisional
		FROM weather_actual WHERE station = 'KLGA' ORDER BY metric, day`
	const want = "0|2026-07-01T00:00:00Z|399|40|40|1|false|\n0|2026-07-02T00:00:00Z|361|36|35|4|false|\n0|2026-07-03T00:00:00Z|280|28|28|1|true|\n" +
		"1|2026-07-01T00:00:00Z|399|40|40|1|false|\n1|2026-07-02T00:00:00Z|228|23|23|4|false|\n1|2026-07-03T00:00:00Z|280|28|28|1|true|\n"
	if diff := cmp.Diff(want, table(t, k, query)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	alsoVerify(t, k)
}

// TestDerivedNormalsAreThoseOfTheDefinition: SQL and plain Go agree on an invented series with
// gaps, in either order of its files, and a correction changes them.
func TestDerivedNormalsAreThoseOfTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := map[data.Date]data.Temp{}
	const header = "city,day,metric,kind,source,value,unit\n"
	halves := [2]strings.Builder{}
	for d := data.DateFrom(1990, time.December, 1); d <= data.DateFrom(2021, time.January, 31); d++ {
		if r.IntN(50) == 0 || d.Time().Year() < 1996 && d.MonthDay() > 800 && d.MonthDay() < 1100 {
			continue
		}
		v := data.Temp(int64(r.IntN(400)-150) * 90)
		values[d] = v
		fmt.Fprintf(&halves[int(d)%2], "lucknow,%s,tmin,reanalysis,era5,%s,C\n", d, v.Text(data.Celsius))
	}
	paths := []string{write(t, "even.csv", header+halves[0].String()), write(t, "odd.csv", header+halves[1].String())}
	k := open(t, t.TempDir())
	mustImport(t, k, paths[1], paths[0])
	compare := func() {
		t.Helper()
		var want strings.Builder
		n := weather.Climate(values)
		for md := range 1232 {
			if u, ok := n[md]; ok {
				fmt.Fprintf(&want, "%d|derived:era5|%d|%d|%d|%d|%d|\n", md, u.Value, u.Deviation, u.P10, u.P90, u.Years)
			}
		}
		got := table(t, k, "SELECT month_day, source, value, deviation, p10, p90, years FROM weather_normal WHERE city = 'lucknow' ORDER BY month_day")
		if diff := cmp.Diff(want.String(), got); diff != "" || len(n) == 0 {
			t.Errorf("%d normals (-want +got):\n%s", len(n), diff)
		}
		alsoVerify(t, k)
	}
	compare()
	day := data.DateFrom(2010, time.May, 1)
	values[day] = data.Degrees(45, data.Celsius)
	mustImport(t, k, write(t, "later.csv", "city,day,metric,kind,source,value,unit,seen_at\nlucknow,2010-05-01,tmin,reanalysis,era5,45,C,2026-01-01\n"))
	compare()
	mustImport(t, k, write(t, "london.csv", header+"london,2010-05-01,tmin,reanalysis,era5,5,C\n"))
	compare()
}

// TestTheWeatherSurvivesARoundTrip: what is exported, in any format, is imported elsewhere as the
// same facts. A short run tries one format.
func TestTheWeatherSurvivesARoundTrip(t *testing.T) {
	testfiles.InLong(t, "TestAllFilesSurviveAnExport imports the exported weather of all feeds")
	a := open(t, t.TempDir())
	mustImport(t, a,
		write(t, "f.csv", "city,target,metric,source,issued_at,run_at,value,unit,members,shift\n"+
			"nyc,2026-06-26,tmax,ecmwf_ifs025_ensemble,2026-06-24T01:02:03.000004Z,2026-06-24T00:00:00Z,71.55,F,\"[70.1,71.5,72.9]\",3600\n"+
			"london,2026-06-26,tmin,gfs_seamless,2026-06-24T01:00:00Z,,-3.7,C,,0\n"),
		write(t, "a.csv", "city,day,metric,kind,source,station,seen_at,value,unit,provisional,shift,withdrawn\n"+
			"nyc,1869-01-01,tmax,station,ghcn,KNYC,,-1.7,C,false,3600,\nnyc,2026-01-01,tmax,reanalysis,era5,,2026-01-03,33.4,F,true,0,false\n"+
			"nyc,2026-01-02,tmax,station,iem,KLGA,,33,F,,0,\nnyc,2026-01-02,tmax,station,ghcn,KLGA,2026-01-03,,F,,3600,true\n"),
		write(t, "o.csv", "city,station,source,ts,report,value,unit,whole,seen_at,correction,withdrawn\n"+
			"nyc,KLGA,metar,2026-07-02T03:51:00Z,special,22.8,C,23,2026-07-02T03:52:01Z,,\nhong-kong,HKO,hko,2026-07-02T04:00:00Z,,28.9,C,,,2,\n"+
			"nyc,KLGA,metar,2026-07-02T04:51:00Z,,,C,,,1,true\n"),
		write(t, "n.csv", "city,metric,month_day,source,station,period,value,unit,deviation,p10,p90,years\n"+
			"nyc,tmax,02-29,ncei,KLGA,1991-2020,43.6,F,9.9,31.5,56.2,30\nnyc,tmin,12-31,iem,KLGA,1991-2020,50,F,10,,,\n"))
	for _, format := range export.Formats[testfiles.Cases(len(export.Formats)-1, 0):] {
		b := open(t, t.TempDir())
		for _, dataset := range []string{"forecasts", "actuals", "observations", "normals"} {
			path, _, err := a.Exporter().WriteFacts(t.Context(), a.DB().Dir().Tmp(), dataset, format, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r := mustImport(t, b, path)[0]; r.RejectedRows() != 0 {
				t.Errorf("%s %s: %+v", format, dataset, r)
			}
		}
		for _, name := range []string{"weather_issue", "weather_report", "weather_obs", "weather_normal"} {
			query := "SELECT to_json(w)::VARCHAR FROM (SELECT * EXCLUDE (batch) FROM " + name + ") AS w ORDER BY 1"
			if diff := cmp.Diff(table(t, a, query), table(t, b, query)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", format, name, diff)
			}
		}
		alsoVerify(t, b)
	}
}

// TestOrderOfFilesIsNoMatter: any rows, split into files in any way and in any order, give the same
// facts.
func TestOrderOfFilesIsNoMatter(t *testing.T) {
	testfiles.InLong(t, "TestAnswersDoNotDependOnHistory imports the weather in two orders")
	r := rand.New(rand.NewPCG(3, 4))
	for range testfiles.Cases(2, 4) {
		var lines []string
		for range 1 + r.IntN(12) {
			lines = append(lines, fmt.Sprintf("%s,2026-06-26,tmax,%s,2026-06-24T0%d:00:00Z,%d,C", []string{"london", "nyc"}[r.IntN(2)],
				[]string{"a", "b"}[r.IntN(2)], r.IntN(4), 20+r.IntN(3)))
		}
		facts := func(files ...[]string) string {
			k := open(t, t.TempDir())
			for _, p := range files {
				if len(p) > 0 { // importing an empty file fails
					mustImport(t, k, write(t, "f.csv", forecastHeader+strings.Join(p, "\n")+"\n"))
				}
			}
			return table(t, k, "SELECT to_json(w)::VARCHAR FROM (SELECT * EXCLUDE (batch) FROM weather_issue) AS w ORDER BY 1")
		}
		whole := facts(lines)
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		cut := r.IntN(len(lines) + 1)
		if diff := cmp.Diff(whole, facts(lines[cut:], lines[:cut])); diff != "" {
			t.Errorf("%v cut at %d:\n%s", lines, cut, diff)
		}
	}
}

// TestTheForecastOfAKeptDay: Open-Meteo's forecasts for London's 26 June 2026, from stored
// responses, and the actual values. The archive's value of an unfinished day is refused.
func TestTheForecastOfAKeptDay(t *testing.T) {
	k := open(t, t.TempDir())
	for _, r := range mustImport(t, k, testfiles.Path("feeds", "slices", "openmeteo", "weather_2026-06-24.ndjson"),
		testfiles.Path("feeds", "slices", "openmeteo", "weather_2026-06-25.ndjson"), testfiles.Path("feeds", "slices", "openmeteo", "weather_2026-06-27.ndjson")) {
		if want := map[string]int64{"weather_2026-06-24.ndjson": 2}[filepath.Base(r.File)]; r.RejectedRows() != want {
			t.Errorf("%s: %d rows rejected, want %d", r.File, r.RejectedRows(), want)
		}
	}
	got := table(t, k, `SELECT strftime(make_timestamp(issued_at), '%m-%d %H:%M'), value // 90 FROM weather_forecast
		WHERE city = 'london' AND target = DATE '2026-06-26' - DATE '1970-01-01' AND metric = 0 ORDER BY issued_at`)
	if got != "06-24 08:33|319|\n06-24 14:01|334|\n06-25 09:00|319|\n" {
		t.Errorf("\n%s", got)
	}
	if n := count(t, k, "SELECT count(*) FROM weather_actual WHERE city = 'london' AND day = DATE '2026-06-26' - DATE '1970-01-01' AND metric = 0 AND value = 325 * 90"); n != 1 {
		t.Errorf("%d actuals of 32.5 °C", n)
	}
	alsoVerify(t, k)
	if dir, ok := testfiles.Beside("E_weather", "openmeteo_snapshots"); ok {
		theForecastOfACapturedDay(t, dir)
	}
}

// theForecastOfACapturedDay imports Open-Meteo's forecasts for London's 26 June 2026, hour by hour,
// from captured responses.
func theForecastOfACapturedDay(t *testing.T, dir string) {
	t.Helper()
	k := open(t, t.TempDir())
	res, err := k.Import(context.Background(), keeper.Request{Paths: []string{dir}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// All rows of two files are rejected: of stitched runs, and of a place too far from its
	// station.
	var failed []string
	for _, f := range res.Failed {
		failed = append(failed, filepath.Base(f.File))
	}
	if want := []string{"weather-historical-forecast_munich_2026-06-20T13-59-33Z.json", "weather_2026-06-16.ndjson"}; !slices.Equal(failed, want) {
		t.Fatalf("%+v, want %v", res.Failed, want)
	}
	for _, r := range res.Receipts {
		if rows := r.RejectedRows(); filepath.Base(r.File) == "weather_2026-06-16.ndjson" && rows != 4 {
			t.Errorf("r = %+v", r)
		}
	}
	got := table(t, k, `SELECT strftime(make_timestamp(issued_at), '%m-%d %H:%M'), value // 90 FROM weather_forecast
		WHERE city = 'london' AND target = DATE '2026-06-26' - DATE '1970-01-01' AND metric = 0 ORDER BY issued_at`)
	const first = "06-23 23:01|336|\n06-24 08:33|319|\n06-24 14:01|334|\n06-24 15:01|357|\n06-24 17:18|365|\n06-24 21:45|367|\n"
	if !strings.HasPrefix(got, first) || !strings.HasSuffix(got, "06-26 19:01|357|\n") {
		t.Errorf("\n%s", got)
	}
	if n := count(t, k, "SELECT count(*) FROM weather_actual WHERE city = 'london' AND day = DATE '2026-06-26' - DATE '1970-01-01' AND metric = 0 AND value = 362 * 90"); n != 1 {
		t.Errorf("%d actuals of 36.2 °C", n)
	}
	alsoVerify(t, k)
}
