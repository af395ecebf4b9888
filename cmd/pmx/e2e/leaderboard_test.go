package e2e_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/http/wire"
)

// plainPolitics ranks wallets by volume in a week's politics: fills, and what was paid for markets resolved in it.
const plainPolitics = `WITH span AS (SELECT max(ts) - 604800000000 AS lo FROM fills), cash AS (
  SELECT f.wallet, count(*) AS n, sum(f.usd) AS volume, sum(if(f.side = 1, f.usd - f.fee, -f.usd)) AS cash,
    sum(if(m.payouts IS NULL, if(f.side = 1, f.usd - f.fee, -f.usd), 0)) AS open
  FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m USING (market)
  WHERE m.category = 'politics' AND f.ts > (SELECT lo FROM span) GROUP BY f.wallet
), net AS (
  SELECT f.wallet, t.market, t.outcome, any_value(m.payouts) AS payouts, sum(if(f.side = 0, f.shares - f.fee, -f.shares)) AS net
  FROM fills AS f JOIN tokens AS t USING (token) JOIN markets AS m USING (market)
  WHERE m.category = 'politics' AND m.payouts IS NOT NULL AND m.resolved_at > (SELECT lo FROM span) AND m.resolved_at <= (SELECT max(ts) FROM fills)
  GROUP BY f.wallet, t.market, t.outcome
), paid AS (
  SELECT wallet, sum(usd)::BIGINT AS usd FROM (SELECT wallet, round(sum(net::DECIMAL(28, 0) * payouts[outcome + 1]) / 1000000.0)::BIGINT AS usd FROM net GROUP BY wallet, market) GROUP BY wallet
)
SELECT concat_ws(' ', '0x' || lower(hex(w.address)), coalesce(n, 0), coalesce(volume, 0), coalesce(cash, 0), coalesce(p.usd, 0), coalesce(open, 0))
FROM cash AS c FULL JOIN paid AS p USING (wallet) JOIN wallets AS w USING (wallet)
ORDER BY coalesce(volume, 0) DESC, coalesce(cash, 0) + coalesce(p.usd, 0) DESC, w.address LIMIT 200`

func TestLeaderboardsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	var lines []string
	for _, r := range reply[wire.RankedList[wire.TraderRow]](v, "/leaderboard/traders?category=Politics&sort=volume&include=split&limit=200").Data {
		lines = append(lines, fmt.Sprint(r.Address, " ", r.Trades, " ", micros(r.Volume), " ", micros(r.NetCash), " ", micros(r.RedemptionValue), " ", micros(*r.UnresolvedCash)))
		if *r.ResolvedPnL+*r.UnresolvedCash != r.RealPnL {
			t.Errorf("%s: %s and %s are not %s", r.Address, *r.ResolvedPnL, *r.UnresolvedCash, r.RealPnL)
		}
	}
	if diff := cmp.Diff(v.table(plainPolitics), lines); diff != "" || len(lines) < 50 {
		t.Errorf("%d rows (-facts +API):\n%s", len(lines), diff)
	}
}

// What is read from the database ranks like the snapshot, and a spark equals the days of a wallet.
func TestTheRankedListIsTheLeaderboard(t *testing.T) {
	v := readSample(t)
	for _, period := range []string{"1d", "7d", "30d"} {
		want := reply[wire.RankedList[wire.TraderRow]](v, "/leaderboard/traders?limit=200&period="+period).Data
		got := reply[wire.RankedList[wire.TraderRow]](v, "/leaderboard/traders?limit=200&include=spark&include=previous_rank&period="+period).Data
		for i := range got {
			if i < 3 {
				checkSpark(v, &got[i])
			}
			got[i].Spark, got[i].PreviousRank = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 200 {
			t.Errorf("%s: %d rows (-snapshot +database):\n%s", period, len(got), diff)
		}
	}
}

func checkSpark(v *venue, r *wire.TraderRow) {
	v.t.Helper()
	if len(r.Spark) != 30 {
		v.t.Fatalf("%s: r.Spark = %v", r.Address, r.Spark)
	}
	days := reply[wire.Series[wire.TraderComparison]](v, "/trader/compare?series=daily&days=30&address="+r.Address).Data[0].Days
	if len(days) == 0 {
		v.t.Fatalf("%s is on a leaderboard and has no days", r.Address)
	}
	first, last := days[0], days[len(days)-1]
	if want := last.CumulativePnL - first.CumulativePnL + first.RealPnL; r.Spark[29] != want {
		v.t.Errorf("%s: the spark ends at %s, the days add up to %s", r.Address, r.Spark[29], want)
	}
}
