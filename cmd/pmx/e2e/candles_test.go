package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/http/wire"
)

// plainCandles are a market's candles for a number of hours, written independently of pmx. ?:
// hours, condition id.
const plainCandles = `WITH f AS (
  SELECT f.ts - f.ts % (3600000000 * ?::BIGINT) AS start, t.outcome, f.usd, f.shares, f.ts, coalesce(f.log_index, -1) AS place,
    least(round(f.usd::DECIMAL(38, 0) / f.shares * 1000000)::BIGINT, 1000000) AS price
  FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
  WHERE f.role <> 1 AND m.condition = unhex(substr(?, 3))
)
SELECT concat_ws(' ', start // 1000000, outcome, (list(price ORDER BY ts, place, price))[1], max(price), min(price), (list(price ORDER BY ts, place, price))[-1],
  sum(usd), sum(shares), count(*))
FROM f GROUP BY start, outcome ORDER BY start DESC, outcome`

func priceText(p *data.Micro) string {
	if p == nil {
		return "-"
	}
	return micros(*p)
}

func TestCandlesEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	markets := v.table(`SELECT '0x' || lower(hex(m.condition)) FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
		GROUP BY m.condition ORDER BY count(*) DESC, m.condition LIMIT 6`)
	// Of quiet markets all fills are in the file of newest ones.
	markets = append(markets, v.table(`SELECT '0x' || lower(hex(m.condition)) FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
		GROUP BY m.condition HAVING count(*) BETWEEN 8 AND 19 ORDER BY count(DISTINCT f.ts // 3600000000) DESC, m.condition LIMIT 6`)...)
	if len(markets) != 12 {
		t.Fatal(markets)
	}
	for i, market := range some(markets, 2) {
		hours := []int{1, 6, 24}[i%3]
		var got []string
		sum, cursor := data.Micro(0), ""
		for {
			p := reply[wire.Candles](v, fmt.Sprintf("/market/%s/candles?interval=%s&limit=37%s", market, map[int]string{1: "1h", 6: "6h", 24: "1d"}[hours], cursor))
			for _, c := range p.Data {
				got = append(got, fmt.Sprint(c.TS.Unix(), " ", c.OutcomeIndex, " ", priceText(c.Open), " ", priceText(c.High), " ", priceText(c.Low), " ", priceText(c.Close),
					" ", micros(c.Volume), " ", micros(c.VolumeShares), " ", c.Trades))
				sum += c.Volume
			}
			if p.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *p.NextCursor
		}
		want := v.table(plainCandles, hours, market)
		if diff := cmp.Diff(want, got); diff != "" || len(slices.Compact(slices.Clone(want))) < 2 {
			t.Errorf("%s by %d hours (-facts +API):\n%s", market, hours, diff)
		}
		if m := reply[wire.One[wire.MarketOverview]](v, "/market/"+market+"/overview").Data; sum != m.Volume {
			t.Errorf("%s: candles add up to %d, the volume is %d by %s", market, sum, m.Volume, *m.VolumeBasis)
		}
	}
}
