package export_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/datasets"
	"pmx/data/feeds"
	"pmx/engine/export"
	"pmx/rollups/keeper"

	"pmx/data/testfiles"
)

// factTables are queries of all facts without ids, which differ between databases.
var factTables = map[string]string{
	"fills": `SELECT f.* EXCLUDE (wallet, token, batch, tx, block), hex(f.tx) AS tx, hex(w.address) AS address, t.token_id, hex(m.condition) AS condition, t.outcome
FROM fills AS f JOIN wallets AS w USING (wallet) JOIN tokens AS t USING (token) LEFT JOIN markets AS m USING (market)`,
	"names":     "SELECT hex(w.address) AS address, n.name FROM wallet_names AS n JOIN wallets AS w USING (wallet)",
	"markets":   "SELECT * EXCLUDE (market) FROM markets",
	"tokens":    "SELECT t.token_id, t.outcome, hex(m.condition) AS condition FROM tokens AS t LEFT JOIN markets AS m USING (market)",
	"issues":    "SELECT * EXCLUDE (batch) FROM weather_issue",
	"reports":   "SELECT * EXCLUDE (batch) FROM weather_report",
	"sightings": "SELECT * EXCLUDE (batch) FROM weather_obs",
	"normals":   "SELECT * EXCLUDE (batch) FROM weather_normal",
}

// facts returns the rows of factTables, as JSON in order.
func facts(t testing.TB, k *keeper.Keeper) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for name, from := range factTables {
		for _, row := range query(t, k, "SELECT to_json(w)::VARCHAR AS row FROM ("+from+") AS w ORDER BY row") {
			out[name] = append(out[name], row["row"])
		}
	}
	return out
}

