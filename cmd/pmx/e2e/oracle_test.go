package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/http/wire"
)

// near rounds a quotient of whole numbers, halves away from zero.
func near(x, y string) string {
	return strings.NewReplacer("X", x, "Y", y).Replace("(sign(X)::INT * ((2 * abs(X)::HUGEINT + Y) // (2 * Y)))")
}

// plainForecasts computes every forecast from the facts, in millionths: p is the average price that
// the wallet paid, b the average price of the outcome.
var plainForecasts = `forecasts AS (
  WITH fill AS (
    SELECT f.*, t.market, t.outcome, m.payouts[t.outcome + 1] AS payout, m.category
    FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
    WHERE m.payouts IS NOT NULL
  ), traded AS (
    SELECT market, outcome, bool_or(role <> 1 AND shares > 0) AS taken FROM fill GROUP BY market, outcome
  ), average AS (
    SELECT market, outcome, least(` + near("(sum(usd) * 1000000)", "sum(shares)") + `, 1000000) AS b
    FROM fill JOIN traded USING (market, outcome) WHERE role <> 1 OR NOT taken GROUP BY market, outcome
  ), held AS (
    SELECT wallet, market, outcome, any_value(payout) AS o, any_value(category) AS category,
      sum(if(side = 0, shares - fee, -shares)) AS net, sum(usd) FILTER (side = 0) AS paid, sum(shares) FILTER (side = 0) AS bought
    FROM fill GROUP BY wallet, market, outcome
  )
  SELECT address, o, b, category, paid, least(` + near("(paid * 1000000)", "bought") + `, 1000000) AS p
  FROM held JOIN average USING (market, outcome) JOIN wallets USING (wallet) WHERE net > 0
)`

// plainLeaderboard is the leaderboard; ? is the minimum number of forecasts. Squares of millionths
// divided by a million are millionths again.
var plainLeaderboard = `WITH ` + plainForecasts + `, score AS (
  SELECT address, count(*) AS n, sum((p - o) * (p - o)) AS error, sum((b - o) * (b - o)) AS baseline, sum(o - p) AS edge,
    count(*) FILTER (o > 500000) AS came, sum(paid) AS paid
  FROM forecasts GROUP BY address
)
SELECT concat_ws(' ', '0x' || lower(hex(address)), n, ` + near("error", "(n * 1000000)") + `, ` + near("baseline", "(n * 1000000)") + `, ` +
	near("edge", "n") + `, ` + near("(came * 100000000)", "n") + `, paid)
FROM score WHERE n >= ? ORDER BY error::DOUBLE / n, n DESC, address`

// plainBins: ? is an address in hexadecimal.
var plainBins = `WITH ` + plainForecasts + `, binned AS (
  SELECT least(p // 100000, 9) AS bin, * FROM forecasts WHERE address = unhex(substr(?, 3))
)
SELECT concat_ws(' ', bin, count(*), ` + near("sum(p)", "count(*)") + `, ` + near("sum(o)", "count(*)") + `) FROM binned GROUP BY bin ORDER BY bin`

var plainCategories = `WITH ` + plainForecasts + `
SELECT concat_ws(' ', coalesce(category, '-'), count(*), ` + near("sum((p - o) * (p - o))", "(count(*) * 1000000)") + `, sum(paid))
FROM forecasts WHERE address = unhex(substr(?, 3)) GROUP BY category ORDER BY count(*) DESC, coalesce(category, '')`

func TestForecastsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	for _, atLeast := range []int{1, 20, 35} {
		leaderboard := reply[wire.OracleLeaderboard](v, fmt.Sprintf("/oracle/leaderboard?limit=200&min_resolved=%d", atLeast))
		want := v.table(plainLeaderboard, atLeast)
		if leaderboard.Total != len(want) || leaderboard.Total == 0 {
			t.Fatalf("from %d: total %d, want %d", atLeast, leaderboard.Total, len(want))
		}
		var got []string
		for _, r := range leaderboard.Data {
			got = append(got, asPlain(r.Address, r.ResolvedForecasts, r.Brier, r.BrierBaseline, r.Edge, r.AccuracyPct, r.ForecastVolume))
		}
		if diff := cmp.Diff(want[:len(got)], got); diff != "" {
			t.Errorf("from %d (-facts +API):\n%s", atLeast, diff)
		}
		for i, r := range leaderboard.Data {
			if i%testfiles.Cases(40, 10) == 0 {
				checkForecaster(v, &r, atLeast)
			}
		}
	}
}

// checkForecaster compares the details of a ranked wallet with its row and the facts.
func checkForecaster(v *venue, row *wire.OracleRow, atLeast int) {
	v.t.Helper()
	d := reply[wire.One[wire.OracleTrader]](v, "/oracle/trader/"+row.Address).Data
	s := d.OracleScore
	if s.ResolvedForecasts != row.ResolvedForecasts || *s.Brier != row.Brier || *s.BrierBaseline != row.BrierBaseline || *s.Edge != row.Edge ||
		*s.AccuracyPct != row.AccuracyPct || s.ForecastVolume != row.ForecastVolume || d.Volume != row.Volume || d.RealPnL != row.RealPnL {
		v.t.Errorf("%s: leaderboard %+v, details %+v", row.Address, row, s)
	}
	if atLeast == 20 && (d.Rank == nil || *d.Rank != row.Rank) {
		v.t.Errorf("%s: rank %v, on the leaderboard %d", row.Address, d.Rank, row.Rank)
	}
	if m := d.Murphy; *m.Reliability-*m.Resolution+*m.Uncertainty+*m.WithinBins != *s.Brier {
		v.t.Errorf("%s: the parts %+v do not add up to %s", row.Address, m, s.Brier)
	}
	var bins, categories []string
	for i, b := range d.Calibration {
		if b.Forecasts > 0 {
			bins = append(bins, asPlain(i, b.Forecasts, *b.MeanProbability, *b.MeanPayout))
		}
	}
	if diff := cmp.Diff(v.table(plainBins, row.Address), bins); diff != "" {
		v.t.Errorf("calibration of %s (-facts +API):\n%s", row.Address, diff)
	}
	for _, c := range d.Categories {
		categories = append(categories, asPlain(orDash(c.Category), c.ResolvedForecasts, *c.Brier, c.ForecastVolume))
	}
	if diff := cmp.Diff(v.table(plainCategories, row.Address), categories); diff != "" {
		v.t.Errorf("categories of %s (-facts +API):\n%s", row.Address, diff)
	}
}
