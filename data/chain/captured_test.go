package chain_test

import (
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/chain"

	"pmx/data/testfiles"
)

// TestDollarFees: fees of v2 are read exactly, on both sides. These follow the venue's formula,
// shares · rate · p · (1 − p) rounded down to 5 places.
func TestDollarFees(t *testing.T) {
	checkFees(t, []vector{
		{"standard", "BUY", "300000", "1000000", "14700", "0.30", "0.07"},
		{"neg_risk", "BUY", "6600000", "10000000", "112200", "0.66", "0.05"},
		{"neg_risk", "SELL", "6000000", "2880000", "74880", "0.48", "0.05"},
		{"standard", "SELL", "2560000", "2355200", "13180", "0.92", "0.07"},
		{"standard", "BUY", "5000000", "5952381", "0", "0.84", "0"},
	})
}

// TestCapturedFees: fees of captured fills follow the formula, too.
func TestCapturedFees(t *testing.T) {
	b, err := os.ReadFile(testfiles.Captured(t, "G_live", "fee_vectors", "chain_order_filled_taker_fees.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 21 {
		t.Fatalf("%d vectors: %v", len(list), err)
	}
	var vectors []vector
	for _, v := range list {
		vectors = append(vectors, vector{v["exchange"], v["side"], v["maker_amount_filled"], v["taker_amount_filled"], v["fee"], v["price"], v["fee_rate"]})
	}
	checkFees(t, vectors)
}

type vector struct{ exchange, side, makerAmount, takerAmount, fee, price, rate string }

func checkFees(t *testing.T, vectors []vector) {
	t.Helper()
	for _, v := range vectors {
		number := func(s string) *big.Int {
			n, ok := new(big.Int).SetString(s, 10)
			if !ok {
				t.Fatal(s)
			}
			return n
		}
		address, side := exchangeV2, 0
		if v.exchange == "neg_risk" {
			address = "0xe2222d279d744050d28E00520010520000310F59"
		}
		shares := v.takerAmount
		if v.side == "SELL" {
			side, shares = 1, v.makerAmount
		}
		l := log(address, []string{topicV2, "c0de", maker, address}, side, 7, number(v.makerAmount), number(v.takerAmount), number(v.fee), 0, 0)
		e := must(t, text(t, l))
		rat := func(s string) *big.Rat {
			r, ok := new(big.Rat).SetString(s)
			if !ok {
				t.Fatal(s)
			}
			return r
		}
		p := rat(v.price)
		fee := new(big.Rat).Mul(new(big.Rat).Mul(rat(shares), rat(v.rate)), new(big.Rat).Mul(p, new(big.Rat).Sub(big.NewRat(1, 1), p)))
		tens := new(big.Int).Quo(fee.Num(), new(big.Int).Mul(fee.Denom(), big.NewInt(10)))
		if want := data.Micro(tens.Int64() * 10); e.Fill.Fee != want || e.Fill.FeeIn != chain.Dollars || e.Fill.Role != data.Taker {
			t.Errorf("%+v: fee %d in %d of role %d, want %d", v, e.Fill.Fee, e.Fill.FeeIn, e.Fill.Role, want)
		}
	}
}

// TestCapturedLogs: captured logs decode to the values that others have published.
func TestCapturedLogs(t *testing.T) {
	dir := testfiles.Captured(t, "G_live", "rpc_logs")
	list, err := os.ReadFile(filepath.Join(dir, "DECODED.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[chain.EventKind]int{}
	for line := range strings.Lines(string(list)) {
		var want struct {
			File, Tx, Maker, Taker, Side, Token, Role, Condition string
			Block                                                int64
			LogIndex                                             *int32
			Shares, USD                                          float64
			FeeRaw                                               float64 `json:"fee_raw"`
			FeeUSD                                               float64 `json:"fee_usd"`
			Payouts                                              []data.Micro
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, want.File))
		if err != nil {
			t.Fatal(err)
		}
		e := must(t, b)
		kinds[e.Kind]++
		if e.Log.Block != want.Block || e.Log.Tx.String() != want.Tx || want.LogIndex != nil && e.Log.Index != *want.LogIndex {
			t.Errorf("%s: %+v", want.File, e.Log)
		}
		micro := func(f float64) data.Micro {
			m, err := data.MicroOf(f)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		f := e.Fill
		switch e.Kind {
		case chain.Filled:
			side := map[data.Side]string{data.Buy: "BUY", data.Sell: "SELL"}[f.Side]
			role := map[data.Role]string{data.Maker: "maker", data.Taker: "taker"}[f.Role]
			if f.Maker.String() != want.Maker || f.Taker.String() != want.Taker || side != want.Side || role != want.Role && want.Role != "" ||
				string(chain.AppendDecimal(nil, f.Token)) != want.Token || f.Shares != micro(want.Shares) || f.USD != micro(want.USD) ||
				f.Fee != micro(want.FeeRaw+want.FeeUSD) || (f.FeeIn == chain.Shares) != (want.FeeRaw > 0) {
				t.Errorf("%s: %+v, want %+v", want.File, f, want)
			}
		case chain.Resolved:
			if diff := cmp.Diff(want.Payouts, e.Resolution.Payouts); diff != "" || e.Resolution.Condition.String() != want.Condition {
				t.Errorf("%s: %+v %s", want.File, e.Resolution, diff)
			}
		}
	}
	if kinds[chain.Filled] != 5 || kinds[chain.Resolved] != 1 || kinds[chain.PassedOver] != 8 {
		t.Errorf("%v", kinds)
	}
}
