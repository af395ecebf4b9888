package keeper_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
)

// TestLeaderboardsDoNotDependOnTheOrderOfConflicts: files that give a block two times, and a log
// two contents; the row that loses is also known without its log.
func TestLeaderboardsDoNotDependOnTheOrderOfConflicts(t *testing.T) {
	testfiles.InLong(t, "TestTheOrderOfConflictingListsDoesNotMatter tries files that contradict each other in both orders")
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	blocks := func(name, at string) string {
		path := filepath.Join(t.TempDir(), name)
		if _, err := writer.Exec("COPY (SELECT 7 AS block_number, '" + at + "' AS timestamp) TO '" + path + "' (FORMAT parquet)"); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const (
		head = "ts,block,address,token_id,side,shares,usd,role,transaction_hash,log_index\n"
		tx   = "0x1100000000000000000000000000000000000000000000000000000000000011"
		late = "2026-01-03T00:00:01Z"
	)
	b := "0x00000000000000000000000000000000000000bb"
	base := []string{
		write(t, "market.ndjson", `{"condition_id":"`+rainy+`","question":"Q?","outcomes":["Yes","No"],"token_ids":["71","72"]}`+"\n"),
		write(t, "winners.csv", "condition_id,payouts,source,resolved_at,resolved_at_source\n"+rainy+`,"[""1"",""0""]",winner,2026-01-05T00:00:00Z,oracle`+"\n"),
		blocks("late.parquet", late),
	}
	files := []string{
		blocks("early.parquet", "2026-01-02T23:59:59Z"),
		write(t, "dated.csv", head+",7,"+walletA+",71,BUY,100,40,taker,"+tx+",5\n"+",7,"+b+",71,SELL,100,40,maker,"+tx+",6\n"),
		write(t, "other.csv", head+late+",,"+b+",72,BUY,10,5,,"+tx+",8\n"+late+",,"+walletA+",71,BUY,100,40,,"+tx+",8\n"),
		write(t, "bare.csv", head+late+",,"+walletA+",71,BUY,100,40,taker,"+tx+",\n"+late+",,"+b+",72,BUY,10,5,taker,"+tx+",\n"),
	}
	var want string
	for n, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 1, 3, 0}}[:testfiles.Cases(2, 4)] {
		k := open(t, t.TempDir())
		mustImport(t, k, base...)
		for _, nth := range order {
			mustImport(t, k, files[nth])
		}
		say := func() string {
			path, _, err := k.Exporter().WriteFacts(t.Context(), k.DB().Dir().Tmp(), "fills", data.CSV, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out := strings.Join(slices.Sorted(strings.Lines(string(text))), "") // a single file has no order
			for _, wallet := range []string{walletA, b} {
				trader, ok := find(t, k, k.Snapshot(), wallet)
				out += fmt.Sprintf("%t %+v %s\n", ok, trader.Totals, trader.Totals.RealPnL())
			}
			return out
		}
		got := say()
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %v:\n%s", order, diff)
		}
		alsoVerify(t, k)
		if n > 0 && !testfiles.Long() {
			continue
		}
		if err := k.Rebuild(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, say()); diff != "" {
			t.Errorf("order %v, rebuilt:\n%s", order, diff)
		}
	}
}
