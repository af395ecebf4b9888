package rollups_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups"
	"pmx/rollups/index"
)

// whaleMark is a threshold that makes whales of the random orders, which are small.
const whaleMark = 2 * data.One

// indexFlow is the definition of the flow by bucket, over all fills.
func (w world) indexFlow(mark data.Micro) map[int32]index.Flow {
	category := map[data.Hash]string{}
	for _, m := range w.markets {
		if m.Category != "" && (category[m.Condition] == "" || m.UpdatedAt.After(start)) {
			category[m.Condition] = m.Category
		}
	}
	out := map[int32]index.Flow{}
	for _, f := range w.distinct() {
		if f.Role == data.Maker {
			continue
		}
		b := index.BucketOf(f.TS)
		sum := out[b]
		sum.Fills++
		sum.Taker += f.USD
		if !f.Market.IsZero() {
			sum.Mapped += f.USD
			if (f.Outcome == 0) == (f.Side == data.Buy) {
				sum.First += f.USD
			}
		}
		switch category[f.Market] {
		case "politics":
			sum.Politics += f.USD
		case "crypto":
			sum.Crypto += f.USD
		}
		out[b] = sum
	}
	for o, m := range whaleMoves(w.fills, mark) {
		b := index.BucketOf(o.TS)
		sum := out[b]
		sum.Whale += m.USD
		out[b] = sum
	}
	return out
}

