package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/engine/ingest"

	"pmx/data/testfiles"
)

// chainFill is a fill of the first exchange in the formats of several feeds: addressA buys 25 of
// token 71 for 10 dollars, of which the exchange takes fee.
func chainFill(t *testing.T, v *intake, fee int) map[string]string {
	t.Helper()
	word := func(n any) string { return fmt.Sprintf("%064v", n) }
	topic := func(a string) string { return `"0x` + strings.Repeat("0", 24) + a[2:] + `"` }
	log := fmt.Sprintf(`{"address":"0x4bFb41d5B3570DeFd03C39A9A4D8dE6Bd8B8982E","topics":["0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6","%s",%s,%s],`+
		`"data":"0x%s%s%s%s%s","blockNumber":"0x4000000","transactionHash":"%s","logIndex":"0x7"`,
		hashTwo, topic(addressA), topic(addressB), word(0), word("47"), word(fmt.Sprintf("%x", 10_000_000)), word(fmt.Sprintf("%x", 25_000_000)), word(fmt.Sprintf("%x", fee)), hashOne)
	parquet := filepath.Join(v.at, "jonbecker.parquet")
	writer, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := writer.Exec(fmt.Sprintf(`COPY (SELECT 67108864 AS block_number, '%s' AS transaction_hash, 7 AS log_index, '%s' AS maker, '%s' AS taker,
		'0' AS maker_asset_id, '71' AS taker_asset_id, 10000000 AS maker_amount, 25000000 AS taker_amount, %d AS fee, 1700000000 AS timestamp) TO '%s' (FORMAT parquet)`,
		hashOne, addressA, addressB, fee, parquet)); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"polygon-logs": v.write("logs.json", `{"jsonrpc":"2.0","id":1,"result":[`+log+`,"blockTimestamp":"0x6553f100"}]}`),
		"undated":      v.write("undated.json", `[`+log+`}]`),
		"pmx-fills": v.write("fills.csv", "ts,address,token_id,side,shares,usd,fee,role,transaction_hash,log_index,block\n2023-11-14T22:13:20Z,"+addressA+
			fmt.Sprintf(",71,BUY,25,10,%f,maker,", float64(fee)/1e6)+hashOne+",7,67108864\n"),
		"jonbecker-trades": parquet,
	}
}

// TestALogIsTheSameFillInEveryFeed, whichever feed came first.
func TestALogIsTheSameFillInEveryFeed(t *testing.T) {
	for turn, fee := range []int{0, 12} {
		v := open(t)
		files := chainFill(t, v, fee)
		delete(files, "undated")
		var want map[string][]string
		names := slices.Sorted(maps.Keys(files))
		for i, first := range names {
			for k, second := range names {
				if !testfiles.Long() && (i+k)%2 != turn {
					continue // tried with the other fee
				}
				v.empty()
				for i, name := range []string{first, second} {
					r, err := v.bring(files[name], ingest.Options{})
					if err != nil || r.Feed != name || r.Read != 1 || r.Inserted != int64(1-i) || r.AlreadyThere != int64(i) || r.Conflicts != 0 {
						t.Errorf("%s after %s, fee %d: err = %v, r = %+v", second, first, fee, err, r)
					}
				}
				got := v.facts()
				if want == nil {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" || len(got["fills"]) != 1 {
					t.Errorf("%s, %s (-want +got):\n%s", first, second, diff)
				}
			}
		}
	}
}

// TestAnUndatedLogHasTheTimeOfItsBlock, and is rejected until the block's time is known.
func TestAnUndatedLogHasTheTimeOfItsBlock(t *testing.T) {
	v := open(t)
	files := chainFill(t, v, 0)
	r, err := v.bring(files["undated"], ingest.Options{})
	if err != nil || r.Read != 1 || r.Rejected["unknown_block"] != 1 {
		t.Errorf("err = %v, r = %+v", err, r)
	}
	v.each(func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, "INSERT INTO blocks VALUES (67108864, 1700000000000000)")
		return err
	})
	if r, err := v.bring(files["undated"], ingest.Options{}); err != nil || r.Inserted != 1 {
		t.Errorf("err = %v, r = %+v", err, r)
	}
	if r, err := v.bring(files["polygon-logs"], ingest.Options{}); err != nil || r.AlreadyThere != 1 || r.Conflicts != 0 {
		t.Errorf("err = %v, r = %+v", err, r)
	}
}

// TestLogsBringMarketsAndPayouts: a file of logs has fills, tokens and payouts, and importing it
// again changes nothing.
func TestLogsBringMarketsAndPayouts(t *testing.T) {
	v := open(t)
	for i := range 2 {
		for name, want := range map[string]ingest.Receipt{
			"logs.json":   {Read: 5, Inserted: 2, PayoutRows: 1, TokensMapped: 1, Resolutions: 1, MarketsNew: 1},
			"logs.ndjson": {Read: 3, Inserted: 2, PayoutRows: 1, Resolutions: 1, MarketsNew: 1},
		} {
			r, err := v.bring(testfiles.Path("feeds", "whole", name), ingest.Options{})
			if i == 1 {
				want = ingest.Receipt{Read: want.Read, AlreadyThere: want.Inserted, PayoutRows: 1}
			}
			got := ingest.Receipt{Read: r.Read, Inserted: r.Inserted, AlreadyThere: r.AlreadyThere, PayoutRows: r.PayoutRows, TokensMapped: r.TokensMapped,
				Resolutions: r.Resolutions, MarketsNew: r.MarketsNew}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(ingest.Receipt{})); diff != "" || err != nil || accounted(t, r) != r.Read || r.Conflicts != 0 {
				t.Errorf("%s, import %d: err = %v, diff = %s, r = %+v", name, i+1, err, diff, r)
			}
		}
	}
	got := v.lines("SELECT payout_source, payouts::VARCHAR, payout_at FROM markets ORDER BY ALL")
	if want := "6|[0, 1000000]|1786195459000000|\n6|[1000000, 0]|1786195477000000|\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := v.lines("SELECT count(*) FROM tokens AS t JOIN markets USING (market) WHERE outcome = 1"); got != "1|\n" {
		t.Errorf("%q tokens are mapped", got)
	}
}

// TestARefundThatComesLater: importing a file that was truncated before the refund of a fee, and
// then the whole file, gives the same as the whole file alone.
func TestARefundThatComesLater(t *testing.T) {
	v := open(t)
	b, err := os.ReadFile(testfiles.Path("feeds", "whole", "logs.json"))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	from := strings.Index(whole, `{"address":"0xe3f18acc`)
	without := whole[:from] + whole[from+strings.Index(whole[from:], "},")+2:]
	load := func(contents ...string) map[string][]string {
		v.empty()
		for _, content := range contents {
			if r, err := v.load("logs.json", content); err != nil || r.Conflicts != 0 {
				t.Errorf("err = %v, r = %+v", err, r)
			}
		}
		return v.facts()
	}
	want := load(whole)
	for _, order := range [][]string{{without, whole}, {whole, without}} {
		if diff := cmp.Diff(want, load(order...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(want, load(without)); diff == "" {
		t.Error("a fill without its refund has the remaining fee")
	}
}
