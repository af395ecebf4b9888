package export_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/engine/ingest"
	"pmx/rollups/keeper"
)

// keptFacts are factTables with what tokens are called, and without what is not exported:
// what order books said that newer records of pages without quotes, or the end of the
// market, have hidden.
func keptFacts(t *testing.T, k *keeper.Keeper) map[string][]string {
	t.Helper()
	was := factTables
	defer func() { factTables = was }()
	factTables = map[string]string{}
	for name, query := range was {
		factTables[name] = query
	}
	factTables["markets"] = "SELECT * EXCLUDE (market, quote, unquoted_at) FROM markets"
	factTables["tokens"] = `SELECT t.token_id, t.outcome, t.derived, hex(t.named.condition) AS named, t.named.label AS label, hex(m.condition) AS condition
FROM tokens AS t LEFT JOIN markets AS m USING (market)`
	return facts(t, k)
}

// roundTrip exports all facts of k in each format and imports them elsewhere.
func roundTrip(t *testing.T, k *keeper.Keeper) {
	t.Helper()
	want := keptFacts(t, k)
	for _, format := range export.Formats {
		other := open(t, 2)
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

// What sources say of markets besides their lists comes back: tokens that another feed
// mapped, a category that nothing told, prices without outcomes, lists of other lengths.
func TestFactsKeepWhatListsDoNotSay(t *testing.T) {
	k := open(t, 1)
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
			t.Fatalf("%s: %s, want %s", query1, n, want)
		}
	}
	roundTrip(t, k)
}

// Every file that the feeds are tested with, and the captured data where it is there,
// comes back from an export in each format as the same facts.
func TestAllFilesSurviveAnExport(t *testing.T) {
	k := open(t, 2)
	folders := []string{testfiles.Path("feeds")}
	if captured := filepath.Join(testfiles.Root(), "..", "shared", "data"); !testing.Short() {
		for _, name := range []string{"B_markets", "A_trades", "G_live"} {
			if _, err := os.Stat(filepath.Join(captured, name)); err == nil {
				folders = append(folders, filepath.Join(captured, name))
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
			t.Errorf("%d %s: too few to tell", len(rows), name)
		}
	}
	roundTrip(t, k)
}
