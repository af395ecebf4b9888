package export_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// keptFacts are factTables with all columns of markets except for their ids, and with the labels of
// tokens.
func keptFacts(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	was := factTables
	defer func() { factTables = was }()
	factTables = map[string]string{}
	for name, query := range was {
		factTables[name] = query
	}
	factTables["markets"] = "SELECT * EXCLUDE (market) FROM markets"
	factTables["tokens"] = `SELECT t.token_id, t.outcome, t.derived, hex(t.named.condition) AS named, t.named.label AS label, hex(m.condition) AS condition
FROM tokens AS t LEFT JOIN markets AS m USING (market)`
	return facts(t, k)
}

// formats returns all formats of facts in a long run, and the test's choice in a short one.
func formats(short ...data.Format) []data.Format {
	if testfiles.Long() {
		return export.Formats
	}
	return short
}

// roundTrip exports all facts of k in each format and imports them elsewhere.
func roundTrip(t *testing.T, k *keeper.Keeper, formats []data.Format) {
	t.Helper()
	want := keptFacts(t, k)
	for _, format := range formats {
		other := openFacts(t, several)
		var paths []string
		for i, path := range exportFacts(t, k, format) {
			if n := query(t, k, "SELECT count(*) AS n FROM "+map[int]string{0: "fills", 1: "markets", 2: "markets WHERE payouts IS NOT NULL", 3: "weather_issue",
				4: "weather_report", 5: "weather_obs", 6: "weather_normal WHERE NOT starts_with(source, 'derived:')"}[i])[0]["n"]; n != "0" {
				paths = append(paths, path)
			}
		}
		mustImport(t, other, paths...)
		if diff := cmp.Diff(want, keptFacts(t, other)); diff != "" {
			t.Errorf("%s (-want +got):\n%.4000s", format, diff)
		}
	}
}

// Values of markets besides their lists are restored: tokens that another feed mapped, an unknown
// category, prices without outcomes, lists of other lengths.
func TestFactsKeepWhatListsDoNotSay(t *testing.T) {
	testfiles.InLong(t, "TestAllFilesSurviveAnExport imports the exported markets of all feeds")
	k := openFacts(t, 1)
	const a, b = "0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	mustImport(t, k,
		write(t, "m.ndjson", `{"condition_id":"`+a+`","question":"","slug":"nba-game-1","outcomes":[],"token_ids":[],"prices":["0","0"],"category_source":"","tags":[],"mapped_tokens":["1:72","0:71"]}
{"condition_id":"`+b+`","question":"q","outcomes":["Yes","No"],"token_ids":["81","82"],"mapped_tokens":["0:83"],"updated_at":"2026-03-01T10:00:00Z"}`),
		write(t, "longer.ndjson", `{"condition_id":"`+b+`","question":"q","outcomes":["Yes","No","Else"],"token_ids":[],"mapped_tokens":[],"prices":["0.5"],"updated_at":"2026-03-02T10:00:00Z"}`),
		write(t, "f.ndjson", `{"ts":"2026-03-01T10:00:00Z","address":"0x1111111111111111111111111111111111111111","token_id":"71","side":"BUY","shares":"1","usd":"0.5","condition_id":"`+a+`","outcome_label":"Up"}
{"ts":"2026-03-01T10:00:00Z","address":"0x1111111111111111111111111111111111111111","token_id":"99","side":"BUY","shares":"1","usd":"0.5"}`))
	for query1, want := range map[string]string{
		"SELECT count(*) AS n FROM tokens WHERE market IS NOT NULL":                                                                         "5",
		"SELECT count(*) AS n FROM markets WHERE category IS NULL AND prices = '[0,0]' AND slug = 'nba-game-1'":                             "1",
		"SELECT count(*) AS n FROM markets WHERE json_array_length(outcomes) = 3 AND json_array_length(token_ids) = 2 AND prices = '[0.5]'": "1",
	} {
		if n := query(t, k, query1)[0]["n"]; n != want {
			t.Fatalf("%s: n = %s, want %s", query1, n, want)
		}
	}
	roundTrip(t, k, formats(data.CSV))
}

