package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"pmx/data/testfiles"
	"pmx/engine/ingest"
)

// apiRow returns a row of a file of the data API's trades, each with a different token and time.
const apiHeader = "proxyWallet,side,asset,conditionId,size,price,timestamp,name,title,transactionHash\n"

func apiRow(i int, name, title string) string {
	return fmt.Sprintf("%s,BUY,%d,%s,10,0.5,%d,%s,%s,%s\n", addressA, 71+i, hashTwo, 1767000000+i, name, title, hashOne)
}

// TestTwoStrayQuotesRejectTheirLines: a quote that opens a cell in one row and one that ends a cell
// in a later row do not affect the rows between them.
func TestTwoStrayQuotesRejectTheirLines(t *testing.T) {
	testfiles.InLong(t, "TestAStrayQuoteRejectsItsRow has a file with one")
	const rows = 400
	market := func(i int, question string) string {
		return fmt.Sprintf("0x%064x,%s,\"[\"\"Yes\"\",\"\"No\"\"]\",\"[\"\"%d\"\",\"\"%d\"\"]\"\n", 0xa000000+i, question, 1000+2*i, 1001+2*i)
	}
	for name, tc := range map[string]struct {
		header string
		row    func(i int, cell string) string
	}{
		"api.csv": {apiHeader, func(i int, cell string) string { return apiRow(i, cell, "T") }},
		"fills.csv": {"ts,address,token_id,side,shares,usd,username,transaction_hash\n", func(i int, cell string) string {
			return fmt.Sprintf("%d,%s,%d,BUY,10,4,%s,%s\n", 1767000000+i, addressA, 71+i, cell, hashOne)
		}},
		"orderFilled.csv": {"timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,note,transactionHash\n",
			func(i int, cell string) string {
				return fmt.Sprintf("%d,%s,0,400000,%s,77,1000000,%s,%s\n", 1700000000+i, addressA, addressB, cell, hashOne)
			}},
		"ohio_senate.csv": {"Timestamp,Account,Type,Outcome,Amount,Shares,Price,Note\n", func(i int, cell string) string {
			return fmt.Sprintf("2022-11-19 22:21:29,%s,Buy,Smith,0.25,%d.5,NA,%s\n", addressA, i+1, cell)
		}},
		"markets.csv": {"condition_id,question,outcomes,token_ids\n", market},
	} {
		var b strings.Builder
		b.WriteString(tc.header)
		for i := range rows {
			cell := fmt.Sprintf("n%d", i)
			switch i {
			case 40:
				cell = `"Bob`
			case 300:
				cell = `Al"`
			}
			b.WriteString(tc.row(i, cell))
		}
		r, err := open(t).load(name, b.String())
		if err != nil || r.Read != rows || r.Inserted+r.MarketsNew < rows-1 || r.Rejected["bad_row"] != 1 || r.RejectedRows() != 1 {
			t.Errorf("%s: err = %v, r = %+v", name, err, r)
			continue
		}
		if kept, err := os.ReadFile(r.RejectedFile); err != nil || !strings.Contains(string(kept), `"line":42,`) {
			t.Errorf("%s: err = %v, kept = %s", name, err, kept)
		}
	}
}

// TestARowOfFillsIsOneLine: a name with a line end in quotes is rejected with the reason, and one that is escaped is read.
func TestARowOfFillsIsOneLine(t *testing.T) {
	const header = "ts,address,token_id,side,shares,usd,username\n"
	v := open(t)
	r, err := v.load("fills.csv", header+"1767000000,"+addressA+",71,BUY,10,4,\"Ann\nLee\"\n1767000001,"+addressB+`,72,BUY,10,4,'\Ann\nLee`+"\n")
	if err != nil || r.Inserted != 1 || r.RejectedRows() != 2 {
		t.Fatalf("err = %v, r = %+v", err, r)
	}
	kept, err := os.ReadFile(r.RejectedFile)
	if err != nil || !strings.Contains(string(kept), `"line":2,"reason":"bad_row","detail":"a quote opens a cell that does not end on its line: in a file of this feed, a row is one line"`) {
		t.Errorf("err = %v, kept = %s", err, kept)
	}
	if names := v.facts()["wallet_names"]; len(names) != 1 || !strings.Contains(names[0], "Ann\nLee") {
		t.Errorf("names: %q", names)
	}
}

