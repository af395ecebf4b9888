package feeds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pmx/data"
)

const (
	hexA  = "0xAAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	hexB  = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	hexTx = "0x1111111111111111111111111111111111111111111111111111111111111111"
	hexC  = "0x2222222222222222222222222222222222222222222222222222222222222222"
	exch  = "0xC5d563A36AE78145C45a50134d48A1215220f80a"
)

// TestTradesInEveryFormat reads the same two rows of /trades as an array, as lines, as a v2 page
// and as CSV. 12.5 × 0.4 is 5 dollars; 0.000003 × 0.5 rounds to 2e-6.
func TestTradesInEveryFormat(t *testing.T) {
	v1 := []string{
		`{"proxyWallet":"` + hexA + `","side":"BUY","asset":"` + maxToken + `","conditionId":"` + hexC + `","size":12.5,"price":0.4,"timestamp":1700000000,"title":"Q?","slug":"q","eventSlug":"e","outcome":"No","outcomeIndex":1,"name":"Ann","transactionHash":"` + hexTx + `"}`,
		`{"proxyWallet":"` + hexB + `","side":"sell","asset":"7","conditionId":"","size":"0.000003","price":"0.5","timestamp":1700000000123,"outcomeIndex":999}`,
	}
	v2 := strings.NewReplacer("proxyWallet", "proxy_wallet", `"asset"`, `"token_id"`, "conditionId", "condition_id",
		"eventSlug", "event_slug", "outcomeIndex", "outcome_index", "transactionHash", "transaction_hash")
	table := "proxyWallet,side,asset,conditionId,size,price,timestamp,title,slug,eventSlug,outcome,outcomeIndex,name,transactionHash\n" +
		hexA + ",BUY," + maxToken + "," + hexC + ",12.5,0.4,1700000000,Q?,q,e,No,1,Ann," + hexTx + "\n" +
		hexB + ",sell,7,,0.000003,0.5,1700000000123,,,,,999,,\n"
	want := []numbered{
		{Row: 1, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, TS: 1700000000_000000, Wallet: address(0xaa), Role: data.Taker,
			TokenID: maxToken, Side: data.Buy, Shares: 12_500_000, USD: 5_000_000, Condition: hash(0x22), Outcome: 1, Name: "Ann"}},
		{Row: 2, Fill: data.Fill{LogIndex: -1, TS: 1700000000_123000, Wallet: address(0xbb), Role: data.Taker,
			TokenID: "7", Side: data.Sell, Shares: 3, USD: 2, Outcome: -1}},
	}
	for name, content := range map[string]string{
		"array":  "[" + strings.Join(v1, ",\n") + "]",
		"lines":  strings.Join(v1, "\n"),
		"page":   `{"data":[` + v2.Replace(strings.Join(v1, ",")) + `],"pagination":{"has_more":false}}`,
		"bom":    "\xEF\xBB\xBF[" + strings.Join(v1, ",") + "]",
		"table":  table,
		"bomcsv": "\xEF\xBB\xBF" + table,
		"crlf":   strings.ReplaceAll(table, "\n", "\r\n"),
	} {
		c := read(t, text(t, name, content))
		if diff := cmp.Diff(want, c.fills); diff != "" {
			t.Errorf("%s: fills (-want +got):\n%s", name, diff)
		}
		if len(c.markets) != 1 || c.markets[0].Question != "Q?" || c.markets[0].EventSlug != "e" || !c.markets[0].Stub {
			t.Errorf("%s: markets %+v", name, c.markets)
		}
		ref := []data.TokenRef{{TokenID: maxToken, Condition: hash(0x22), Outcome: 1, Label: "No", Stub: true}}
		if diff := cmp.Diff(ref, c.tokens); diff != "" {
			t.Errorf("%s: tokens (-want +got):\n%s", name, diff)
		}
	}
}

