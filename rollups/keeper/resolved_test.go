package keeper_test

import (
	"fmt"
	"strings"
	"testing"
)

const rainy = "0x00000000000000000000000000000000000000000000000000000000000000c1"

// TestTheBestTimeOfAResolutionStands: the chain's time is better than an oracle's, that better than
// the closed time, and that better than the end date, in any order of import.
func TestTheBestTimeOfAResolutionStands(t *testing.T) {
	resolution := func(source, at, by string) string {
		return "condition,payouts,resolved_at,resolved_at_source,source\n" + rainy + `,"[""1"",""0""]",` + at + "," + by + "," + source + "\n"
	}
	market := func(closed, ends string) string {
		return fmt.Sprintf(`{"condition":%q,"question":"Q?","outcomes":["Yes","No"],"tokens":["71","72"],"closed_at":%q,"end_at":%q}`+"\n", rainy, closed, ends)
	}
	files := []struct{ name, text, at, by string }{
		{"list.csv", resolution("map", "2026-01-09T00:00:00Z", ""), "", ""},
		{"ends.ndjson", market("", "2026-01-08T00:00:00Z"), "2026-01-08 00:00:00", "1"},
		{"closed.ndjson", market("2026-01-07T00:00:00Z", ""), "2026-01-07 00:00:00", "2"},
		{"oracle.csv", resolution("map", "2026-01-06T00:00:00Z", "oracle"), "2026-01-06 00:00:00", "3"},
		{"chain.csv", resolution("chain", "2026-01-05T00:00:00Z", ""), "2026-01-05 00:00:00", "4"},
	}
	const now = "SELECT coalesce(make_timestamp(resolved_at)::VARCHAR, ''), coalesce(resolved_at_source::VARCHAR, '') FROM markets"
	up, down := openFacts(t, t.TempDir()), openFacts(t, t.TempDir())
	for _, f := range files {
		mustImport(t, up, write(t, f.name, f.text))
		if got, want := strings.TrimSpace(table(t, up, now)), f.at+"|"+f.by+"|"; got != want {
			t.Errorf("with %s: resolved at %q, want %q", f.name, got, want)
		}
	}
	for i := range files {
		mustImport(t, down, write(t, files[len(files)-1-i].name, files[len(files)-1-i].text))
	}
	const all = "SELECT to_json(m)::VARCHAR FROM (SELECT * EXCLUDE (market) FROM markets) AS m"
	if a, b := table(t, up, all), table(t, down, all); a != b {
		t.Errorf("the order of files matters:\n%s\n%s", a, b)
	}
}

// TestAnEndDateBehindTheResolutionIsNoTimeOfIt: a record from before the market was due to end that
// has the winner proves that the market was resolved earlier.
func TestAnEndDateBehindTheResolutionIsNoTimeOfIt(t *testing.T) {
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "early.json", `[{"conditionId":"`+rainy+`","question":"Q?","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"71\",\"72\"]",
		"closed":true,"umaResolutionStatus":"resolved","outcomePrices":"[\"1\",\"0\"]","endDate":"2026-12-31T00:00:00Z","updatedAt":"2026-02-01T00:00:00Z"}]`))
	if n := count(t, k, "SELECT count(*) FROM markets WHERE payouts IS NOT NULL AND resolved_at IS NULL AND resolved_at_source IS NULL"); n != 1 {
		t.Errorf("%d markets resolved at an unknown time, want 1", n)
	}
}