// exportFacts writes all datasets of facts in a format and returns the files.
func exportFacts(t testing.TB, k *keeper.Keeper, format data.Format) (paths []string) {
	t.Helper()
	for _, dataset := range export.Facts {
		path, _, err := k.Exporter().WriteFacts(context.Background(), k.DB().Dir().Tmp(), dataset, format, nil)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// Files of facts from earlier versions give the same facts in every format, and so does exporting
// them now. They include texts that a spreadsheet would run, and token ids of 78 digits.
func TestFactsOfEarlierVersionsAreRead(t *testing.T) {
	var first map[string][]string
	for _, format := range export.Formats {
		old, err := filepath.Glob(testfiles.Path("feeds", "canonical-1", "*."+string(format)))
		if err != nil || len(old) != len(export.Facts) {
			t.Fatalf("%d files: %v", len(old), err)
		}
		a := openFacts(t, 1)
		mustImport(t, a, old...)
		got := facts(t, a)
		if first == nil {
			first = got
			for name, n := range map[string]int{"fills": 6, "names": 3, "markets": 3, "tokens": 8, "issues": 2, "reports": 2, "sightings": 2, "normals": 2} {
				if len(got[name]) != n {
					t.Errorf("%d %s, want %d: got[name] = %v", len(got[name]), name, n, got[name])
				}
			}
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("%s (-parquet +%s):\n%s", format, format, diff)
		}
		if format != export.Formats[0] && !testfiles.Long() {
			continue // all are read to the same facts: a short run writes one, in one other format
		}
		other := map[data.Format]data.Format{data.Parquet: data.CSV, data.CSV: data.NDJSON, data.NDJSON: data.Parquet}[format]
		for _, again := range formats(other) {
			b := openFacts(t, 1)
			mustImport(t, b, exportFacts(t, a, again)...)
			if diff := cmp.Diff(got, facts(t, b)); diff != "" {
				t.Errorf("%s, then %s (-want +got):\n%s", format, again, diff)
			}
		}
	}
}

// A Parquet file of facts has the types that tools expect, and the meanings of its columns; in each
// format the columns are those of the catalogue.
func TestFactsDescribeThemselves(t *testing.T) {
	k := openFacts(t, 1)
	old, _ := filepath.Glob(testfiles.Path("feeds", "canonical-1", "*.csv"))
	mustImport(t, k, old...)
	types := map[datasets.Type][]string{
		datasets.Text: {"VARCHAR"}, datasets.Texts: {"VARCHAR[]"}, datasets.Integer: {"TINYINT", "SMALLINT", "INTEGER", "BIGINT"},
		datasets.Decimal: {"DECIMAL(18,6)"}, datasets.Decimals: {"DECIMAL(18,6)[]"}, datasets.Timestamp: {"TIMESTAMP WITH TIME ZONE"},
		datasets.Boolean: {"BOOLEAN"}, datasets.Date: {"DATE"}, datasets.Temperature: {"DECIMAL(12,2)", "DECIMAL(11,2)"}, datasets.Temperatures: {"DECIMAL(9,2)[]"},
	}
	for i, path := range exportFacts(t, k, data.Parquet) {
		f := datasets.Facts()[i]
		described := query(t, k, "SELECT column_name, column_type FROM (DESCRIBE FROM '"+path+"')")
		_, file := readParquet(t, path)
		if len(described) != len(f.Columns) {
			t.Fatalf("%s has %d columns, %d are in the catalogue", f.ID, len(described), len(f.Columns))
		}
		for j, c := range f.Columns {
			if d := described[j]; d["column_name"] != c.Name || !slices.Contains(types[c.Type], d["column_type"]) {
				t.Errorf("%s: column %d is %s %s, in the catalogue %s %s", f.ID, j, d["column_name"], d["column_type"], c.Name, c.Type)
			}
			if said, ok := file.Lookup("column." + c.Name); !ok || !strings.HasPrefix(said, c.Meaning) {
				t.Errorf("%s: the file describes %s as %q", f.ID, c.Name, said)
			}
		}
		for key, want := range map[string]string{"generator": "pmx", "dataset": f.ID, "schema_version": export.FactsVersion} {
			if said, _ := file.Lookup(key); said != want {
				t.Errorf("%s: %s is %q, want %q", f.ID, key, said, want)
			}
		}
	}
	for i, path := range exportFacts(t, k, data.CSV) {
		h, err := feeds.ReadHead(path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, c := range datasets.Facts()[i].Columns {
			names = append(names, c.Name)
		}
		if !slices.Equal(h.Columns, names) {
			t.Errorf("CSV has the columns %v, the catalogue %v", h.Columns, names)
		}
	}
}

// A CSV of facts may be opened in a spreadsheet: no cell is a formula, and import removes the
// apostrophes.
func TestFactsInCSVAreHarmless(t *testing.T) {
	k := openFacts(t, 1)
	const condition = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	mustImport(t, k,
		write(t, "m.ndjson", `{"condition_id":"`+condition+`","question":"＝1+1","slug":"-2","description":"\t+3","event_title":"'@x","outcomes":["=Yes","No"],"token_ids":["71","72"],"prices":[null,"0.5"]}`),
		write(t, "f.ndjson", `{"ts":"2026-03-01T10:00:00Z","address":"0x1111111111111111111111111111111111111111","token_id":"71","side":"BUY","shares":"1","usd":"0.5","username":"＠cmd"}`))
	b := openFacts(t, 1)
	paths := exportFacts(t, k, data.CSV)
	for _, path := range paths {
		for _, row := range readCSV(t, path) {
			for column, cell := range row {
				if cell != "" && strings.ContainsRune(data.FormulaStarts, []rune(cell)[0]) {
					t.Errorf("%s: %s is %q", filepath.Base(path), column, cell)
				}
			}
		}
	}
	mustImport(t, b, paths[:2]...) // the others have no rows
	if diff := cmp.Diff(facts(t, k), facts(t, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c := openFacts(t, 1) // lists keep null elements
	mustImport(t, c, exportFacts(t, k, data.Parquet)[:2]...)
	if diff := cmp.Diff(facts(t, k), facts(t, c)); diff != "" {
		t.Errorf("Parquet (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(paths[1])
	if err != nil || !strings.Contains(string(text), "'＝1+1") || !strings.Contains(string(text), "''@x") {
		t.Errorf("text = %s, err = %v", text, err)
	}
}

// Names, labels and sources with line ends, backslashes and escapes are restored from CSV, and
// every row of fills and of the weather is one line.
func TestLineEndsInFactsSurviveCSV(t *testing.T) {
	k := openFacts(t, 1)
	odd := []string{"a\nb", "a\r\nb\r", "\n", `a\nb`, `'\x`, "'\\\nb\\", "=1\n+2", "plain, \"quoted\"", "\\\\\n\\b\\r"}
	const condition = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	fills, weather, markets := "", "", ""
	for i, text := range odd {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		fills += fmt.Sprintf(`{"ts":"2026-03-01T10:00:00Z","address":"0x%040d","token_id":"%d","side":"BUY","shares":"1","usd":"0.5","username":%s,"outcome_label":%s}`, i+1, i+71, quoted, quoted) + "\n"
		weather += fmt.Sprintf(`{"city":"nyc","day":"2026-01-%02d","metric":"tmax","kind":"station","source":%s,"station":"KLGA","value":"20","unit":"C"}`, i+1, quoted) + "\n"
		markets += fmt.Sprintf(`{"condition_id":"%s%x","question":"Q?","description":%s,"outcomes":[],"token_ids":[]}`, condition[:65], i, quoted) + "\n"
	}
	mustImport(t, k, write(t, "f.ndjson", fills), write(t, "a.ndjson", weather), write(t, "m.ndjson", markets))
	paths := exportFacts(t, k, data.CSV)
	var full []string
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rows := readCSV(t, path)
		if len(rows) > 0 {
			full = append(full, path)
		}
		if lines := strings.Count(string(text), "\n"); i != 1 && lines != len(rows)+1 { // descriptions may have several lines
			t.Errorf("%s has %d rows on %d lines", path, len(rows), lines)
		}
	}
	b := openFacts(t, 1)
	mustImport(t, b, full...)
	if diff := cmp.Diff(facts(t, k), facts(t, b)); diff != "" || len(full) < 3 {
		t.Errorf("%d files (-want +got):\n%s", len(full), diff)
	}
}

// A single file of fills has them in the order of the database, also if several threads write it, if
// some wallets have no name and some tokens no market, and if there are more tokens than fills.
func TestFillsAreExportedInTheOrderOfTheDatabase(t *testing.T) {
	for _, c := range []struct{ fills, tokens int }{{600_000, 6000}, {200_000, 600_000}} {
		k := openFacts(t, 2)
		err := k.DB().Write(context.Background(), func(conn *sql.Conn) error {
			_, err := conn.ExecContext(context.Background(), fmt.Sprintf(`INSERT INTO wallets SELECT n, unhex(printf('%%040x', n)) FROM range(6000) AS r(n);
INSERT INTO wallet_names SELECT n, 'w' || n, 0 FROM range(0, 6000, 2) AS r(n);
INSERT INTO markets BY NAME SELECT n AS market, unhex(printf('%%064x', n)) AS condition, '{}' AS field_versions FROM range(3000) AS r(n);
INSERT INTO tokens (token, token_id, market, outcome) SELECT n, 71 + n, CASE WHEN n %% 100 > 0 THEN n %% 3000 END, 0 FROM range(%d) AS r(n);
INSERT INTO fills SELECT 1700000000 + n, 0, hash(n) %% 6000, hash(n + 1) %% %d, 0, 0, 2000000, 1000000, 0, NULL, NULL, 1, 0, NULL FROM range(%d) AS r(n)`,
				c.tokens, c.tokens, c.fills))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range formats(data.Parquet) {
			path, rows, err := k.Exporter().WriteFacts(context.Background(), k.DB().Dir().Tmp(), "fills", format, nil)
			if err != nil || rows != int64(c.fills) {
				t.Fatalf("%s: %d rows, err = %v", format, rows, err)
			}
			if back := query(t, k, "SELECT count(*) AS n FROM (SELECT ts < lag(ts) OVER () AS back FROM '"+path+"') AS k WHERE back")[0]["n"]; back != "0" {
				t.Errorf("%+v, %s: %s fills come after a later one", c, format, back)
			}
		}
	}
}
