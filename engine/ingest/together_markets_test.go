package ingest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// folder is a folder of files of fills by day, and the files that are imported before it.
type folder struct {
	markets string         // of some of its conditions; "": none
	before  []parquetRow   // fills
	days    [][]parquetRow // in order of time
}

// drawFolder draws a folder whose fills say the markets of their tokens, which are not known, or in part. Two tokens
// belong to a condition. In some folders some rows do not say the market, or say another one.
func drawFolder(r *rand.Rand) (f folder) {
	tokens := 2 + r.IntN(9)
	condition := func(token int) string { return fmt.Sprintf("0x%062d%02d", 0, 97-7*(token/2)) } // not in the order of tokens
	silent, contrary := r.IntN(4) == 0, r.IntN(4) == 0
	row := func(day, nth int) parquetRow {
		token := r.IntN(tokens)
		row := drawRow(r, day, 0)
		row.ts = fmt.Sprintf("'2026-01-%02d 10:00:%02d+00'::TIMESTAMPTZ", day, nth)
		row.tx = fmt.Sprintf("'0x%08d%056d'", 100*day+nth, 0)
		row.token, row.condition, row.outcome, row.name = fmt.Sprintf("'7%d'", token), "'"+condition(token)+"'", fmt.Sprint(token%2), "NULL"
		switch {
		case silent && r.IntN(3) == 0:
			row.condition, row.outcome = "NULL", "NULL"
		case contrary && r.IntN(8) == 0:
			row.condition = "'" + condition(r.IntN(tokens+2)) + "'"
		case contrary && r.IntN(8) == 0:
			row.outcome = []string{"0", "1", "2", "NULL"}[r.IntN(4)]
		}
		return row
	}
	if r.IntN(2) == 0 {
		f.markets = "condition_id,question,outcomes,token_ids\n"
		for token := 0; token < tokens; token += 2 {
			list := fmt.Sprintf(`"[""7%d"",""7%d""]"`, token, token+1)
			if r.IntN(4) == 0 {
				list = `"[""81"",""82""]"`
			}
			if r.IntN(3) == 0 {
				f.markets += fmt.Sprintf(`%s,?,"[""Yes"",""No""]",%s`+"\n", condition(token), []string{list, ""}[r.IntN(2)])
			}
		}
	}
	if r.IntN(2) == 0 {
		for nth := range 1 + r.IntN(4) {
			row := row(1, nth)
			if r.IntN(3) == 0 {
				row.label, row.outcome = []string{"'Yes'", "'No'"}[r.IntN(2)], "NULL"
			}
			f.before = append(f.before, row)
		}
	}
	for day := range 2 + r.IntN(4) {
		var rows []parquetRow
		for nth := range r.IntN(9) {
			rows = append(rows, row(day+2, nth))
		}
		if day == 0 && len(f.before) > 0 && r.IntN(3) == 0 { // known
			rows = append(slices.Clone(f.before[:1]), rows...)
			rows[0].label = "NULL"
		}
		f.days = append(f.days, rows)
	}
	return f
}

// everything returns all rows of every table that an import writes.
func (v *intake) everything() map[string]string {
	out := map[string]string{"batches": v.inBatches()}
	for _, table := range []string{"fills", "wallets", "tokens", "markets", "waiting_fills", "wallet_names", "payout_log", "spare_payouts", "lost_fills", "blocks", "block_times"} {
		out[table] = v.lines("SELECT t::VARCHAR FROM " + table + " AS t ORDER BY ALL")
	}
	return out
}

// TestFilesThatSayMarketsAreImportedTogetherAsOneByOne imports random folders whose fills say the markets of their tokens one by one
// and together, appended or staged: every receipt and every row of every table are equal, ids included, or
// nothing is imported.
func TestFilesThatSayMarketsAreImportedTogetherAsOneByOne(t *testing.T) {
	v := open(t)
	v.im.BulkRows = 1
	done, left, late, unmapped := 0, 0, 0, 0
	for seed := range uint64(testfiles.Cases(9, 30)) {
		r := rand.New(rand.NewPCG(seed, 113))
		f, plain := drawFolder(r), []int64{1, math.MaxInt64}[r.IntN(2)]
		var plans []ingest.Plan
		for i, rows := range f.days {
			p, _, err := v.im.Identify(v.parquet(fmt.Sprintf("day%d.parquet", i), rows), "")
			if err != nil {
				t.Fatal(err)
			}
			plans = append(plans, p)
		}
		start := func() {
			v.empty()
			v.im.PlainBytes = math.MaxInt64
			if f.markets != "" {
				if _, err := v.load("markets.csv", f.markets); err != nil {
					t.Fatal(err)
				}
			}
			if f.before != nil {
				if _, err := v.bring(v.parquet("before.parquet", f.before), ingest.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			v.im.PlainBytes = plain
		}
		opts := ingest.Options{Remaining: ingest.Remaining{Files: 1, Fills: 1000}}
		start()
		var one []ingest.Receipt
		for _, p := range plans {
			receipt, err := v.im.Import(t.Context(), p, opts)
			if err != nil {
				t.Fatal(err)
			}
			one = append(one, receipt)
		}
		want := v.everything()
		start()
		untouched := v.everything()
		all, err := v.im.ImportTogether(t.Context(), plans, opts)
		if err != nil {
			left++
			if diff := cmp.Diff(untouched, v.everything()); diff != "" {
				t.Fatalf("seed %d: files that are left (%v) changed:\n%s", seed, err, diff)
			}
			continue
		}
		done++
		for i := range all {
			if i > 0 && all[i].MarketsNew > 0 {
				late++
			}
			unmapped += int(all[i].Unmapped)
		}
		inner := []cmp.Option{cmpopts.IgnoreFields(ingest.Receipt{}, "Seconds"), cmpopts.IgnoreUnexported(ingest.Receipt{})}
		if diff := cmp.Diff(one, all, inner...); diff != "" {
			t.Fatalf("seed %d: receipts of %+v (-one by one +together):\n%s", seed, f, diff)
		}
		if diff := cmp.Diff(want, v.everything()); diff != "" {
			t.Fatalf("seed %d: rows of %+v (-one by one +together):\n%s", seed, f, diff)
		}
	}
	t.Logf("%d together, %d left, %d later files with new markets, %d fills without a market", done, left, late, unmapped)
	if done < left || left == 0 || late == 0 || unmapped == 0 {
		t.Errorf("%d together, %d left, %d later files with new markets, %d fills without a market: the cases do not try all", done, left, late, unmapped)
	}
}
