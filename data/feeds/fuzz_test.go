package feeds_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/feeds/shape"
	"pmx/data/reference"
)

// FuzzDetect: detection does not panic on any bytes, and the feed that it returns can read them.
func FuzzDetect(f *testing.F) {
	f.Add([]byte(`[{"conditionId":"0x","question":"q","outcomes":"[]"}]`))
	f.Add([]byte(`{"data":[{"condition_id":"0x","tokens":[]}],"next_cursor":"LTE="}`))
	f.Add([]byte("Timestamp,Account,Type,Outcome,Amount,Shares,Price\n2022-11-19,0x,Buy,Yes,1,2,NA\n"))
	f.Add([]byte("condition_id,payout_yes,payout_no\n,,\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := feeds.HeadOf(bytes.NewReader(b))
		if err != nil {
			return
		}
		feed, err := feeds.Detect(h)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a message")
			}
			return
		}
		if feed.Read != nil && h.Format != data.Parquet {
			// Whatever the content, reading ends: with rows, rejects or an error.
			_ = feed.Read(context.Background(), data.Source{Name: "x", Format: h.Format, Cities: reference.Gazetteer()}, bytes.NewReader(b), &collect{})
		}
	})
}

// FuzzGamma: whatever a Gamma record contains, the resulting market is valid.
func FuzzGamma(f *testing.F) {
	f.Add(`"outcomes":"[\"Yes\",\"No\"]","outcomePrices":["1","0"],"closed":true`)
	f.Add(`"outcomes":["A"],"clobTokenIds":"['1', 2]","events":"[{}]","tags":[1,null]`)
	f.Add(`"outcomePrices":"[\"0.5\",\"0.5\"]","umaResolutionStatus":"resolved","closed":"1"`)
	f.Add(`"outcomes":"[]","clobTokenIds":["1"]`)
	feed, err := feeds.ByName("gamma-markets")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, members string) {
		c := &collect{}
		in := `[{"conditionId":"` + hexC + `",` + members + `}]`
		if feed.Read(context.Background(), data.Source{Format: data.JSON}, strings.NewReader(in), c) != nil {
			return
		}
		for _, m := range c.markets {
			if m.TokenIDs != nil && m.Outcomes != nil && len(m.TokenIDs) != len(m.Outcomes) {
				t.Errorf("%d tokens for %d outcomes", len(m.TokenIDs), len(m.Outcomes))
			}
			if m.Resolution == nil {
				continue
			}
			sum := data.Micro(0)
			for _, p := range m.Resolution.Payouts {
				sum += p
			}
			if sum != data.One {
				t.Errorf("payouts %v", m.Resolution.Payouts)
			}
		}
	})
}

// FuzzFillCSV: the SQL of a feed does not fail on any cell. A row is a valid fill, or is rejected
// with a reason that has an explanation.
func FuzzFillCSV(f *testing.F) {
	headers := []string{
		"timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash",
		"timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash",
		"proxyWallet,side,asset,conditionId,size,price,timestamp,outcomeIndex,transactionHash",
		"ts,wallet,token,side,shares,usd,fee,log_index,outcome,condition",
	}
	f.Add("1700000000," + hexA + ",0,400000," + hexB + ",7,1000000," + hexTx)
	f.Add("9223372036854775807,é,0,-9223372036854775808,,7,9223372036854775807,0x")
	f.Add("2025-09-10T01:18:12.000000," + hexC + "," + hexA + "," + hexB + ",token2,BUY,SELL,0.4,1e300,-1,")
	f.Add(hexA + ",BUY,7," + hexC + ",nan,inf,99999999999999999999,-1," + hexTx)
	f.Add("2026-01-06T00:17:49+99:99," + hexA + ",0,sell,1e-7,0.5,x,99999999999,128," + hexC)
	f.Add("1," + hexA + ",7,BUY,999999999999.999999,999999999999.999999,1e11,1,1," + hexC)
	db := openDB(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, row string) {
		if !utf8.ValidString(row) || strings.ContainsAny(row, "\"\x00") {
			t.Skip("the file as a whole cannot be read")
		}
		for _, header := range headers {
			path := filepath.Join(dir, "f.csv")
			if err := os.WriteFile(path, []byte(header+"\n"+row+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			h, feed := head(t, path)
			q, err := feed.Query(data.Source{Path: path, Format: data.CSV}, h)
			if err != nil {
				t.Fatal(err)
			}
			c := &collect{}
			if err := fillRows(t, db, q.Fills, c); err != nil {
				t.Fatal(err)
			}
			checkRows(t, c)
		}
	})
}

func checkRows(t *testing.T, c *collect) {
	t.Helper()
	for _, r := range c.rejects {
		if shape.Detail(r.Reason) == "" {
			t.Errorf("the reason %q has no explanation", r.Reason)
		}
	}
	for _, n := range c.fills {
		if err := shape.Check(n.Fill); err != nil || n.TS < shape.FirstMicro || n.TS > shape.LastMicro {
			t.Errorf("%+v: %v", n, err)
		}
	}
}
