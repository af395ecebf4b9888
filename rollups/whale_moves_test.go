package rollups_test

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups"
)

// order identifies an order: the wallet, token and side of a transaction, or of a time if there is
// none.
type order struct {
	TS     int64
	Wallet data.Address
	Token  string
	Side   data.Side
	Tx     data.Hash
}

// move has the sums of an order.
type move struct {
	Fills       int64
	Shares, USD data.Micro
}

// whaleMoves is the definition, over all fills.
func whaleMoves(fills []data.Fill, atLeast data.Micro) map[order]move {
	all := map[order]move{}
	for _, f := range fills {
		if f.Role == data.Maker {
			continue
		}
		o := order{f.TS, f.Wallet, f.TokenID, f.Side, f.Tx}
		m := all[o]
		all[o] = move{m.Fills + 1, m.Shares + f.Shares, m.USD + f.USD}
	}
	for o, m := range all {
		if m.USD < atLeast {
			delete(all, o)
		}
	}
	return all
}

// whaleRows returns the rows of the rollup.
func (v *venue) whaleRows() map[order]move {
	out := map[order]move{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		rows, err := conn.QueryContext(ctx, `SELECT m.ts, w.address, t.token_id, m.side, m.tx, SUM(m.fills)::BIGINT AS fills,
				SUM(m.shares)::BIGINT, SUM(m.usd)::BIGINT
			FROM (FROM whale_move UNION ALL FROM whale_move_delta) AS m
			JOIN wallets AS w ON w.wallet = m.wallet JOIN tokens AS t ON t.token = m.token
			GROUP BY m.ts, w.address, t.token_id, m.side, m.tx HAVING SUM(m.fills) <> 0`)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var o order
			var m move
			var addr, tx []byte
			if err := rows.Scan(&o.TS, &addr, &o.Token, &o.Side, &tx, &m.Fills, &m.Shares, &m.USD); err != nil {
				return err
			}
			o.Wallet = data.Address(addr)
			copy(o.Tx[:], tx)
			out[o] = m
		}
		return rows.Err()
	})
	return out
}

// setWhaleRule makes orders whales from that size on; the database must be empty.
func (v *venue) setWhaleRule(atLeast data.Micro) {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "UPDATE whale_rule SET min_usd = ?", int64(atLeast))
		return err
	})
}

// drawOrders generates fills of few transactions, most of them one or two fills short of the
// threshold, and distributes them over files without regard to transactions. Some occur twice:
// first or later without a log index and role.
func drawOrders(t *rapid.T) dealt {
	var fills []data.Fill
	steps := make([]step, rapid.IntRange(1, 5).Draw(t, "files"))
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "deal"), 2))
	put := func(file int, f data.Fill) { steps[file].fills = append(steps[file].fills, f) }
	for i := range rapid.IntRange(1, 40).Draw(t, "fills") {
		n := rapid.IntRange(0, 5).Draw(t, "tx")
		f := data.Fill{Tx: tx(n), LogIndex: int32(i), Wallet: address(rapid.IntRange(0, 1).Draw(t, "wallet")),
			TS:   start.UnixMicro() + int64(n)*rapid.SampledFrom([]int64{0, day / 2, 9 * day}).Draw(t, "apart"),
			Side: data.Side(rapid.IntRange(0, 1).Draw(t, "side")), Role: data.Role(rapid.IntRange(0, 2).Draw(t, "role")),
			TokenID: token(0, rapid.IntRange(0, 1).Draw(t, "outcome")), Outcome: data.NoIndex,
			Shares: 5 * data.One, USD: data.Micro(i+1) * 100_001, // all distinct: a copy has one original
		}
		file := rng.IntN(len(steps))
		if rapid.IntRange(0, 3).Draw(t, "no transaction") == 0 {
			f.Tx, f.LogIndex = data.Hash{}, data.NoIndex
		} else if len(steps) > 1 && rapid.IntRange(0, 3).Draw(t, "copy") == 0 {
			copied := f
			copied.LogIndex, copied.Role = data.NoIndex, data.RoleUnknown
			put((file+1+rng.IntN(len(steps)-1))%len(steps), copied) // equal rows of one file are two fills
		}
		fills = append(fills, f)
		put(file, f)
	}
	return dealt{fills, steps}
}

// dealt is what drawOrders generates.
type dealt struct {
	fills []data.Fill
	steps []step
}

