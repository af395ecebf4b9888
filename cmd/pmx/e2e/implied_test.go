package e2e_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pmx/data"
	"pmx/http/wire"
)

// plainImplied returns the prices of a day's brackets at the end of each hour with a trade, written
// independently of pmx: seconds of the hour, brackets with a price, sum of prices, mean of the
// middles weighted by price. ?: slug of the event.
const plainImplied = `WITH f AS (
  SELECT m.market, m.group_item_title AS label, t.outcome, f.ts // 3600000000 AS hour, f.ts, coalesce(f.log_index, -1) AS place,
    least(round(f.usd::DECIMAL(38, 0) / f.shares * 1000000)::BIGINT, 1000000) AS price
  FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
  WHERE f.role <> 1 AND m.event_slug = ?
), close AS (
  SELECT market, label, hour, outcome, (list(price ORDER BY ts, place, price))[-1] AS price FROM f GROUP BY ALL
), told AS (
  SELECT market, hour, coalesce(max(price) FILTER (outcome = 0), 1000000 - max(price) FILTER (outcome = 1)) AS price,
    CASE WHEN any_value(label) LIKE '%F or below' THEN regexp_extract(any_value(label), '^-?[0-9]+')::INT - 0.5
      WHEN any_value(label) LIKE '%F or higher' THEN regexp_extract(any_value(label), '^-?[0-9]+')::INT + 0.5
      WHEN any_value(label) LIKE '%C or %' THEN regexp_extract(any_value(label), '^-?[0-9]+')::INT
      WHEN any_value(label) LIKE '%C' THEN regexp_extract(any_value(label), '^-?[0-9]+')::INT
      ELSE (regexp_extract(any_value(label), '^(-?[0-9]+)-(-?[0-9]+)', 1)::INT + regexp_extract(any_value(label), '^(-?[0-9]+)-(-?[0-9]+)', 2)::INT) / 2 END AS middle
  FROM close GROUP BY ALL
), stood AS (
  SELECT h.hour, b.market, any_value(b.middle) AS middle, arg_max(b.price, b.hour) AS price
  FROM (SELECT DISTINCT hour FROM told) AS h JOIN told AS b ON b.hour <= h.hour GROUP BY ALL
)
SELECT concat_ws(' ', hour * 3600, count(*), sum(price), round(sum(price * middle) / nullif(sum(price), 0), 6)) FROM stood GROUP BY hour ORDER BY hour`

func TestImpliedMeansEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	whole, none := 0, 0
	today := reply[wire.Implied](v, "/weather/city/london/implied").Date
	last, err := data.ParseDate(today)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		city, metric, day := []string{"london", "nyc"}[i%2], []string{"tmax", "tmin"}[i/2%2], last+1-data.Date(i/4)
		got := reply[wire.Implied](v, fmt.Sprintf("/weather/city/%s/implied?date=%s&metric=%s&limit=2000", city, day, metric))
		if got.EventSlug == nil {
			continue
		}
		slug := *got.EventSlug
		want := v.table(plainImplied, slug)
		if len(want) != len(got.Data) || len(want) != got.Count {
			t.Errorf("%s: %d of %d rows, want %d", slug, len(got.Data), got.Count, len(want))
			continue
		}
		for i, line := range want {
			var second, sum int64
			var priced int
			var mean float64
			if _, err := fmt.Sscan(strings.TrimSpace(line), &second, &priced, &sum, &mean); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			row := got.Data[i]
			if row.TS.Unix() != second || row.Priced != priced || (row.ImpliedMean == nil) != (priced < len(got.Brackets)) {
				t.Errorf("%s: row = %+v, want %s", slug, row, line)
				continue
			}
			if row.ImpliedMean == nil {
				none++
			} else if whole++; *row.ImpliedMean != *row.PricedMean || *row.Overround != row.PricedSum {
				t.Errorf("%s: row = %+v", slug, row)
			}
			if off := math.Abs(float64(*row.PricedMean)/100 - mean); off > 0.0051 || int64(row.PricedSum) != sum {
				t.Errorf("%s: %+v is %g off %s", slug, row, off, line)
			}
		}
	}
	if whole+none < 50 {
		t.Errorf("%d hours with a mean of all brackets and %d without are too few for this test", whole, none)
	}
}
