package export_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data/testfiles"
	"pmx/engine/export"
	"pmx/rollups/keeper"
)

// feeVector is a fill of the newer exchanges, as on the chain.
type feeVector struct {
	Exchange string `json:"exchange"`
	Side     string `json:"side"`
	Maker    string `json:"maker_amount_filled"`
	Taker    string `json:"taker_amount_filled"`
	Fee      string `json:"fee"`
}

// chainLogs returns the logs of the vectors, one per transaction.
func chainLogs(t *testing.T, vectors []feeVector) string {
	t.Helper()
	var b strings.Builder
	for i, v := range vectors {
		exchange, side := "0xe111180000d2663c0091e4f400237545b87b996b", 0
		if v.Exchange == "neg_risk" {
			exchange = "0xe2222d279d744050d28e00520010520000310f59"
		}
		if v.Side == "SELL" {
			side = 1
		}
		word := func(s string) string {
			n, ok := new(big.Int).SetString(s, 10)
			if !ok {
				t.Fatal(s)
			}
			return fmt.Sprintf("%064x", n)
		}
		fmt.Fprintf(&b, `{"address":"%s","topics":["0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee","0x%064x","0x%064x","0x%064s"],`+
			`"data":"0x%064x%064x%s%s%s%064x%064x","blockNumber":"0x6000000","blockTimestamp":"0x68d3c000","transactionHash":"0x%064x","logIndex":"0x7"}`+"\n",
			exchange, i+1, 0xa1, exchange[2:], side, 71, word(v.Maker), word(v.Taker), word(v.Fee), 0, 0, i+1)
	}
	return b.String()
}

// checkFees imports vectors, exports them and imports the export, in every format.
func checkFees(t *testing.T, vectors []feeVector) {
	t.Helper()
	a := open(t, 1)
	mustImport(t, a, write(t, "logs.ndjson", chainLogs(t, vectors)))
	var want []string
	var total, cash int64
	for _, v := range vectors {
		var maker, taker, fee int64
		if _, err := fmt.Sscan(v.Maker+" "+v.Taker+" "+v.Fee, &maker, &taker, &fee); err != nil {
			t.Fatal(err)
		}
		shares, usd, sign := taker, maker, int64(-1)
		if v.Side == "SELL" {
			shares, usd, sign = maker, taker, 1
		}
		asset := "usd"
		if v.Side == "BUY" && fee == 0 {
			asset = "shares"
		}
		total, cash = total+fee, cash+sign*usd-fee
		want = append(want, fmt.Sprintf("%s %d %d %d %s", v.Side, shares, usd, fee, asset))
	}
	slices.Sort(want)
	first := facts(t, a)
	for _, format := range export.Formats {
		b := open(t, 1)
		path := exportFacts(t, a, format)[slices.Index(export.Facts, "fills")]
		var got []string
		for _, row := range query(t, a, fmt.Sprintf("SELECT concat_ws(' ', side, (shares::DECIMAL(18,6) * 1000000)::BIGINT, (usd::DECIMAL(18,6) * 1000000)::BIGINT, "+
			"(fee::DECIMAL(18,6) * 1000000)::BIGINT, fee_asset) AS said FROM '%s' ORDER BY said", path)) {
			got = append(got, row["said"])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
		mustImport(t, b, path)
		if diff := cmp.Diff(first, facts(t, b)); diff != "" {
			t.Errorf("back from %s (-want +got):\n%s", format, diff)
		}
		checkTotals(t, b, total, cash)
	}
	checkTotals(t, a, total, cash)
}

// checkTotals checks a wallet's fees in dollars and its net cash, and verifies the database.
func checkTotals(t *testing.T, k *keeper.Keeper, fees, cash int64) {
	t.Helper()
	got := query(t, k, "SELECT sum(fee_usd)::BIGINT AS fees, sum(sell_usd - buy_usd - fee_usd)::BIGINT AS cash, sum(unresolved_cash)::BIGINT AS open "+
		"FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) AS w")[0]
	want := map[string]string{"fees": fmt.Sprint(fees), "cash": fmt.Sprint(cash), "open": fmt.Sprint(cash)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	checks, err := k.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if !c.OK {
			t.Errorf("verify: %+v", c)
		}
	}
}

// TestDollarFeesOfBothSides: fees of the newer exchanges are stored exactly, for buys too, exported
// and imported in every format, and included in profits.
func TestDollarFeesOfBothSides(t *testing.T) {
	checkFees(t, []feeVector{{"standard", "BUY", "300000", "1000000", "14700"}, {"neg_risk", "SELL", "6000000", "2880000", "74880"},
		{"neg_risk", "BUY", "6600000", "10000000", "112201"}, {"standard", "BUY", "5000000", "5952381", "0"}})
}

// TestCapturedDollarFees is the same for captured fills.
func TestCapturedDollarFees(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "fee_vectors", "chain_order_filled_taker_fees.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []feeVector
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 21 {
		t.Fatalf("%d vectors: %v", len(list), err)
	}
	checkFees(t, list)
}

// TestAFeeOfAnEarlierExport: files without fee_asset have fees of buys in tokens, and an impossible
// fee counts as none.
func TestAFeeOfAnEarlierExport(t *testing.T) {
	testfiles.InLong(t, "TestFactsOfEarlierVersionsAreRead reads files without the newer columns")
	row := func(head, side, fee string, n int) string {
		return fmt.Sprintf("ts,address,token_id,side,shares,usd,transaction_hash,log_index,%s\n2026-01-02T10:00:00Z,0x%040x,71,%s,10,4,0x%064x,7,%s\n", head, 0xa1, side, n, fee)
	}
	k := open(t, 1)
	for i, c := range []struct{ head, side, fee, want string }{
		{"fee", "BUY", "0.5", "500000"}, {"fee", "SELL", "0.5", "500000"}, {"fee,fee_asset", "BUY", "0.5,", "500000"},
		{"fee,fee_asset", "BUY", "0.5,shares", "500000"}, {"fee,fee_asset", "BUY", "0.5,USD", "-500000"}, {"fee,fee_asset", "SELL", "0.5,usd", "500000"},
		{"fee,fee_asset", "BUY", ",usd", "0"}, {"fee,fee_asset", "BUY", "0,usd", "0"},
		{"fee", "BUY", "-0.5", ""}, {"fee", "SELL", "-0.5", ""}, {"fee,fee_asset", "BUY", "-0.5,usd", ""}, {"fee,fee_asset", "SELL", "0.5,shares", ""},
		{"fee,fee_asset", "BUY", "0.5,eur", ""},
	} {
		path := write(t, "fills.csv", row(c.head, c.side, c.fee, i+1))
		if c.want == "" {
			res, err := k.Import(t.Context(), keeper.Request{Paths: []string{path}}, nil)
			if rejected := len(res.Receipts) == 1 && res.Receipts[0].Rejected["bad_amount"] == 1; err != nil || !rejected {
				t.Errorf("%v: err = %v, res = %+v", c, err, res)
			}
			continue
		}
		mustImport(t, k, path)
		if got := query(t, k, fmt.Sprintf("SELECT fee::VARCHAR AS fee FROM fills WHERE lower(hex(tx)) = '%064x'", i+1)); len(got) != 1 || got[0]["fee"] != c.want {
			t.Errorf("%v: got %v", c, got)
		}
	}
}
