package rollups_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/testfiles"
)

// leavingWindows generates history that leaves every window, and batches that follow it directly.
func leavingWindows(t *rapid.T) []step {
	w := drawWorld(t)
	if rapid.Bool().Draw(t, "on the desk") {
		onDesk(w.markets)
	}
	last := int64(0)
	for i := range w.fills {
		last = max(last, w.fills[i].TS)
	}
	n := 1000
	fill := func(ts int64) data.Fill {
		n++
		f := data.Fill{TS: ts, Tx: tx(n / 2), LogIndex: data.NoIndex, Wallet: address(rapid.IntRange(0, 7).Draw(t, "wallet")),
			Side: data.Side(rapid.IntRange(0, 1).Draw(t, "side")), Role: data.Role(rapid.IntRange(0, 2).Draw(t, "role")),
			TokenID: token(rapid.IntRange(0, 4).Draw(t, "market"), rapid.IntRange(0, 2).Draw(t, "outcome")), Outcome: data.NoIndex,
			Shares: data.Micro(rapid.IntRange(0, 9).Draw(t, "shares")) * 333_333}
		f.USD = f.Shares * data.Micro(rapid.IntRange(0, 11).Draw(t, "price")) / 10
		if rapid.Bool().Draw(t, "indexed") {
			f.LogIndex = int32(n)
			f.Fee = data.Micro(rapid.IntRange(int(f.Side)-1, 2).Draw(t, "fee")) * 1_111
		}
		return f
	}
	const minute = 60_000_000
	history := step{fills: w.fills, markets: w.markets}
	end := last + 61*day
	for _, days := range []int64{0, 1, 7, 14, 30, 60} {
		for range rapid.IntRange(1, 4).Draw(t, "there") {
			history.fills = append(history.fills, fill(end-days*day+rapid.Int64Range(0, 20).Draw(t, "after")*minute*min(days, 1)))
		}
	}
	steps, payouts := []step{history}, map[data.Hash]bool{}
	for range rapid.IntRange(2, 5).Draw(t, "batches") {
		var s step
		end += rapid.SampledFrom([]int64{1, 1, minute, 5 * minute, 11 * minute}).Draw(t, "later")
		at := end
		for range rapid.IntRange(1, 12).Draw(t, "fills") {
			f := fill(at)
			s.fills = append(s.fills, f)
			if n%2 == 1 { // both fills of a transaction have its time
				at += rapid.Int64Range(0, 3).Draw(t, "then") * 1_500_000
			}
			end = max(end, f.TS)
		}
		n |= 1
		if m := condition(rapid.IntRange(0, 2).Draw(t, "resolves")); !payouts[m] && rapid.IntRange(0, 3).Draw(t, "any") == 0 {
			payouts[m] = true
			payout := rapid.SampledFrom([][]data.Micro{{0, data.One, 0}, {500_000, 500_000, 0}, {333_334, 333_333, 333_333}}).Draw(t, "payout")
			at := rapid.SampledFrom([]time.Time{start.AddDate(0, 3, 0), time.UnixMicro(end - 30_000_000), time.UnixMicro(end - 3*day), {}}).Draw(t, "resolved")
			s.markets = append(s.markets, data.Market{Condition: m, Stub: true, Resolution: &data.Resolution{Condition: m,
				Payouts: payout, ResolvedAt: at, Source: data.ResolvedByAPI, Version: start.AddDate(0, 4, 0)}})
		}
		steps = append(steps, s)
	}
	return steps
}

// onDesk makes all markets brackets of one event of the weather desk.
func onDesk(markets []data.Market) {
	for i := range markets {
		for n := range 3 {
			if m := &markets[i]; m.Condition == condition(n) && !m.Stub {
				desk := listed("london", n)
				desk.UpdatedAt, desk.TokenIDs = m.UpdatedAt, m.TokenIDs[:2]
				*m = desk
			}
		}
	}
}

