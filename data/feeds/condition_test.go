package feeds_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
)

// conditionFiles has a small file for every feed with condition ids; % stands for the id.
var conditionFiles = map[string]string{
	"trades.json": `[{"proxyWallet":"` + hexA + `","side":"BUY","asset":"7","conditionId":"%","size":1,"price":0.5,"timestamp":1700000000,` +
		`"title":"Q?","outcome":"No","outcomeIndex":1}]`,
	"trades.csv": "proxyWallet,side,asset,conditionId,size,price,timestamp,outcome,outcomeIndex\n" + hexA + ",BUY,7,%,1,0.5,1700000000,No,1\n",
	"labels.csv": "ts,address,token_id,side,shares,usd,condition_id,outcome_label\n2026-01-02T10:00:00Z," + hexA + ",7,BUY,1,0.5,%,No\n",
	"labels.ndjson": `{"ts":"2026-01-02T10:00:00Z","address":"` + hexA + `","token_id":"7","side":"BUY","shares":"1","usd":"0.5","condition_id":"%",` +
		`"outcome_label":"No"}` + "\n",
	"fills.csv": "ts,wallet,token,side,shares,usd,condition,outcome\n2026-01-02T10:00:00Z," + hexA + ",7,BUY,1,0.5,%,1\n",
	"polydata-trades.csv": "timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash\n" +
		"2025-09-10T01:18:12," + "%," + hexA + "," + hexB + ",token2,BUY,SELL,0.4,0.4,1.0," + hexTx + "\n",
	"dome.json": `{"orders":[{"token_id":"7","order_hash":"x","side":"BUY","condition_id":"%","shares":1000000,"price":0.5,"user":"` + hexA +
		`","timestamp":1700000000,"title":"Q?"}]}`,
	"gamma.json":     `[{"conditionId":"%","question":"Q?","outcomes":"[\"Yes\",\"No\"]"}]`,
	"list.json":      `[{"id":"%","question":"Q?","endDate":"2026-01-01T00:00:00Z","closed":true,"volume":"1"}]`,
	"clob.json":      `{"data":[{"condition_id":"%","question":"Q?","tokens":[{"token_id":"7","outcome":"Yes"},{"token_id":"8","outcome":"No"}]}]}`,
	"polydata.csv":   "id,question,answer1,answer2,token1,token2,condition_id\n1,Q?,Yes,No,7,8,%\n",
	"missing.csv":    "id,conditionId,question,clobTokenIds\n1,%,Q?,\"[\"\"7\"\",\"\"8\"\"]\"\n",
	"jonbecker.csv":  "id,condition_id,question,outcomes,outcome_prices,clob_token_ids\n1,%,Q?,\"[\"\"Yes\"\",\"\"No\"\"]\",,\n",
	"markets.csv":    "condition,question,outcomes,tokens\n%,Q?,\"[\"\"Yes\"\",\"\"No\"\"]\",\"[\"\"7\"\",\"\"8\"\"]\"\n",
	"payouts.csv":    "condition,payouts\n%,\"[\"\"1\"\",\"\"0\"\"]\"\n",
	"map.json":       `[{"condition_id":"%","payout_yes":1,"payout_no":0}]`,
	"resolved.json":  `[{"condition_id":"%","outcomes":"Yes|No","final_prices":"1|0","winner":"Yes","closed":"True"}]`,
	"positions.json": `{"positions":[{"id":"7","condition":"%","outcomeIndex":"1"}]}`,
}

// TestConditionForms checks that every feed takes a condition id of 62 digits, in any letter case,
// for that of 64 digits that ends in 00, and rejects or leaves out one of 63.
func TestConditionForms(t *testing.T) {
	short := "0x" + strings.Repeat("aB", 31)
	want, err := data.ParseHash(short + "00")
	if err != nil {
		t.Fatal(err)
	}
	for nth, name := range slices.Sorted(maps.Keys(conditionFiles)) {
		content := conditionFiles[name]
		in := func(id string) *collect { return read(t, text(t, name, strings.ReplaceAll(content, "%", id))) }
		long := in(short + "00")
		if len(long.rejects) != 0 || len(long.fills)+len(long.markets)+len(long.resolutions)+len(long.tokens) == 0 {
			t.Errorf("%s: the file gives no market: %+v", name, long)
		}
		ids := []string{short, strings.ToLower(short), "0X" + strings.ToUpper(short[2:]), short + "00"}
		if !testfiles.Long() {
			ids = ids[nth%len(ids):][:1] // the forms in turns
		}
		for _, id := range ids {
			got := in(id)
			if diff := cmp.Diff(long, got, cmp.AllowUnexported(collect{}, rejected{})); diff != "" {
				t.Errorf("%s: %s is a different market than with 00 at the end:\n%s", name, id, diff)
			}
		}
		for _, m := range long.markets {
			if m.Condition != want {
				t.Errorf("%s: market %s, want %s", name, m.Condition, want)
			}
		}
		if wrong := in(short + "0"); len(wrong.markets)+len(wrong.tokens)+len(wrong.resolutions) != 0 {
			t.Errorf("%s: 63 digits name a market: %+v", name, wrong)
		}
	}
}
