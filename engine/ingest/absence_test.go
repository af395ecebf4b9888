package ingest_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine"
)

// left is a case for a row of the table "What a record leaves out" of docs/import.md: a file with a
// value, and another without it or with a doubtful one.
type left struct {
	row   string // the beginning of the document's row
	gone  bool   // what the document says about it
	says  string // the first file's name and content
	leave string // the second's
	query string
	want  string
}

const (
	standing   = "SELECT source, station, value, provisional FROM weather_actual ORDER BY ALL"
	foretold   = "SELECT city, target, metric, source, value FROM weather_issue ORDER BY ALL"
	usual      = "SELECT month_day, value, deviation FROM weather_usual WHERE metric = 0 ORDER BY ALL"
	nwsPlace   = `"geometry":{"type":"Point","coordinates":[-73.87,40.78]}`
	meteoPlace = `"latitude":40.76809,"longitude":-73.862785,"utc_offset_seconds":-14400,"timezone":"America/New_York","daily_units":{"time":"iso8601","temperature_2m_max":"°C"}`
)

func dly(cells ...string) string {
	return "x.dly\nUSW00014732202607TMAX" + strings.Join(cells, "") + strings.Repeat("-9999   ", 31-len(cells)) + "\n"
}

func metarRow(more, raw string) string {
	return `m.json` + "\n" + `[{"icaoId":"KLGA","obsTime":1781052660,"metarType":"METAR"` + more + `,"rawOb":"` + raw + `"}]`
}

func nwsRow(temperature string) string {
	return "nws.json\n" + `{"type":"FeatureCollection","features":[{"properties":{"station":"https://api.weather.gov/stations/KLGA",
		"timestamp":"2026-07-02T10:53:00+00:00","rawMessage":"","temperature":{"unitCode":"wmoUnit:degC",` + temperature + `}}}]}`
}

func meteo(kind, fetched, highs string) string {
	return "o.ndjson\n" + `{"_meta":{"kind":"` + kind + `","fetched_at_utc":"` + fetched + `","models":"gfs_seamless","run":"2026-07-01T00:00"},"response":{` +
		meteoPlace + `,"daily":{"time":["2026-07-02","2026-07-03"],"temperature_2m_max":[` + highs + "]}}}\n"
}

func hko(name, value, mark string) string {
	return name + "\n" + `{"type":["Daily Maximum Temperature (°C) at the Hong Kong Observatory"],"fields":[],"data":[["2025","3","12","` + value + `","` + mark + `"]]}`
}

const normalHeader = "n.csv\n" + `"STATION","DATE","DLY-TMAX-NORMAL","DLY-TMAX-STDDEV"` + "\n"

