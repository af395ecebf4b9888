package e2e_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/http/wire"
)

// plainDeskTraders ranks wallets by what they made of temperature markets, from
// fills, tokens and markets alone: in the sample every event of a city's series is on the
// desk, and no other.
const plainDeskTraders = `WITH desk AS (
  SELECT market, payouts FROM markets WHERE series_slug LIKE '%-daily-weather'
),
mine AS (
  SELECT f.*, d.market, d.payouts[t.outcome + 1] AS payout
  FROM fills AS f JOIN tokens AS t USING (token) JOIN desk AS d ON d.market = t.market
),
per_market AS (
  SELECT wallet, market, count(*) AS fills, sum(usd) FILTER (side = 0) AS buys, sum(usd) FILTER (side = 1) AS sells,
    sum(fee) FILTER (side = 1) AS fees, min(ts) AS first, max(ts) AS last, bool_or(payout IS NOT NULL) AS resolved,
    round(sum(CASE WHEN side = 0 THEN shares - fee ELSE -shares END::DECIMAL(38, 0) * payout) / 1000000)::BIGINT AS paid
  FROM mine GROUP BY wallet, market
),
wallet AS (
  SELECT wallet, sum(fills) AS fills, coalesce(sum(buys), 0) AS buys, coalesce(sum(sells), 0) AS sells, coalesce(sum(fees), 0) AS fees,
    coalesce(sum(paid), 0) AS paid, count(*) AS markets, count(*) FILTER (resolved) AS resolved,
    count(*) FILTER (resolved AND coalesce(sells, 0) - coalesce(buys, 0) - coalesce(fees, 0) + coalesce(paid, 0) > 0) AS won,
    min(first) // 1000000 AS first, max(last) // 1000000 AS last
  FROM per_market GROUP BY wallet
),
figure AS (SELECT *, sells - buys - fees + paid AS pnl, buys + sells AS volume FROM wallet)
SELECT concat_ws(' ', rank() OVER (ORDER BY @first DESC), lower(hex(w.address)), pnl, pnl - paid, paid, volume, buys, sells, fees, fills, markets,
  resolved, won, first, last)
FROM figure JOIN wallets AS w USING (wallet)
ORDER BY @first DESC, @second DESC, w.address`

// checkDeskTraders compares every row with the facts and returns the number of wallets.
func checkDeskTraders(v *venue, when string) int {
	v.t.Helper()
	orders := []string{"real_pnl", "volume"}
	column := map[string]string{"real_pnl": "pnl", "volume": "volume"}
	total := 0
	for i, sort := range orders {
		want := v.table(strings.NewReplacer("@first", column[sort], "@second", column[orders[1-i]]).Replace(plainDeskTraders))
		r := reply[wire.WeatherTraders](v, "/weather/traders?limit=200&sort="+sort)
		if total = len(want); r.Total != total || r.Scope != "desk" || r.Sort != sort {
			v.t.Errorf("%s: %d wallets by %s, want %d", when, r.Total, r.Sort, total)
		}
		var got []string
		for _, w := range r.Data {
			got = append(got, asPlain(w.Rank, w.Address[2:], w.RealPnL, w.NetCash, w.RedemptionValue, w.Volume, w.BuyVolumeUSD, w.SellVolumeUSD,
				w.FeesUSD, w.Trades, w.UniqueMarkets, w.ResolvedMarkets, w.WinningMarkets, w.FirstTradeAt.Unix(), w.LastTradeAt.Unix()))
		}
		if diff := cmp.Diff(want[:min(200, len(want))], got); diff != "" {
			v.t.Errorf("%s, by %s (-facts +API):\n%s", when, sort, diff)
		}
	}
	return total
}

// TestWeatherTradersEqualPlainSQLOnTheSampleVenue imports the sample in pieces: some
// fills before their markets are described, and more after.
func TestWeatherTradersEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	testfiles.InLong(t, "TestTheDesksTradersAreTheDefinitionHoweverTheDeskChanges imports random desks with late markets")
	from := filepath.Join(t.TempDir(), "venue")
	man, err := sample.Write(t.Context(), sample.Config{Fills: 24_000, FileRows: int64(testfiles.Cases(4_000, 1_500)), Days: testfiles.Cases(8, 0)}, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	var fills []string
	for _, f := range man.FillFiles {
		fills = append(fills, filepath.Join(from, f.Name))
	}
	v := newVenue(t)
	slices.Reverse(fills) // the newest have the weather
	v.load(fills[:2]...)
	if n := checkDeskTraders(v, "without markets"); n != 0 {
		t.Errorf("%d traders of unknown markets", n)
	}
	v.load(filepath.Join(from, man.EventsFile.Name))
	some := checkDeskTraders(v, "described late")
	for part := range slices.Chunk(fills[2:], testfiles.Cases(2, 6)) {
		v.load(part...)
		checkDeskTraders(v, filepath.Base(part[0]))
	}
	all := checkDeskTraders(v, "whole")
	if some == 0 || all <= some {
		t.Errorf("%d traders after one file, %d after all", some, all)
	}
	if testfiles.Long() { // the rebuild shows it in a short run
		v.proved()
	}
	if err := v.keeper.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	checkDeskTraders(v, "after a rebuild")
}
