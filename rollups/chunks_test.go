package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups"
)

// TestRangesHoldEveryKeyOnce: ranges of any size follow each other without a gap from the smallest
// possible key to the largest, and only ranges of a single key may have too many rows.
func TestRangesHoldEveryKeyOnce(t *testing.T) {
	v := newVenue(t, nil)
	defer v.close()
	rapid.Check(t, func(rt *rapid.T) {
		keys := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(-3, 12), rapid.Int64Range(-5_000, 50_000), rapid.Int64Range(0, 1<<50)), 1, 60).Draw(rt, "keys")
		most := rapid.Int64Range(1, 20).Draw(rt, "most")
		var rows strings.Builder
		for i, key := range keys {
			rows.WriteString(map[bool]string{true: "VALUES ", false: ", "}[i == 0])
			fmt.Fprintf(&rows, "(%d::BIGINT, 1)", key)
		}
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			ranges, err := rollups.Ranges(ctx, conn, "SELECT * FROM ("+rows.String()+") AS w(key, n)", most)
			if err != nil {
				return err
			}
			next := int64(math.MinInt64)
			for i, r := range ranges {
				if r[0] != next || r[1] < r[0] {
					rt.Fatalf("range %d of %v: not from %d on", i, ranges, next)
				}
				next = r[1] + 1
				held, distinct := int64(0), map[int64]bool{}
				for _, key := range keys {
					if key >= r[0] && key <= r[1] {
						held++
						distinct[key] = true
					}
				}
				if held > most && len(distinct) > 1 || held == 0 {
					rt.Fatalf("range %d of %v has %d rows of %d keys, at most %d are to be: %v", i, ranges, held, len(distinct), most, keys)
				}
			}
			if ranges[len(ranges)-1][1] != math.MaxInt64 {
				rt.Fatalf("%v: the last range ends", ranges)
			}
			return nil
		})
	})
}

// TestRangesOfPairsCountEachPairOnce: ranges for a rollup with a row for each pair of keys have about as many different pairs as can
// be processed at once, however often each occurs, and hold every key once.
func TestRangesOfPairsCountEachPairOnce(t *testing.T) {
	const most = 20_000
	v := newVenue(t, nil)
	defer v.close()
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		// 200,000 pairs of 5,000 keys; those of the last thousand are there nine times, all others twice.
		if _, err := conn.ExecContext(ctx, "CREATE TEMP TABLE pairs AS SELECT r % 5000 AS key, r // 5000 % 40 AS second FROM range(400000) AS t(r)"+
			" UNION ALL SELECT 4000 + r % 1000, r // 1000 % 40 FROM range(280000) AS t(r)"); err != nil {
			return err
		}
		ranges, err := rollups.RangesOfPairs(ctx, conn, "pairs", most)
		if err != nil {
			return err
		}
		if len(ranges) < 8 || len(ranges) > 13 {
			t.Errorf("%d ranges of 200,000 pairs, %d at once", len(ranges), most)
		}
		next := int64(math.MinInt64)
		for _, r := range ranges {
			var pairs int64
			if err := conn.QueryRowContext(ctx, fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT key, second FROM pairs WHERE key BETWEEN %d AND %d)", r[0], r[1])).Scan(&pairs); err != nil {
				return err
			}
			if r[0] != next || pairs > most*5/4 {
				t.Errorf("range %v has %d pairs, and the one before ends at %d", r, pairs, next-1)
			}
			next = r[1] + 1
		}
		if last := ranges[len(ranges)-1]; last[1] != math.MaxInt64 {
			t.Errorf("the last range is %v", last)
		}
		return nil
	})
}

