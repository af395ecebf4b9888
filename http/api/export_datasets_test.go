package api_test

import (
	"strings"
	"testing"

	"pmx/data/datasets"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// Every plan may read the catalogue; the export section alone is locked.
func TestCatalogueIsOpenToEveryPlan(t *testing.T) {
	snap := apitest.Snapshot(1, 2, 3)
	snap.Counts = serving.Counts{Markets: 17, Wallets: 2}
	v := newVenue(t, snap)
	want := map[string]int64{"markets": 17, "trader_leaderboard": 2, "wallet_pnl": 2, "oracle_accuracy": 0}
	for _, tier := range access.Tiers() {
		c := exact[wire.Catalogue](t, v.get(tier, "/research/datasets").Body())
		if c.Truncated || len(c.Data) != 4 {
			t.Fatalf("%s: %+v", tier, c)
		}
		for i, d := range datasets.All() {
			got := c.Data[i]
			if got.ID != d.ID || got.MaxRows != 2_000_000 || len(got.Columns) != len(d.Columns) || got.Columns[0].Meaning == "" {
				t.Errorf("%s: got %+v", tier, got)
			}
			if len(got.Usage) != len(d.Formats) || got.Usage[0].Format != d.Formats[0] || !strings.Contains(got.Usage[0].Pandas, got.Usage[0].FileName) ||
				!strings.Contains(got.Usage[0].DuckDB, got.Usage[0].FileName) {
				t.Errorf("%s has the usage %+v", d.ID, got.Usage)
			}
			if got.ApproximateRows != want[d.ID] {
				t.Errorf("%s has %d rows, want %d", d.ID, got.ApproximateRows, want[d.ID])
			}
		}
	}
}
