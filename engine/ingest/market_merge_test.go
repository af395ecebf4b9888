package ingest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pmx/data/testfiles"
	"pmx/engine"
)

// drawCells draws a row of markets in which every second column is NULL.
func drawCells(rng *rand.Rand, condition int) marketCells {
	cells := make(marketCells, len(marketColumns))
	small := func() any { return int64(rng.IntN(4)) }
	for i, column := range marketColumns {
		if rng.IntN(2) == 0 {
			continue
		}
		switch column {
		case "neg_risk", "active", "closed", "accepting_orders":
			cells[i] = rng.IntN(2) == 0
		case "tags", "outcomes", "token_ids", "prices":
			cells[i] = []string{`[]`, `["b"]`, `["a","z"]`, `["c","a"]`, `["a","b","c"]`}[rng.IntN(5)]
		case "category_source":
			cells[i] = []string{"tag", "field", "slug"}[rng.IntN(3)]
		case "payout_source", "payout_at_source", "resolved_at_source":
			cells[i] = int8(1 + rng.IntN(3))
		case "payouts":
			list := make([]any, 1+rng.IntN(3))
			for k := range list {
				list[k] = small()
			}
			cells[i] = list
		case "quote":
			quote := map[string]any{}
			for _, name := range slices.Concat(quoteFields...) {
				if quote[name] = nil; rng.IntN(3) > 0 {
					quote[name] = small()
				}
			}
			cells[i] = quote
		case "field_versions":
			versions := map[string]int{}
			for range rng.IntN(4) {
				versions[ownFields[rng.IntN(len(ownFields))].column] = rng.IntN(6) - 1
			}
			text, _ := json.Marshal(versions) // of a map of numbers it cannot fail
			cells[i] = string(text)
		default:
			if cells[i] = small(); isText(column) {
				cells[i] = []string{"", "a", "b", "ä", "aa"}[rng.IntN(5)]
			}
		}
	}
	cells[marketCell] = nil
	cells[conditionCell] = append([]byte{byte(condition >> 8), byte(condition)}, make([]byte, 30)...)
	return cells
}

func isText(column string) bool {
	i := fieldAt(column)
	return i >= 0 && i < fieldAt("category") && column != "neg_risk" || column == "category"
}