// weatherLeft are the rows of the weather: a value that a source marks as bad is removed, a missing
// one is unknown.
var weatherLeft = []left{
	{row: "GHCN's quality flag", gone: true, says: dly("  394  D"), leave: dly("  394 XD"), query: standing},
	{row: "GHCN's quality flag", gone: true, says: dly("  394  D"), leave: "y.csv\nUSW00014732,20260701,TMAX,394,,G,D,2400\n", query: standing},
	{row: "GHCN's hour of observation", gone: true, says: dly("  394  D"), leave: "y.csv\nUSW00014732,20260701,TMAX,394,,,D,0700\n", query: standing},
	{row: "`-9999`", says: dly("  394  D"), leave: dly("-9999   "), query: standing, want: "ghcn|KLGA|35460||\n"},
	{row: "`-9999`", says: dly("  394  D"), leave: "y.csv\nUSW00014732,20260701,TMAX,-9999,,,D,2400\n", query: standing, want: "ghcn|KLGA|35460||\n"},
	{row: "`-9999`", says: "d_2026-07-03T00-00-00Z.csv\nstation,day,max_temp_f,min_temp_f\nLGA,2026-07-02,50,M\n",
		leave: "d_2026-07-04T00-00-00Z.csv\nstation,day,max_temp_f,min_temp_f\nLGA,2026-07-02,M,M\nLGA,2026-07-01,None,41\n", query: standing,
		want: "iem|KLGA|4500||\niem|KLGA|9000||\n"},
	{row: "`-9999`", says: hko("h_2025-03-13T00-00-00Z.json", "28.5", "C"), leave: hko("h_2025-03-14T00-00-00Z.json", "***", ""), query: standing,
		want: "hko|HKO|25650|false|\n"},
	{row: "HKO's `#`", says: hko("h.json", "28.9", "#"), leave: hko("i.json", "28.5", "C"), query: standing, want: "hko|HKO|25650|false|\n"},
	{row: "a correction of a METAR without a temperature", gone: true, says: metarRow(`,"temp":21`, "METAR KLGA 100051Z 21/15 A3004"),
		leave: metarRow(`,"temp":null`, "METAR KLGA 100051Z COR 35013KT A3004"), query: standing},
	{row: "a correction of a METAR without a temperature", gone: true, says: "a.csv\nstation,valid,tmpf,metar\nLGA,2026-07-02 03:51,71.06,KLGA 020351Z 22/18 A3000\n",
		leave: "b.csv\nstation,valid,tmpf,metar\nLGA,2026-07-02 03:51,M,KLGA 020351Z COR A3000\n", query: standing},
	{row: "a correction of a METAR without a temperature", says: metarRow(`,"temp":21`, "METAR KLGA 100051Z 21/15 A3004"),
		leave: metarRow(`,"temp":19`, "METAR COR KLGA 100051Z 19/15 A3004"), query: standing, want: "metar|KLGA|17100|true|\nmetar|KLGA|17100|true|\n"},
	{row: "a METAR without a temperature", says: metarRow(`,"temp":21,"receiptTime":"2026-06-10T00:54:16Z"`, "METAR KLGA 100051Z 21/15 A3004"),
		leave: metarRow(`,"temp":null,"receiptTime":"2026-06-10T00:59:16Z"`, "METAR KLGA 100051Z NIL"), query: standing, want: "metar|KLGA|18900|true|\nmetar|KLGA|18900|true|\n"},
	{row: "a METAR without a temperature", says: "a.csv\nstation,valid,tmpf\nLGA,2026-07-02 03:51,71.6\n", leave: "b.csv\nstation,valid,tmpf\nLGA,2026-07-02 03:51,M\n",
		query: standing, want: "iem|KLGA|19800|true|\niem|KLGA|19800|true|\n"},
	{row: "the Weather Service's `qualityControl`", gone: true, says: nwsRow(`"value":25.6,"qualityControl":"qc:Z"`), leave: nwsRow(`"value":25.6,"qualityControl":"qc:X"`), query: standing},
	{row: "a METAR without a temperature", says: nwsRow(`"value":25.6,"qualityControl":"qc:V"`), leave: nwsRow(`"value":null,"qualityControl":"qc:Z"`), query: standing,
		want: "nws|KLGA|23040|true|\nnws|KLGA|23040|true|\n"},
	{row: "a day or hour without a value in a forecast", says: meteo("forecast", "2026-07-01T20:00:00Z", "30.5,31.5"), leave: meteo("forecast", "2026-07-01T21:00:00Z", "30.5,null"),
		query: foretold, want: "nyc|20636|0|gfs_seamless|27450|\nnyc|20637|0|gfs_seamless|28350|\n"},
	{row: "a day or hour without a value in a forecast",
		says: "g.json\n{" + nwsPlace + `,"properties":{"updateTime":"2026-07-02T13:00:00+00:00","maxTemperature":{"uom":"wmoUnit:degC","values":[{"validTime":"2026-07-03T12:00:00+00:00/PT13H","value":25}]}}}`,
		leave: "g.json\n{" + nwsPlace + `,"properties":{"updateTime":"2026-07-02T14:00:00+00:00","maxTemperature":{"uom":"wmoUnit:degC","values":[
			{"validTime":"2026-07-03T12:00:00+00:00/PT13H","value":null},{"validTime":"2026-07-04T12:00:00+00:00/PT13H","value":25}]}}}`,
		query: foretold, want: "nyc|20637|0|nws_period|22500|\nnyc|20638|0|nws_period|22500|\n"},
	{row: "a day that a later file of the archive", says: meteo("archive", "2026-07-20T20:00:00Z", "30.5,31.5"), leave: meteo("archive", "2026-07-21T20:00:00Z", "30.5,null"),
		query: standing, want: "gfs_seamless||27450|false|\ngfs_seamless||28350|false|\n"},
	{row: "29 February in a table of normals", says: normalHeader + `"USW00014732","02-28","43.3","9.9"` + "\n" + `"USW00014732","02-29","43.0","9.9"` + "\n" + `"USW00014732","03-01","43.9","10.1"` + "\n",
		leave: normalHeader + `"USW00014732","02-28","43.3","9.9"` + "\n" + `"USW00014732","03-01","43.9","10.1"` + "\n",
		query: usual, want: "228|5650|4950|\n229|5500|4950|\n301|5950|5050|\n"},
	{row: "29 February in a table of normals", says: normalHeader + `"USW00014732","02-28","43.3","9.9"` + "\n", leave: normalHeader + `"USW00014732","03-01","43.9","10.1"` + "\n",
		query: usual, want: "228|5650|4950|\n229|5800|5000|\n301|5950|5050|\n"},
	{row: "a normal, its deviation", says: normalHeader + `"USW00014732","02-28","43.3","9.9"` + "\n" + `"USW00014732","04-01","53.3","9.9"` + "\n",
		leave: normalHeader + `"USW00014732","02-28","43.3","-7777"` + "\n" + `"USW00014732","04-01","-9999","9.9"` + "\n",
		query: usual, want: "228|5650|4950|\n401|10650|4950|\n"},
}