// indexRows returns the rows of the rollup.
func (v *venue) indexRows() map[int32]index.Flow {
	out := map[int32]index.Flow{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT bucket, SUM(fills)::BIGINT, SUM(taker_usd)::BIGINT, SUM(whale_usd)::BIGINT,
				SUM(politics_usd)::BIGINT, SUM(crypto_usd)::BIGINT, SUM(first_usd)::BIGINT, SUM(mapped_usd)::BIGINT
			FROM (FROM index_flow UNION ALL FROM index_flow_delta) AS f GROUP BY bucket HAVING SUM(fills) <> 0`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var b int32
			var f index.Flow
			if err := rows.Scan(&b, &f.Fills, &f.Taker, &f.Whale, &f.Politics, &f.Crypto, &f.First, &f.Mapped); err != nil {
				return err
			}
			out[b] = f
		}
		return rows.Err()
	})
	return out
}

// compareFlow compares the flow and the moves with their definition.
func (v *venue) compareFlow(t *rapid.T, w world) {
	if diff := cmp.Diff(w.indexFlow(whaleMark), v.indexRows()); diff != "" {
		t.Fatalf("index flow (-definition +database):\n%s", diff)
	}
	if diff := cmp.Diff(whaleMoves(w.fills, whaleMark), v.whaleRows()); diff != "" {
		t.Fatalf("whale moves (-definition +database):\n%s", diff)
	}
}

// A token is mapped after its fills, then claimed by a newer market as its second outcome, then
// gets another category: each time its history moves with it, and stored snapshots follow.
func TestIndexFollowsATokenFromMarketToMarket(t *testing.T) {
	bought := data.Fill{Tx: tx(1), LogIndex: 1, TS: start.UnixMicro(), Wallet: address(1), Role: data.Taker, TokenID: token(0, 0),
		Shares: 20 * data.One, USD: 10 * data.One, Outcome: data.NoIndex}
	later := bought
	later.Tx, later.TS, later.USD, later.Side = tx(2), start.Add(40*24*time.Hour).UnixMicro(), 4*data.One, data.Sell
	market := func(i int, category string, version int, tokens ...string) data.Market {
		return data.Market{Condition: condition(i), Category: category, Outcomes: []string{"a", "b"}, TokenIDs: tokens,
			UpdatedAt: start.Add(time.Duration(version) * time.Hour)}
	}
	steps := []step{
		{fills: []data.Fill{bought, later}},
		{markets: []data.Market{market(0, "politics", 0, token(0, 0), token(0, 1))}},
		{markets: []data.Market{market(1, "crypto", 1, token(1, 0), token(0, 0))}},
		{markets: []data.Market{market(1, "sports", 2, token(1, 0), token(0, 0))}},
	}
	v := newVenue(t, steps)
	defer v.close()
	usd := data.One
	for i, want := range [][2]index.Flow{
		{{Fills: 1, Taker: 10 * usd}, {Fills: 1, Taker: 4 * usd}},
		{{Fills: 1, Taker: 10 * usd, Politics: 10 * usd, First: 10 * usd, Mapped: 10 * usd}, {Fills: 1, Taker: 4 * usd, Politics: 4 * usd, Mapped: 4 * usd}},
		{{Fills: 1, Taker: 10 * usd, Crypto: 10 * usd, Mapped: 10 * usd}, {Fills: 1, Taker: 4 * usd, Crypto: 4 * usd, First: 4 * usd, Mapped: 4 * usd}},
		{{Fills: 1, Taker: 10 * usd, Mapped: 10 * usd}, {Fills: 1, Taker: 4 * usd, First: 4 * usd, Mapped: 4 * usd}},
	} {
		v.importStep(i)
		got := v.indexRows()
		if diff := cmp.Diff(map[int32]index.Flow{index.BucketOf(bought.TS): want[0], index.BucketOf(later.TS): want[1]}, got); diff != "" {
			t.Errorf("after file %d (-want +got):\n%s", i, diff)
		}
		if testfiles.Long() { // once more when it is stored
			v.verify(t)
		}
		v.write(rollups.StoreIndex)
		if testfiles.Long() || i+1 == len(steps) { // nothing from before the last file is missing
			v.verify(t)
		}
		v.followed(t)
	}
}

// Snapshots are kept every five minutes for 90 days, and at full hours for ever. A late fill
// changes those of its day and of the 31 days after it, and earlier ones if it is the first of all.
func TestIndexSnapshotsAreStoredThinnedAndRecomputed(t *testing.T) {
	testfiles.InLong(t, "TestIndexFollowsATokenFromMarketToMarket updates stored snapshots")
	fill := func(n int, at time.Time) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: 1, TS: at.UnixMicro(), Wallet: address(1), Role: data.Taker, TokenID: token(0, 0),
			Shares: data.One, USD: data.One, Outcome: data.NoIndex}
	}
	day := 24 * time.Hour
	steps := []step{
		{fills: []data.Fill{fill(1, start), fill(2, start.Add(2*day))}},
		{fills: []data.Fill{fill(3, start.Add(100*day))}},
		{fills: []data.Fill{fill(4, start.Add(50*day+time.Minute))}},
		{fills: []data.Fill{fill(5, start.Add(-60*day))}},
	}
	v := newVenue(t, steps)
	defer v.close()
	for i, want := range []int64{
		2*288 + 1,                  // both ends
		10*24 + 1 + 90*288,         // 10 days of hours with both ends, then 90 days up to as_of
		10*24 + 1 + 90*288,         // computed again
		60*24 + 10*24 + 1 + 90*288, // 60 days of hours more
	} {
		v.importStep(i)
		v.write(rollups.StoreIndex)
		var n int64
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			return conn.QueryRowContext(ctx, "SELECT count(*) FROM index_snapshot").Scan(&n)
		})
		if n != want {
			t.Errorf("after file %d: %d snapshots, want %d", i, n, want)
		}
		v.verify(t)
	}
	// If an input of a stored row changes, verification reports it.
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "UPDATE index_snapshot SET volume_24h = volume_24h + 1 WHERE bucket % 288 = 0"); err != nil {
			return err
		}
		checks, err := rollups.Verify(ctx, conn, nil, nil, nil)
		for _, c := range checks {
			if c.Name == "index_snapshots" && (c.OK || c.Bad != 160+1) {
				t.Errorf("verify: %+v", c)
			}
		}
		return err
	})
}