// TestSumsInMemoryAreThoseOfStatements compares what a small batch adds to each rollup, row by row,
// and to what is served.
func TestSumsInMemoryAreThoseOfStatements(t *testing.T) {
	inMemory, byStatements, held, desk, late := 0, 0, 0, 0, 0
	same := func(rt *rapid.T) {
		steps, most := leavingWindows(rt), rapid.SampledFrom([]int{0, 0, 0, 4}).Draw(rt, "held at most")
		stored := fmt.Sprintf("UPDATE index_stored SET bucket = (SELECT as_of // 300000000 + %d FROM rollup_state)", rapid.IntRange(0, 3).Draw(rt, "stored"))
		asked := rapid.Bool().Draw(rt, "tokens are read by a statement")
		venues := []*venue{newVenue(t, steps), newVenue(t, steps)}
		for i, v := range venues {
			defer v.close()
			v.setWhaleRule(whaleMark)
			v.merger.HoldAtMost(most)
			if asked {
				v.merger.Live = nil
			}
			if i > 0 {
				v.merger.SumByStatements()
			}
			if v.importStep(0).RebuildNeeded {
				v.rebuild()
			}
			v.run(stored)
			v.write(func(ctx context.Context, conn *sql.Conn) error { return v.merger.Warm(ctx, conn) })
			v.im.Rollups.Merge = func(ctx context.Context, conn *sql.Conn, apply func() error) error {
				err := v.merger.Merge(ctx, conn, apply)
				h, d := v.merger.Held()
				held, desk = held+h, desk+d
				if in := v.merger.LastInMemory(); in && i > 0 {
					rt.Error("summed up in memory though told not to")
				} else if in {
					inMemory++
				} else if i == 0 {
					byStatements++
				}
				return err
			}
		}
		for n := 1; n < len(steps); n++ {
			for _, v := range venues {
				v.importStep(n)
			}
			want, got := venues[1].deltas(), venues[0].deltas()
			for _, table := range slices.Sorted(maps.Keys(want)) {
				if diff := cmp.Diff(want[table], got[table]); diff != "" {
					rt.Fatalf("batch %d, %s (-by statements +in memory):\n%s", n, table, diff)
				}
			}
			if _, differ := venues[0].live.Snapshot().Compare(venues[1].live.Snapshot()); differ > 0 {
				rt.Fatalf("batch %d: %d things that are served differ", n, differ)
			}
		}
		late += len(venues[0].deltas()["index_late"])
		venues[0].run("UPDATE index_stored SET bucket = 0") // there is no snapshot to check
		venues[0].run("DELETE FROM index_late")
		venues[0].followed(rt)
		venues[0].verify(rt)
	}
	for try := 0; try < 6 && inMemory == 0; try++ { // the one case of a short run may have no batch that is summed up in memory
		rapid.Check(t, same)
	}
	if inMemory == 0 || byStatements == 0 && testfiles.Long() {
		t.Errorf("%d batches were summed up in memory, %d by statements: nothing is compared", inMemory, byStatements)
	}
	if testfiles.Long() && (held == 0 || desk == 0 || late == 0) {
		t.Errorf("%d positions were valued in memory, %d wallets of the desk summed up, %d days of the index were late", held, desk, late)
	}
}

// run runs a statement.
func (v *venue) run(query string) {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, query)
		return err
	})
}

// deltas returns the rows of every delta, and the late days of the index.
func (v *venue) deltas() map[string][]string {
	all := map[string][]string{}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		names, err := v.texts(ctx, conn, "SELECT table_name FROM duckdb_tables() WHERE NOT temporary AND (table_name LIKE '%\\_delta' ESCAPE '\\' OR table_name = 'index_late')")
		for _, name := range names {
			if all[name], err = v.texts(ctx, conn, fmt.Sprintf("SELECT t::VARCHAR FROM %s AS t ORDER BY 1", name)); err != nil {
				return err
			}
		}
		return err
	})
	if len(all) < 20 {
		v.t.Fatalf("got %d deltas", len(all))
	}
	return all
}

func (v *venue) texts(ctx context.Context, conn *sql.Conn, query string) (all []string, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, strings.Clone(text))
	}
	return all, rows.Err()
}
