package e2e_test

import (
	"strconv"
	"testing"

	"pmx/http/wire"
)

// The catalogue's approximate rows are the markets and wallets of the database;
// the sample has no wallets of the venue's own.
func TestCatalogueCountsRows(t *testing.T) {
	v := readSample(t)
	count := func(query string) int64 {
		n, err := strconv.ParseInt(v.table(query)[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	wallets := count(`SELECT count(DISTINCT wallet) FROM fills`)
	want := map[string]int64{
		"markets": count(`SELECT count(*) FROM markets`), "trader_leaderboard": wallets, "wallet_pnl": wallets,
		"oracle_accuracy": count(`
			SELECT count(DISTINCT wallet) FROM (
			  SELECT f.wallet, f.token, sum(CASE f.side WHEN 0 THEN f.shares - f.fee ELSE -f.shares END) AS held
			  FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
			  WHERE m.payouts IS NOT NULL AND f.ts <= m.resolved_at
			  GROUP BY f.wallet, f.token) WHERE held > 0`),
	}
	for _, d := range reply[wire.Catalogue](v, "/research/datasets").Data {
		if d.ApproximateRows != want[d.ID] {
			t.Errorf("%s: %d rows, the catalogue says %d", d.ID, want[d.ID], d.ApproximateRows)
		}
	}
}