// TestRolesWhereBothLegsAreThere: a transaction with rows of two wallets includes the maker's fill,
// in whatever order they are.
func TestRolesWhereBothLegsAreThere(t *testing.T) {
	other := strings.ReplaceAll(hexTx, "1", "3")
	header := "proxyWallet,side,asset,size,price,timestamp,transactionHash\n"
	table := header + hexA + ",BUY,7,1,0.5,1700000000," + hexTx + "\n" +
		hexA + ",BUY,7,1,0.5,1700000000," + other + "\n" +
		hexB + ",SELL,7,1,0.5,1700000000," + strings.ToUpper(hexTx[2:]) + "\n" +
		hexB + ",SELL,7,1,0.5,1700000000," + hexTx + "\n"
	object := func(row string) string {
		cells, names := strings.Split(row, ","), strings.Split(strings.TrimSpace(header), ",")
		var parts []string
		for i, n := range names {
			parts = append(parts, `"`+n+`":"`+cells[i]+`"`)
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	var lines []string
	for _, row := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
		lines = append(lines, object(row))
	}
	for name, content := range map[string]string{"csv": table, "ndjson": strings.Join(lines, "\n")} {
		c := read(t, text(t, name, content))
		var roles []data.Role
		for _, f := range c.fills {
			roles = append(roles, f.Role)
		}
		if diff := cmp.Diff([]data.Role{0, data.Taker, 0, 0}, roles); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestThinTradesUseCostAndDatetimeLast(t *testing.T) {
	c := read(t, text(t, "thin.csv", "proxyWallet,side,asset,size,cost,datetime\n"+
		hexA+",BUY,7,3454.2765,3432.8399515,2026-01-05 16:17:49-08:00\n"+
		hexA+",BUY,7,1,0.5,1970-01-21 10:58:24.071000+00:00\n"+
		hexA+",BUY,7,148090000.5,\"0.5\",\"2026-01-08 12:31:08\"\n"))
	want := []numbered{
		{Row: 1, Fill: data.Fill{LogIndex: -1, TS: 1767658669_000000, Wallet: address(0xaa), Role: data.Taker,
			TokenID: "7", Shares: 3454_276500, USD: 3432_839952, Outcome: -1}},
		{Row: 3, Fill: data.Fill{LogIndex: -1, TS: 1767875468_000000, Wallet: address(0xaa), Role: data.Taker,
			TokenID: "7", Shares: 148090000_500000, USD: 500000, Outcome: -1}},
	}
	if diff := cmp.Diff(want, c.fills); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]rejected{{Line: 2, Reason: "bad_time"}}, c.rejects); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}

// TestPolydataTrades: version 2 has the market's condition, version 1 its Gamma id; a token that
// was unknown to the scan cannot be identified.
func TestPolydataTrades(t *testing.T) {
	c := read(t, text(t, "trades.csv",
		"timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash\n"+
			"2025-09-10T01:18:12.000000,"+hexC+","+hexA+","+hexB+",token2,BUY,SELL,0.4,0.4,1.0,"+hexTx+"\n"+
			"2025-09-10T01:18:12.000000,"+hexC+","+hexB+","+exch+",token2,SELL,BUY,0.4,0.4,1.0,"+hexTx+"\n"+
			"2025-09-10T01:18:13.500000,525393,"+hexA+","+hexB+",token1,BUY,SELL,0.4,1e-05,2.5e-05,"+hexTx+"\n"+
			"2025-09-10T01:18:13.500000,525393,"+hexA+","+hexB+",USDC,BUY,SELL,0.4,0.4,1.0,"+hexTx+"\n"+
			"2025-09-10T01:18:13.500000,,"+hexA+","+hexB+",token1,BUY,SELL,0.4,0.4,1.0,"+hexTx+"\n"))
	ref := "c:" + hexC[2:] + ":1"
	base := data.Fill{Tx: hash(0x11), LogIndex: -1, Outcome: -1}
	one, two, three := base, base, base
	one.TS, one.Wallet, one.Role, one.TokenID, one.Shares, one.USD = 1757467092_000000, address(0xaa), data.Maker, ref, 1_000000, 400000
	two.TS, two.Wallet, two.Role, two.TokenID, two.Shares, two.USD, two.Side = one.TS, address(0xbb), data.Taker, ref, 1_000000, 400000, data.Sell
	three.TS, three.Wallet, three.Role, three.TokenID, three.Shares, three.USD = 1757467093_500000, address(0xaa), data.Maker, "g:525393:0", 25, 10
	if diff := cmp.Diff([]numbered{{Row: 1, Fill: one}, {Row: 2, Fill: two}, {Row: 3, Fill: three}}, c.fills); diff != "" {
		t.Errorf("fills (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]rejected{{Line: 4, Reason: "bad_token"}, {Line: 5, Reason: "bad_token"}}, c.rejects); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}

// TestSubgraphEvents: an event repeated by paging is one fill; two events with equal contents in
// one transaction are two fills.
func TestSubgraphEvents(t *testing.T) {
	event := func(order, maker, taker, makerAsset, takerAsset, fee string) string {
		return `{"id":"` + hexTx + `_` + order + `","transactionHash":"` + hexTx + `","timestamp":"1700000000","maker":{"id":"` + maker +
			`"},"taker":"` + taker + `","makerAssetId":"` + makerAsset + `","takerAssetId":"` + takerAsset +
			`","makerAmountFilled":"400000","takerAmountFilled":"1000000","fee":"` + fee + `"}`
	}
	a, b := event("0x01", hexA, hexB, "0", "7", "12"), event("0x02", hexA, exch, "0", "7", "0")
	bad := event("0x03", hexA, hexB, "5", "7", "0")
	want := []numbered{
		{Row: 1, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, TS: 1700000000_000000, Wallet: address(0xaa), Role: data.Maker,
			TokenID: "7", Shares: 1_000000, USD: 400000, Fee: 12, Outcome: -1}},
		{Row: 3, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, TS: 1700000000_000000, Wallet: address(0xaa), Role: data.Taker,
			TokenID: "7", Shares: 1_000000, USD: 400000, Outcome: -1}},
	}
	list := strings.Join([]string{a, a, b, bad}, ",")
	for name, content := range map[string]string{
		"array":  "[" + list + "]",
		"answer": `{"data":{"orderFilledEvents":[` + list + `]}}`,
		"bare":   `{"orderFilledEvents":[` + list + `]}`,
		"lines":  strings.Join([]string{a, a, b, bad}, "\n"),
	} {
		c := read(t, text(t, name, content))
		if diff := cmp.Diff(want, c.fills); diff != "" {
			t.Errorf("%s: fills (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]rejected{{Line: 4, Reason: "bad_side"}}, c.rejects, cmpopts.IgnoreFields(rejected{}, "Detail")); diff != "" {
			t.Errorf("%s: rejects (-want +got):\n%s", name, diff)
		}
	}
}

// TestBrokenFiles: of a file with an invalid line only that line is rejected; a broken array ends
// the import with an error that has the record's number.
func TestBrokenFiles(t *testing.T) {
	row := `{"proxyWallet":"` + hexA + `","side":"BUY","asset":"7","size":1,"price":0.5,"timestamp":1700000000}`
	c := read(t, text(t, "x.ndjson", row+"\nnonsense\n\n"+row+"\n[1]\n"))
	if len(c.fills) != 2 || c.fills[1].Row != 4 || c.reasons()["bad_json"] != 2 {
		t.Errorf("fills %+v, rejects %v", c.fills, c.rejects)
	}
	for _, content := range []string{"[" + row + "," + row[:40], "[" + row + "," + row} {
		path := text(t, "x.json", content)
		h, f := head(t, path)
		_, err := readAs(t, f, h, path)
		if err == nil || !strings.Contains(err.Error(), "record ") {
			t.Errorf("a truncated file gives %v", err)
		}
	}
}
