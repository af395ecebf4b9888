package keeper_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/export"
)

// TestMarketsSurviveARoundTrip: markets that are exported in any format and imported elsewhere give
// the same facts, including quotes and the weather desk. A short run tries one format: the
// exporter's tests read back what it writes in each.
func TestMarketsSurviveARoundTrip(t *testing.T) {
	testfiles.InLong(t, "TestAllFilesSurviveAnExport imports the exported markets of all feeds")
	a := open(t, t.TempDir())
	mustImport(t, a, listed())
	mustImport(t, a, write(t, "unlabelled.json", `[{"conditionId":"0x`+strings.Repeat("7", 64)+`","question":"Who?","slug":"who",
		"outcomes":"[]","clobTokenIds":"[\"71\", \"72\"]","outcomePrices":"[\"0.25\", \"0.75\"]"}]`))
	if n := count(t, a, "SELECT count(*) FROM markets WHERE outcomes IS NULL AND prices = '[0.25,0.75]'"); n != 1 {
		t.Fatalf("%d markets without labels", n)
	}
	if n := count(t, a, "SELECT count(*) FROM markets WHERE best_bid IS NOT NULL AND prices IS NOT NULL AND accepting_orders"); n < 50 {
		t.Fatalf("%d markets have quotes", n)
	}
	for _, format := range export.Formats[:testfiles.Cases(1, len(export.Formats))] {
		b := open(t, t.TempDir())
		path, _, err := a.Exporter().WriteFacts(t.Context(), a.DB().Dir().Tmp(), "conditions", format, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := mustImport(t, b, path)[0]; r.RejectedRows() != 0 {
			t.Errorf("%s: r = %+v", format, r)
		}
		for _, query := range []string{
			"SELECT to_json(w)::VARCHAR FROM (SELECT * EXCLUDE (market) FROM markets) AS w ORDER BY 1",
			"SELECT to_json(w)::VARCHAR FROM (SELECT d.* EXCLUDE (market), hex(m.condition) FROM desk_market AS d JOIN markets AS m USING (market)) AS w ORDER BY 1",
			"SELECT to_json(w)::VARCHAR FROM (SELECT t.outcome, t.token_id, hex(m.condition) FROM tokens AS t JOIN markets AS m USING (market)) AS w ORDER BY 1",
		} {
			if diff := cmp.Diff(table(t, a, query), table(t, b, query)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", format, diff)
			}
		}
		alsoVerify(t, b)
	}
}