func TestWhaleMovesAreTheOrdersHoweverTheirFillsArrive(t *testing.T) {
	const mark = 3 * data.One
	orders := rapid.Custom(func(rt *rapid.T) dealt { return drawOrders(rt) })
	for seed := range testfiles.Cases(1, 8) {
		d := orders.Example(seed)
		v := newVenue(t, d.steps)
		v.setWhaleRule(mark)
		for i := range d.steps {
			v.importStep(i)
			if (seed+i)%3 == 0 {
				v.write(func(ctx context.Context, conn *sql.Conn) error { return rollups.CompactAll(ctx, conn, 3) })
			}
		}
		if diff := cmp.Diff(whaleMoves(d.fills, mark), v.whaleRows()); diff != "" {
			t.Fatalf("seed %d: whale moves (-definition +database):\n%s", seed, diff)
		}
		v.followed(t)
		v.verify(t)
		v.close()
	}
}

// An order of exactly 10,000 dollars is a whale's. Fills of one transaction in two files are added
// up. A fill that turns out to be a maker's no longer counts.
func TestWhaleMovesCrossTheMarkBothWays(t *testing.T) {
	fill := func(n int32, role data.Role, usd data.Micro) data.Fill {
		return data.Fill{Tx: tx(1), LogIndex: n, TS: start.UnixMicro(), Wallet: address(1), Role: role, TokenID: token(0, 0),
			Shares: usd * 2, USD: usd, Outcome: data.NoIndex}
	}
	steps := []step{
		{fills: []data.Fill{fill(data.NoIndex, data.RoleUnknown, 6000*data.One)}},
		{fills: []data.Fill{fill(1, data.Taker, 3999_990_000)}},  // 9,999.99
		{fills: []data.Fill{fill(2, data.Taker, 10_000)}},        // + 0.01 = 10,000
		{fills: []data.Fill{fill(3, data.Taker, 500*data.One)}},  // 10,500
		{fills: []data.Fill{fill(4, data.Maker, 6000*data.One)}}, // the first fill again: a maker's. 4,500 are left
	}
	v := newVenue(t, steps)
	defer v.close()
	o := order{TS: start.UnixMicro(), Wallet: address(1), Token: token(0, 0), Tx: tx(1)}
	for i, want := range []map[order]move{
		{}, {},
		{o: {3, 20_000 * data.One, 10_000 * data.One}},
		{o: {4, 21_000 * data.One, 10_500 * data.One}},
		{},
	} {
		if r := v.importStep(i); r.Inserted != 1 {
			t.Fatalf("file %d: %+v", i, r)
		}
		if diff := cmp.Diff(want, v.whaleRows()); diff != "" {
			t.Errorf("after file %d (-want +got):\n%s", i, diff)
		}
	}
}

// A fill of a known order may be in a batch with newer fills.
func TestAWhaleMoveIsFoundBesideNewerFills(t *testing.T) {
	fill := func(n, transaction int, at time.Time, usd data.Micro) data.Fill {
		return data.Fill{Tx: tx(transaction), LogIndex: int32(n), TS: at.UnixMicro(), Wallet: address(1), Role: data.Taker, TokenID: token(0, 0),
			Shares: usd * 2, USD: usd, Outcome: data.NoIndex}
	}
	v := newVenue(t, []step{
		{fills: []data.Fill{fill(1, 1, start, 6000*data.One)}},
		{fills: []data.Fill{fill(2, 1, start, 4000*data.One), fill(1, 2, start.Add(time.Hour), data.One)}},
	})
	defer v.close()
	v.importStep(0)
	v.importStep(1)
	want := map[order]move{{TS: start.UnixMicro(), Wallet: address(1), Token: token(0, 0), Tx: tx(1)}: {2, 20_000 * data.One, 10_000 * data.One}}
	if diff := cmp.Diff(want, v.whaleRows()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Redemptions of unknown time leave the windows as time passes, whichever fill advances it.
func TestUndatedRedemptionsLeaveWindowsWithAnyFill(t *testing.T) {
	fill := func(n, market int, at time.Time) data.Fill {
		return data.Fill{Tx: tx(n), LogIndex: 1, TS: at.UnixMicro(), Wallet: address(1), Role: data.Taker, TokenID: token(market, 0),
			Shares: 2 * data.One, USD: data.One, Outcome: data.NoIndex}
	}
	market := data.Market{Condition: condition(0), Question: "market", UpdatedAt: start, Outcomes: []string{"a", "b"}, TokenIDs: []string{token(0, 0), token(0, 1)}}
	paid := data.Market{Condition: condition(0), Stub: true, Resolution: &data.Resolution{Condition: condition(0), Payouts: []data.Micro{data.One, 0},
		Source: data.ResolvedByAPI, Version: start}}
	steps := []step{{markets: []data.Market{market, paid}, fills: []data.Fill{fill(1, 0, start)}}}
	for i, days := range []int{2, 8, 31} {
		steps = append(steps, step{fills: []data.Fill{fill(2+i, 1, start.AddDate(0, 0, days))}})
	}
	v := newVenue(t, steps)
	defer v.close()
	for i := range steps {
		v.importStep(i)
		v.verify(t)
	}
}
