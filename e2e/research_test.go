package e2e_test

import (
	"strconv"
	"testing"

	"pmx/http/wire"
)

// The catalogue's approximate rows are the markets and wallets of the database;
// the sample has no wallets of the venue's own.
func TestCatalogueCountsRows(t *testing.T) {
	v := newSample(t)
	count := func(query string) int64 {
		n, err := strconv.ParseInt(v.table(query)[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	wallets := count(`SELECT count(DISTINCT wallet) FROM fills`)
	want := map[string]int64{"markets": count(`SELECT count(*) FROM markets`), "trader_leaderboard": wallets, "wallet_pnl": wallets}
	for _, d := range reply[wire.Catalogue](v, "/research/datasets").Data {
		if rows, known := want[d.ID]; known && (d.ApproximateRows == nil || *d.ApproximateRows != rows) {
			t.Errorf("%s: %d rows, the catalogue says %v", d.ID, rows, *d.ApproximateRows)
		}
	}
}
