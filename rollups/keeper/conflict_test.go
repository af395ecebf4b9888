package keeper_test

import (
	"context"
	"strings"
	"testing"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

const walletA = "0x00000000000000000000000000000000000000aa"

// profit is the profit in the snapshot of walletA, which bought 100 tokens of the first outcome for
// 40 dollars.
func profit(t *testing.T, k *keeper.Keeper) data.Micro {
	t.Helper()
	trader, ok := find(t, k, k.Snapshot(), walletA)
	if !ok {
		t.Fatal("the wallet is not in the snapshot")
	}
	return trader.Totals.RealPnL()
}

// TestACorrectionReachesEveryFigure: the live snapshot, the rollups, a rebuild, a restart, and
// another database that imports the export.
func TestACorrectionReachesEveryFigure(t *testing.T) {
	list := func(payouts string) string {
		return write(t, "winners.csv", "condition_id,payouts,source\n"+rainy+`,"`+strings.ReplaceAll(payouts, `"`, `""`)+`",map`+"\n")
	}
	facts := []string{
		write(t, "market.ndjson", `{"condition_id":"`+rainy+`","question":"Q?","outcomes":["Yes","No"],"token_ids":["71","72"]}`+"\n"),
		write(t, "fills.csv", "ts,address,token_id,side,shares,usd,role\n2026-01-02T10:00:00Z,"+walletA+",71,BUY,100,40,taker\n"),
	}
	wrong, right := list(`["1","0"]`), list(`["0","1"]`)
	k := open(t, t.TempDir())
	mustImport(t, k, append(facts, wrong)...)
	if r := mustImport(t, k, right)[0]; r.Conflicts != 1 || profit(t, k) != 60*data.One {
		t.Errorf("without the flag: %+v, profit %s", r, profit(t, k))
	}
	res, err := k.Import(context.Background(), keeper.Request{Paths: []string{right}, Correct: true}, nil)
	if err != nil || len(res.Failed) > 0 || res.Receipts[0].Conflicts != 0 || res.Receipts[0].Resolutions != 1 || !res.Receipts[0].Correct {
		t.Fatalf("corrected: err = %v, res = %+v", err, res)
	}
	check := func(k *keeper.Keeper, when string) {
		t.Helper()
		if r := mustImport(t, k, wrong)[0]; r.Conflicts != 1 || r.Resolutions != 0 {
			t.Errorf("%s: the wrong list again: %+v", when, r)
		}
		if got := profit(t, k); got != -40*data.One {
			t.Errorf("%s: profit %s, want -40", when, got)
		}
		if testfiles.Long() || when == "rebuilt" { // which moves the live rows into other tables
			mustVerify(t, k)
		}
	}
	check(k, "live")
	if err := k.Rebuild(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	check(k, "rebuilt")
	k = reopen(t, k)
	check(k, "opened again")
	if n := count(t, k, "SELECT count(*) FROM payout_log"); n != 2 {
		t.Errorf("%d payouts in the log, want both", n)
	}
	const word = "SELECT payouts::VARCHAR, payout_source, payout_version, payout_corrected_at FROM markets"
	for _, format := range export.Formats[:testfiles.Cases(1, len(export.Formats))] {
		path, _, err := k.Exporter().WriteFacts(t.Context(), k.DB().Dir().Tmp(), "resolutions", format, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := open(t, t.TempDir())
		mustImport(t, b, append(facts, path)...)
		if x, y := table(t, k, word), table(t, b, word); x != y {
			t.Errorf("%s: %s, want %s", format, y, x)
		}
		check(b, string(format))
	}
}