// TestVerifyInRangesSeesWhatIsWrongAnywhere: a wrong, missing or additional row is found in any
// range, and outside the keys of all facts.
func TestVerifyInRangesSeesWhatIsWrongAnywhere(t *testing.T) {
	var all step
	for i := range 24 { // half of them have a log
		log := int32(data.NoIndex)
		if i%2 == 1 {
			log = int32(i)
		}
		all.fills = append(all.fills, data.Fill{Tx: tx(i), LogIndex: log, TS: start.UnixMicro() + int64(i)*30*3_600_000_000, Wallet: address(i % 5),
			Role: data.Taker, Shares: 2 * data.One, USD: data.One, Outcome: data.NoIndex, TokenID: token(i%4, 0)})
	}
	for i := range 4 {
		all.markets = append(all.markets, data.Market{Condition: condition(i), Question: "?", EventSlug: "e", UpdatedAt: start, Outcomes: []string{"x", "y"},
			TokenIDs: []string{token(i, 0), token(i, 1)}})
	}
	v := newVenue(t, []step{all})
	defer v.close()
	v.importStep(0)
	v.atOnce = 2
	v.rebuild()
	v.verify(t)
	wrong := map[string][]string{
		"rebuilt_position": {"UPDATE position SET fills = fills + 1 WHERE token = (SELECT max(token) FROM position)",
			"DELETE FROM position WHERE token = (SELECT min(token) FROM position)", "INSERT INTO position_delta VALUES (900, 1, 1, 1, 0, 0, 1, 0, 0)"},
		"rebuilt_wallet_day":    {"INSERT INTO wallet_day_delta VALUES (1, 1, 1, 1, 0, 0)"},
		"rebuilt_wallet_total":  {"UPDATE wallet_total SET markets = markets + 1 WHERE wallet = 0"},
		"rebuilt_event_wallets": {"UPDATE event_wallets SET wallets = wallets + 1 WHERE market = (SELECT max(market) FROM event_wallets)"},
		"unique_fills": {"INSERT INTO fills SELECT * EXCLUDE (ts) FROM fills WHERE log_index = 7", "INSERT INTO fills SELECT * EXCLUDE (ts) FROM fills WHERE log_index IS NULL AND ts IN (SELECT min(ts) FROM fills)",
			"INSERT INTO fills SELECT * EXCLUDE (ts) FROM fills WHERE log_index IS NULL AND ts IN (SELECT max(ts) FROM fills WHERE log_index IS NULL)"},
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error { // what is computed from positions is computed from right ones
		if _, err := conn.ExecContext(ctx, "UPDATE position SET buy_beyond = buy_beyond + 1, fills = fills + 1"); err != nil {
			return err
		}
		checks, err := rollups.VerifyAtOnce(ctx, conn, v.atOnce)
		for _, c := range checks {
			if c.OK != (c.Name != "rebuilt_position") && c.Name != "grain_sums" {
				t.Errorf("positions are wrong: %+v", c)
			}
		}
		if err == nil {
			_, err = conn.ExecContext(ctx, "UPDATE position SET buy_beyond = buy_beyond - 1, fills = fills - 1")
		}
		return err
	})
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		for _, statements := range wrong {
			for _, statement := range statements {
				if _, err := conn.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
		}
		checks, err := rollups.VerifyAtOnce(ctx, conn, v.atOnce)
		for _, c := range checks {
			if least, ok := map[string]int64{"rebuilt_position": 4, "rebuilt_wallet_day": 1, "rebuilt_wallet_total": 2, "rebuilt_event_wallets": 2, "unique_fills": 3}[c.Name]; ok && c.Bad < least {
				t.Errorf("%+v: at least %d rows are wrong", c, least)
			}
		}
		return err
	})
}

// TestMarketsAddUpToZeroInRanges: markets whose matches are all known add up to zero, a market with a
// match of which one side is missing does not count, and a wrong redemption is found, in any range.
func TestMarketsAddUpToZeroInRanges(t *testing.T) {
	const markets, oneSided = 7, 5
	var all step
	for i := range markets {
		all.markets = append(all.markets, data.Market{Condition: condition(i), Question: "?", EventSlug: "e", UpdatedAt: start, Outcomes: []string{"x", "y"},
			TokenIDs: []string{token(i, 0), token(i, 1)}, Resolution: &data.Resolution{Condition: condition(i), Payouts: []data.Micro{data.One, 0},
				ResolvedAt: start.AddDate(0, 1, 0), Source: data.ResolvedByAPI, Version: start.AddDate(0, 1, 0)}})
		for n := range 6 { // the two sides of three matches
			f := data.Fill{Tx: tx(10*i + n/2), LogIndex: int32(n), TS: start.UnixMicro() + int64(10*i+n/2)*7*3_600_000_000, Wallet: address(n),
				Role: data.Taker, Side: data.Buy, Shares: 2 * data.One, USD: data.One, Outcome: data.NoIndex, TokenID: token(i, 0)}
			if n%2 == 1 {
				f.Role, f.Side = data.Maker, data.Sell
			}
			if i == oneSided {
				f.Tx = tx(10*i + n)
			}
			all.fills = append(all.fills, f)
		}
	}
	v := newVenue(t, []step{all})
	defer v.close()
	v.importStep(0)
	v.rebuild()
	check := func(atOnce int64) (found rollups.Check) {
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			checks, err := rollups.VerifyAtOnce(ctx, conn, atOnce)
			for _, c := range checks {
				if c.Name == "zero_sum_markets" {
					found = c
				}
			}
			return err
		})
		return found
	}
	for _, atOnce := range []int64{0, 3} {
		if c := check(atOnce); !c.OK || c.Rows != markets-1 {
			t.Errorf("%d rows at once: %+v, want %d markets", atOnce, c, markets-1)
		}
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE redemption SET beyond = beyond + 1 WHERE market = (SELECT max(market) FROM redemption)")
		return err
	})
	for _, atOnce := range []int64{0, 3} {
		if c := check(atOnce); c.OK || c.Bad != 1 {
			t.Errorf("a redemption is wrong, %d rows at once: %+v", atOnce, c)
		}
	}
}

// A range of weeks or months has the days of these.
func TestDaysOfKeysInRanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ends := rapid.OneOf(rapid.Int64Range(0, 3_000), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
		lo, hi, day, months := ends.Draw(rt, "lo"), ends.Draw(rt, "hi"), rapid.Int64Range(10, 30_000).Draw(rt, "day"), rapid.Bool().Draw(rt, "months")
		if lo == math.MaxInt64 || hi == math.MinInt64 {
			return // no range begins or ends so
		}
		if days, keys := rollups.HasDay(lo, hi, day, months); days != keys {
			rt.Fatalf("from %d to %d, day %d, months %t: by days %t, by keys %t", lo, hi, day, months, days, keys)
		}
	})
}