// TestAByteThatIsNotUTF8RejectsItsRow in CSV, NDJSON and Parquet, in a column of the fill or of its
// market, and the raw row is stored.
func TestAByteThatIsNotUTF8RejectsItsRow(t *testing.T) {
	testfiles.InLong(t, "TestEveryLineIsInTheReceipt has such a byte in every feed")
	type fill struct {
		TS       int64  `parquet:"ts"`
		Address  string `parquet:"address"`
		Token    string `parquet:"token_id"`
		Side     string `parquet:"side"`
		Shares   string `parquet:"shares"`
		USD      string `parquet:"usd"`
		Username string `parquet:"username"`
	}
	var text, nd, title strings.Builder
	var table []fill
	text.WriteString(apiHeader)
	title.WriteString(apiHeader)
	for i := range 50 {
		name := "Ann"
		if i == 20 {
			name = "Jos\xe9"
		}
		text.WriteString(apiRow(i, name, "T"))
		title.WriteString(apiRow(i, "Ann", name))
		fmt.Fprintf(&nd, `{"ts":%d,"address":"%s","token_id":"7","side":"BUY","shares":"%d","usd":"4","username":"%s"}`+"\n", 1767000000+i, addressA, 10+i, name)
		table = append(table, fill{1767000000 + int64(i), addressA, "7", "BUY", fmt.Sprint(10 + i), "4", name})
	}
	var columns bytes.Buffer
	if err := parquet.Write(&columns, table); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"api.csv": text.String(), "title.csv": title.String(), "fills.ndjson": nd.String(), "fills.parquet": columns.String()} {
		v := open(t)
		r, err := v.load(name, content)
		if err != nil || r.Read != 50 || r.Inserted != 49 || r.Rejected["bad_utf8"] != 1 || r.RejectedRows() != 1 {
			t.Errorf("%s: err = %v, r = %+v", name, err, r)
			continue
		}
		if kept, err := os.ReadFile(r.RejectedFile); err != nil || !strings.Contains(string(kept), "Jos\uFFFD") {
			t.Errorf("%s: err = %v, kept = %s", name, err, kept)
		}
		_, err = v.bring(v.write(name, content), ingest.Options{OnError: ingest.RejectFile})
		if err == nil || !strings.Contains(err.Error(), "bad_utf8") || strings.Contains(err.Error(), "Invalid Input") {
			t.Errorf("%s, refused whole: %v", name, err)
		}
	}
}

// TestABrokenLineOfJSONIsKeptAsItIs: it is rejected with its line and text, and so is an object of
// another kind.
func TestABrokenLineOfJSONIsKeptAsItIs(t *testing.T) {
	good := `{"ts":1767000000,"address":"` + addressA + `","token_id":"7","side":"BUY","shares":"10","usd":"4"}` + "\n"
	for broken, reason := range map[string]string{
		`{"ts":1767000001,"address":"0xbroken`: "bad_json",
		`not JSON`:                             "bad_json",
		`{"other":1}`:                          "bad_json",
		`["list"]`:                             "bad_json",
		`{"ts":"\ud800"}`:                      "bad_json",
		`{"ts":1767000001,"address":"0xshort","token_id":"7","side":"BUY","shares":"10","usd":"4"}`: "bad_address",
	} {
		r, err := open(t).load("fills.ndjson", good+"\n  \n"+broken+"\n"+strings.Replace(good, "10", "11", 1))
		if err != nil || r.Read != 3 || r.Inserted != 2 || r.Rejected[reason] != 1 || r.RejectedRows() != 1 {
			t.Errorf("%s: err = %v, r = %+v", broken, err, r)
			continue
		}
		kept, err := os.ReadFile(r.RejectedFile)
		if err != nil || !strings.Contains(string(kept), `"line":4,`) || !strings.Contains(string(kept), `"raw":`) {
			t.Errorf("%s: err = %v, kept = %s", broken, err, kept)
		}
	}
}