// TestWhatARecordLeavesOut compares the document's table with the program, in both orders of files
// and in one import.
func TestWhatARecordLeavesOut(t *testing.T) {
	rows := leftOutTable(t)
	tried := map[string]bool{}
	v := open(t)
	for nth, c := range slices.Concat(weatherLeft, marketsLeft) {
		i := slices.IndexFunc(rows, func(r [3]string) bool { return strings.HasPrefix(r[0], c.row) })
		if i < 0 {
			t.Errorf("docs/import.md has no row that begins with %q", c.row)
			continue
		}
		if again := tried[rows[i][0]]; again && !testfiles.Long() {
			continue // a short run takes one case of a row
		}
		tried[rows[i][0]] = true
		if c.gone != strings.HasPrefix(rows[i][1], "gone") && c.want == "" {
			t.Errorf("docs/import.md says %q of %q", rows[i][1], c.row)
		}
		t.Run(c.row, func(t *testing.T) {
			// The last one includes both orders; a short run takes one of the others, in turns.
			orders := [][]string{{c.says, c.leave}, {c.leave, c.says}, {c.leave, c.says, c.leave}}
			if !testfiles.Long() {
				orders = orders[nth%2:][:1]
			}
			for _, order := range orders {
				v.clear()
				for i, file := range order {
					name, content, _ := strings.Cut(file, "\n")
					if _, err := v.load(name, content); err != nil {
						t.Fatalf("%s: %v", file, err)
					}
					if diff := cmp.Diff(c.want, v.lines(c.query)); i > 0 && diff != "" {
						t.Errorf("%q (-want +got):\n%s", order[:i+1], diff)
					}
				}
			}
		})
	}
	for _, r := range rows {
		if !tried[r[0]] {
			t.Errorf("no case covers the row %s", r[0])
		}
	}
}

// clear deletes all markets and weather.
func (v *intake) clear() {
	v.t.Helper()
	err := v.im.DB.Read(context.Background(), func(conn *sql.Conn) error {
		for _, table := range []string{"markets", "tokens", "payout_log", "weather_report", "weather_obs", "weather_issue", "weather_normal"} {
			if _, err := conn.ExecContext(context.Background(), "DELETE FROM "+table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// lines returns the rows of a query, one per line.
func (v *intake) lines(query string) string {
	v.t.Helper()
	var out strings.Builder
	err := v.im.DB.Read(context.Background(), func(conn *sql.Conn) error {
		return engine.Each(context.Background(), conn, query, func(row []driver.Value) error {
			for _, cell := range row {
				if cell != nil {
					fmt.Fprint(&out, cell)
				}
				out.WriteByte('|')
			}
			out.WriteByte('\n')
			return nil
		})
	})
	if err != nil {
		v.t.Fatal(err)
	}
	return out.String()
}

// leftOutTable returns the cells of the table of docs/import.md.
func leftOutTable(t *testing.T) (rows [][3]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "import.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "### What a record leaves out")
	_, after, _ = strings.Cut(after, "|---|---|---|\n")
	for line := range strings.Lines(after) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 {
			break
		}
		rows = append(rows, [3]string{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
	}
	return rows
}
