package rollups_test

import (
	"context"
	"database/sql"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups"
)

// plainCandles computes the candles from all facts, independently of how pmx stores them.
const plainCandles = `WITH f AS (
  SELECT t.token_id, f.ts // 3600000000 AS hour, f.usd, f.shares, f.ts, coalesce(f.log_index, -1) AS place,
    least((2000000::HUGEINT * f.usd + f.shares) // (2::HUGEINT * f.shares), 1000000) AS price
  FROM fills AS f JOIN tokens AS t ON t.token = f.token WHERE f.role <> 1
)
SELECT concat_ws(' ', token_id, hour, count(*), sum(usd), sum(shares), (list(price ORDER BY ts, place, price) FILTER (shares > 0))[1],
  max(price) FILTER (shares > 0), min(price) FILTER (shares > 0), (list(price ORDER BY ts, place, price) FILTER (shares > 0))[-1])
FROM f GROUP BY token_id, hour ORDER BY token_id, hour`

// keptCandles reads the candles of the rollup.
const keptCandles = `WITH c AS (
  SELECT token, hour, sum(fills) AS fills, sum(usd) AS usd, sum(shares) AS shares, -max(opened) AS opened, max(highest) AS highest,
    -max(lowest) AS lowest, max(closed) AS closed
  FROM (
    SELECT token, hour, fills, usd, shares, opened, highest, lowest, closed FROM candle
    UNION ALL
    FROM candle_delta
  ) AS c GROUP BY token, hour
)
SELECT concat_ws(' ', t.token_id, hour, fills, usd, shares, opened & 1048575, highest, lowest, closed & 1048575)
FROM c JOIN tokens AS t ON t.token = c.token WHERE fills <> 0 ORDER BY t.token_id, hour`

func (v *venue) lines(query string) (lines []string) {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return rows.Err()
	})
	return lines
}

// compareCandles compares the candles with plain SQL over the facts.
func (v *venue) compareCandles(t rapid.TB) []string {
	t.Helper()
	kept := v.lines(keptCandles)
	if diff := cmp.Diff(v.lines(plainCandles), kept); diff != "" {
		t.Fatalf("candles (-facts +rollup):\n%s", diff)
	}
	return kept
}

// Four trades of an hour, at 0.5, 0.9, 0.1 and 0.6. Then a source with log indexes says that the
// highest and the last were not a taker's, and a late one is imported that is the first.
func TestCandlesLoseReplacedFills(t *testing.T) {
	testfiles.InLong(t, "TestCandlesEqualPlainSQLOnTheSampleVenue compares candles with the facts")
	fill := func(n int, minute int64, cents data.Micro) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: data.NoIndex, TS: start.UnixMicro() + minute*60_000_000, Wallet: address(n), TokenID: token(0, 0),
			Shares: 100 * data.One, USD: cents * data.One, Outcome: data.NoIndex}
	}
	better := func(f data.Fill, role data.Role) data.Fill {
		f.LogIndex, f.Role = int32(f.Tx[31]), role
		return f
	}
	day := []data.Fill{fill(1, 10, 50), fill(2, 20, 90), fill(3, 30, 10), fill(4, 40, 60), fill(5, 90, 30)}
	steps := []step{
		{fills: day},
		{fills: []data.Fill{better(day[1], data.Maker), better(day[3], data.Maker), better(day[4], data.Taker)}},
		{fills: []data.Fill{fill(6, 5, 20)}},
	}
	v := newVenue(t, steps)
	defer v.close()
	hour := start.UnixMicro() / 3_600_000_000
	for i, want := range [][2]string{
		{"4 210000000 400000000 500000 900000 100000 600000", "1 30000000 100000000 300000 300000 300000 300000"},
		{"2 60000000 200000000 500000 500000 100000 100000", "1 30000000 100000000 300000 300000 300000 300000"},
		{"3 80000000 300000000 200000 500000 100000 100000", "1 30000000 100000000 300000 300000 300000 300000"},
	} {
		r := v.importStep(i)
		if i == 1 && r.Replaced != 3 {
			t.Fatalf("%+v", r)
		}
		got := v.compareCandles(t)
		id := token(0, 0)
		if diff := cmp.Diff([]string{line(id, hour, want[0]), line(id, hour+1, want[1])}, got); diff != "" {
			t.Errorf("after file %d (-want +got):\n%s", i, diff)
		}
		v.verify(t)
		if i == 0 {
			v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
		}
	}
}

func line(token string, hour int64, rest string) string {
	return token + " " + strconv.FormatInt(hour, 10) + " " + rest
}