// Versions of fields and a hidden quote are restored: the next record is merged with the same
// result as in the original database.
func TestFactsKeepTheVersionsOfFields(t *testing.T) {
	testfiles.InLong(t, "TestAllFilesSurviveAnExport imports the exported markets of all feeds")
	k := openFacts(t, 1)
	const question = `","question":"q","outcomes":["Yes","No"],"token_ids":[],`
	record := func(n int, day, more string) string {
		return fmt.Sprintf(`{"condition_id":"0x%064x`, n) + question + more + `"updated_at":"2026-03-` + day + `T10:00:00.000001Z"}` + "\n"
	}
	table := fmt.Sprintf("condition_id,question,outcomes,token_ids,liquidity,updated_at\n0x%064x,q,,,7,2026-03-09T10:00:00Z\n", 5)
	files := []string{
		write(t, "a.ndjson", record(1, "01", `"tags":["sports"],"best_bid":"0.4","best_ask":"0.5",`)+record(2, "01", `"best_bid":"0.4","liquidity":"9",`)+
			record(3, "01", `"closed_at":"2026-02-01T10:00:00Z",`)+record(4, "01", `"tags":["politics"],"closed":true,"last_price":"0.3",`)),
		write(t, "b.ndjson", record(1, "03", `"series_slug":"s",`)+record(2, "03", `"closed":true,"last_price":"0.2",`)+record(3, "02", `"closed":false,`)),
		write(t, "c.ndjson", record(3, "04", `"closed":true,`)),
		write(t, "d.csv", table),
		write(t, "t.json", fmt.Sprintf(`[{"proxyWallet":"0x1111111111111111111111111111111111111111","side":"BUY","asset":"71","conditionId":"0x%064x","size":10,"price":0.5,`+
			`"timestamp":1767000000,"title":"Zebra?","slug":"zebra","outcomeIndex":0,"transactionHash":"0x%064x"}]`, 6, 1)),
	}
	mustImport(t, k, files...)
	if got := query(t, k, `SELECT count(field_versions) AS n, count(*) FILTER (quote IS NULL) AS unsaid, count(unquoted_at) AS unquoted,
count(*) FILTER (closed AND quote.last IS NOT NULL) AS hidden FROM markets`)[0]; got["n"] != "3" || got["unsaid"] != "1" || got["unquoted"] != "1" || got["hidden"] != "2" {
		t.Errorf("got %v", got)
	}
	roundTrip(t, k, formats(data.Parquet))
	older := write(t, "e.ndjson", record(1, "02", `"tags":["weather"],`)+record(3, "03", `"closed_at":"2026-02-02T10:00:00Z",`)+record(6, "01", `"slug":"ant",`))
	mustImport(t, k, older)
	want := keptFacts(t, k)["markets"]
	roundTrip(t, k, formats(data.NDJSON))
	k = openFacts(t, 1)
	mustImport(t, k, append(files, older)...)
	other := openFacts(t, 1)
	mustImport(t, other, older)
	mustImport(t, other, exportFacts(t, k, "csv")[1])
	if diff := cmp.Diff(want, keptFacts(t, other)["markets"]); diff != "" {
		t.Errorf("imported after an older record (-want +got):\n%s", diff)
	}
}

// All test files of the feeds, and captured data if available, give the same facts after an export
// in each format and an import; in a short run only in CSV, which has no types.
func TestAllFilesSurviveAnExport(t *testing.T) {
	k := openFacts(t, several)
	folders := []string{testfiles.Path("feeds", "slices")}
	if testfiles.Long() {
		folders[0] = testfiles.Path("feeds")
		for _, name := range []string{"B_markets", "A_trades", "G_live"} {
			if path, ok := testfiles.Beside(name); ok {
				folders = append(folders, path)
			}
		}
	}
	for _, folder := range folders {
		if _, err := k.Import(context.Background(), keeper.Request{Paths: []string{folder}, OnError: ingest.RejectRow}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, rows := range keptFacts(t, k) {
		if len(rows) < 2 {
			t.Errorf("%d %s: too few for this test", len(rows), name)
		}
	}
	roundTrip(t, k, formats(data.CSV))
}