// mergedBy returns the rows of n_market and n_payout and the figures of a merge of m_raw.
func mergedBy(t *testing.T, j *fileImport, merge func() (*marketChanges, error)) (rows []string, figures string) {
	t.Helper()
	m, err := merge()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"n_market", "n_payout"} {
		err := engine.Each(j.ctx, j.conn, "SELECT * FROM "+table+" ORDER BY market", func(row []driver.Value) error {
			rows = append(rows, table+strings.ReplaceAll(fmt.Sprint(row), "<nil>", "-"))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows, fmt.Sprint(m.fresh, m.changed, m.resolutions, m.unfit, m.gone, m.relabelled)
}

// Merging few markets in Go gives the rows of MarketsNext, for any records of the file and any
// known markets.
func TestFewMarketsAreMergedAsByTheStatement(t *testing.T) {
	r, rng := openRecords(t), rand.New(rand.NewPCG(31, 12))
	rounds, changed := testfiles.Cases(3, 16), 0
	ctx := context.Background()
	err := r.im.DB.Write(ctx, func(conn *sql.Conn) error {
		for round := range rounds {
			j := &fileImport{im: r.im, ctx: ctx, conn: conn}
			stageDrawn(t, j, rng, 400)
			want, wantFigures := mergedBy(t, j, j.mergeManyMarkets)
			got, figures := mergedBy(t, j, func() (*marketChanges, error) {
				m, err := j.mergeFewMarkets()
				return m, errors.Join(err, j.stageChanges(m))
			})
			if figures != wantFigures {
				t.Errorf("round %d: %s, by the statement %s", round, figures, wantFigures)
			}
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("round %d: %d rows, by the statement %d, of which row %d is\n%v\nby the statement\n%v", round, len(got), len(want), i,
						got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
				}
			}
			changed += len(got)
			j.cleanup()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if changed < 300*rounds {
		t.Errorf("%d rows in %d rounds", changed, rounds)
	}
}

// Merging markets that are only named gives the rows of MarketsNext.
func TestNamedMarketsAreMergedAsByTheStatement(t *testing.T) {
	r, rng, ctx := openRecords(t), rand.New(rand.NewPCG(37, 12)), context.Background()
	err := r.im.DB.Write(ctx, func(conn *sql.Conn) error {
		for _, stubs := range []int{1, 2, 300} {
			j := &fileImport{im: r.im, ctx: ctx, conn: conn}
			stageDrawn(t, j, rng, 40)
			_, err := conn.ExecContext(ctx, "DELETE FROM m_raw; INSERT INTO m_raw BY NAME SELECT unhex(printf('%064x', (7919 * (range + 1)) % 65537 + 1000)) AS condition, true AS stub "+
				fmt.Sprintf("FROM range(%d)", stubs))
			if err != nil {
				return err
			}
			want, wantFigures := mergedBy(t, j, j.mergeManyMarkets)
			got, figures := mergedBy(t, j, j.mergeStubs)
			if figures != wantFigures || len(got) != stubs || !slices.Equal(got, want) {
				t.Errorf("%s, by the statement %s\n%v\nby the statement\n%v", figures, wantFigures, got[:1], want[:1])
			}
			j.cleanup()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stageDrawn fills markets and m_raw with n markets: a third of them are on one side only, and some
// are equal on both sides.
func stageDrawn(t *testing.T, j *fileImport, rng *rand.Rand, n int) {
	t.Helper()
	if _, err := j.conn.ExecContext(j.ctx, "DELETE FROM markets"); err != nil {
		t.Fatal(err)
	}
	if err := j.empty("MarketsEmpty", "MapEmpty"); err != nil {
		t.Fatal(err)
	}
	var known, said [][]driver.Value
	for i := range n {
		o, n := drawCells(rng, i), drawCells(rng, i)
		if rng.IntN(8) == 0 {
			n = slices.Clone(o)
		}
		if o[marketCell] = int32(len(known)); rng.IntN(3) > 0 {
			known = append(known, o)
		}
		if rng.IntN(6) > 0 {
			said = append(said, append(slices.Clone(n), rng.IntN(5) == 0, int64(i), false))
		}
	}
	rng.Shuffle(len(said), func(a, b int) { said[a], said[b] = said[b], said[a] })
	if _, err := j.conn.ExecContext(j.ctx, "CREATE OR REPLACE TEMP TABLE drawn_markets AS FROM markets LIMIT 0"); err != nil {
		t.Fatal(err)
	}
	if err := engine.AppendTemp(j.conn, "drawn_markets", len(known), func(i int) []driver.Value { return known[i] }); err != nil {
		t.Fatal(err)
	}
	if _, err := j.conn.ExecContext(j.ctx, "INSERT INTO markets FROM drawn_markets"); err != nil {
		t.Fatal(err)
	}
	if err := engine.AppendTemp(j.conn, "m_raw", len(said), func(i int) []driver.Value { return said[i] }); err != nil {
		t.Fatal(err)
	}
}

// If no payouts are disputed, checking them finds nothing.
func TestWhatIsNotDisputedNeedsNoCheck(t *testing.T) {
	testfiles.InLong(t, "TestAConflictOfPayoutsIsNamedAndSettled finds a conflict")
	r, rng := openRecords(t), rand.New(rand.NewPCG(41, 12))
	rounds, ctx, calm, disputed := testfiles.Cases(30, 80), context.Background(), 0, 0
	err := r.im.DB.Write(ctx, func(conn *sql.Conn) error {
		for round := range rounds {
			j := &fileImport{im: r.im, ctx: ctx, conn: conn, hasPayouts: true}
			if err := j.empty("SpareEmpty"); err != nil {
				return err
			}
			stageDrawn(t, j, rng, 3)
			m, err := j.mergeFewMarkets()
			if err != nil {
				return err
			}
			if m.disputed {
				disputed++
				continue
			}
			before := stagedRows(t, j)
			if err := j.checkPayouts(false); err != nil {
				return err
			}
			if after := stagedRows(t, j); after != before || !reflect.DeepEqual(j.receipt, Receipt{}) {
				t.Fatalf("round %d: receipt %+v, rows\n%s\nbefore\n%s", round, j.receipt, after, before)
			}
			if strings.Contains(before, "pays") {
				calm++
			}
			j.cleanup()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if calm < rounds/5 || disputed < rounds/5 {
		t.Errorf("of %d rounds %d had payouts and none disputed, %d had disputed ones", rounds, calm, disputed)
	}
}

// stagedRows returns the rows of m_raw and the number of spare payouts.
func stagedRows(t *testing.T, j *fileImport) string {
	t.Helper()
	var out strings.Builder
	err := engine.Each(j.ctx, j.conn, `SELECT CASE WHEN payouts IS NOT NULL THEN 'pays' END, *, (SELECT count(*) FROM s_spare), (SELECT count(*) FROM spare_payouts)
		FROM m_raw ORDER BY condition`, func(row []driver.Value) error {
		_, err := fmt.Fprintln(&out, row)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
