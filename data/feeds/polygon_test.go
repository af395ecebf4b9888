package feeds_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"

	"pmx/data/testfiles"
)

const (
	topicFilledV1 = "0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6"
	topicFilledV2 = "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee"
	topicRefunded = "0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24"
	topicMatched  = "0x63bf4d16b7fa898ef4c4b2b6d90fd201e9c56313b65638af6088d149d2ce956c"
	exchangeV1    = "0x4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e"
	exchangeV2    = "0xe111180000d2663c0091e4f400237545b87b996b"
	feeModuleV1   = "0xe3f18acc55091e2c48d883fc8c8413319d4ab7b0"
	alice, bob    = "0x00000000000000000000000000000000000000a1", "0x00000000000000000000000000000000000000b0"
)

// chainLog is a log of a node.
type chainLog struct {
	Address   string   `json:"address"`
	Topics    []string `json:"topics"`
	Data      string   `json:"data"`
	Block     string   `json:"blockNumber"`
	BlockHash string   `json:"blockHash,omitempty"`
	Time      string   `json:"blockTimestamp,omitempty"`
	Tx        string   `json:"transactionHash"`
	Index     string   `json:"logIndex"`
	Removed   bool     `json:"removed"`
}

func hexWord(v any) string {
	if s, ok := v.(string); ok {
		s = strings.TrimPrefix(s, "0x")
		return strings.Repeat("0", 64-len(s)) + s
	}
	return fmt.Sprintf("%064x", v)
}

// newLog is log index of transaction 0x7a in block 91,660,288.
func newLog(index int, address string, topics []any, values ...any) chainLog {
	l := chainLog{Address: address, Data: "0x", Block: "0x576a000", Time: "0x6a772e03", Tx: "0x" + hexWord(0x7a), Index: fmt.Sprintf("%#x", index)}
	for _, t := range topics {
		l.Topics = append(l.Topics, "0x"+hexWord(t))
	}
	for _, v := range values {
		l.Data += hexWord(v)
	}
	return l
}

// soldV2 is a row of the second exchange: wallet sells shares for half a dollar each.
func soldV2(index int, wallet, taker string, shares, fee int) chainLog {
	return newLog(index, exchangeV2, []any{topicFilledV2, index, wallet, taker}, 1, 71, shares, shares/2, fee, 0, 0)
}

func boughtV2(index int, wallet, taker string, shares, fee int) chainLog {
	return newLog(index, exchangeV2, []any{topicFilledV2, index, wallet, taker}, 0, 71, shares/2, shares, fee, 0, 0)
}

// boughtV1 is a row of the first exchange.
func boughtV1(index, order int, wallet, taker string, shares, fee int) chainLog {
	return newLog(index, exchangeV1, []any{topicFilledV1, order, wallet, taker}, 0, 71, shares/2, shares, fee)
}

func soldV1(index, order int, wallet, taker string, shares, fee int) chainLog {
	return newLog(index, exchangeV1, []any{topicFilledV1, order, wallet, taker}, 71, 0, shares, shares/2, fee)
}

// refundV1 refunds amount, so that charged remains.
func refundV1(index, order int, wallet string, token, amount, charged int) chainLog {
	return newLog(index, feeModuleV1, []any{topicRefunded, order, wallet, charged}, token, amount)
}

func (l chainLog) json() string {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func list(logs ...chainLog) string {
	var texts []string
	for _, l := range logs {
		texts = append(texts, l.json())
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func readLogs(t *testing.T, content string) *collect {
	t.Helper()
	path := text(t, "logs", content)
	h, err := feeds.ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := feeds.ByName("polygon-logs")
	if err != nil {
		t.Fatal(err)
	}
	if err := feeds.Fits(f, h); err != nil {
		t.Errorf("%.60s: %v", content, err)
	}
	c, err := readAs(t, f, h, path)
	if err != nil {
		t.Fatalf("%.60s: %v", content, err)
	}
	return c
}

// TestLogsInEveryWrapping: the wrapping of logs makes no difference, and a response without logs is
// counted.
func TestLogsInEveryWrapping(t *testing.T) {
	a, b := soldV2(5, alice, bob, 10, 0), boughtV2(6, bob, exchangeV2, 10, 0)
	answer := func(id int, result string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, result)
	}
	failed := `{"jsonrpc":"2.0","id":9,"error":{"code":-32005,"message":"query returned more than 10000 results"}}`
	header := answer(8, `{"number":"0x576a000","timestamp":"0x6a772e03"}`)
	want := readLogs(t, list(a, b))
	if len(want.fills) != 2 {
		t.Fatalf("%+v", want)
	}
	for name, tc := range map[string]struct {
		in             string
		noLogs, failed int
	}{
		"an answer":             {in: answer(1, list(a, b))},
		"the result first":      {in: `{"result":` + list(a, b) + `,"jsonrpc":"2.0","id":1}`},
		"an answer with error":  {in: `{"jsonrpc":"2.0","error":null,"id":1,"result":` + list(a, b) + `}`},
		"a batch":               {in: "[" + answer(1, list(a)) + "," + answer(2, list(b)) + "]"},
		"a batch of all sorts":  {in: "[" + header + "," + failed + "," + answer(1, "[]") + "," + answer(2, list(a, b)) + "," + answer(3, "null") + "]", noLogs: 2, failed: 1},
		"lines of logs":         {in: a.json() + "\n" + b.json() + "\n"},
		"lines of answers":      {in: answer(1, list(a)) + "\n" + header + "\n" + failed + "\n" + answer(3, "null") + "\n" + answer(2, list(b)) + "\n", noLogs: 2, failed: 1},
		"answers in a row":      {in: "{\n" + answer(1, list(a))[1:] + "\n" + header + answer(2, list(b)), noLogs: 1},
		"a log over some lines": {in: strings.ReplaceAll(list(a, b), ",\"", ",\n\"")},
	} {
		c := readLogs(t, tc.in)
		for i := range c.fills {
			c.fills[i].Row = want.fills[i].Row
		}
		if diff := cmp.Diff(want.fills, c.fills); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if c.passed["no_logs"] != tc.noLogs || c.reasons()["source_error"] != tc.failed || len(c.rejects) != tc.failed {
			t.Errorf("%s: passed over %v, rejected %v", name, c.passed, c.rejects)
		}
	}
}

// TestLogsAreFills: the wallet of a row is always the owner of the order.
func TestLogsAreFills(t *testing.T) {
	c := readLogs(t, list(soldV2(5, alice, bob, 10, 0), soldV2(6, bob, exchangeV2, 10, 3)))
	wallet := func(s string) data.Address { a, _ := data.ParseAddress(s); return a }
	fill := data.Fill{LogIndex: 5, Block: 91660288, TS: time.Date(2026, 8, 8, 13, 24, 19, 0, time.UTC).UnixMicro(), Wallet: wallet(alice), Role: data.Maker, TokenID: "71",
		Side: data.Sell, Shares: 10, USD: 5, Outcome: data.NoIndex}
	fill.Tx[31] = 0x7a
	taken := fill
	taken.LogIndex, taken.Wallet, taken.Role, taken.Fee = 6, wallet(bob), data.Taker, 3
	if diff := cmp.Diff([]numbered{{Row: 1, Fill: fill}, {Row: 2, Fill: taken}}, c.fills); diff != "" {
		t.Error(diff)
	}
}

// TestRefundsAreTakenOffFees: for v1, the fee of a fill is what remains after the refund of a fee
// module.
func TestRefundsAreTakenOffFees(t *testing.T) {
	early := boughtV1(5, 1, alice, bob, 100, 10)
	early.Block = "0x4000000"
	for name, tc := range map[string]struct {
		logs  []chainLog
		want  []data.Micro
		notes map[string]int
	}{
		"a buy":                            {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, 8, 2)}, []data.Micro{2}, nil},
		"a sale":                           {[]chainLog{soldV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 0, 10, 0)}, []data.Micro{0}, nil},
		"the refund first":                 {[]chainLog{refundV1(9, 1, alice, 71, 8, 2), boughtV1(5, 1, alice, bob, 100, 10)}, []data.Micro{2}, nil},
		"one order twice":                  {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), boughtV1(6, 1, alice, bob, 200, 20), refundV1(8, 1, alice, 71, 17, 3), refundV1(9, 1, alice, 71, 8, 2)}, []data.Micro{2, 3}, nil},
		"a fill and its refund twice":      {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, 8, 2), boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, 8, 2)}, []data.Micro{2, 2}, nil},
		"one refund of two fills":          {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), boughtV1(6, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, 8, 2)}, []data.Micro{2, 0}, map[string]int{"fee_without_refund": 1}},
		"no refund":                        {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1}},
		"no refund before there were some": {[]chainLog{early}, []data.Micro{10}, nil},
		"no fee":                           {[]chainLog{boughtV1(5, 1, alice, bob, 100, 0)}, []data.Micro{0}, nil},
		"another order's":                  {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 2, alice, 71, 8, 2)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1, "refund_without_fill": 1}},
		"another wallet's":                 {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, bob, 71, 8, 2)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1, "refund_without_fill": 1}},
		"in dollars of a buy":              {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 0, 8, 2)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1, "refund_without_fill": 1}},
		"of another fee":                   {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, 8, 3)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1, "refund_without_fill": 1}},
		"of more than the fee":             {[]chainLog{boughtV1(5, 1, alice, bob, 100, 10), refundV1(9, 1, alice, 71, math.MaxInt64, 2)}, []data.Micro{0}, map[string]int{"fee_without_refund": 1, "refund_without_fill": 1}},
		"of the second exchange's sale":    {[]chainLog{soldV2(5, alice, bob, 100, 10)}, []data.Micro{10}, nil},
		"of the second exchange's buy":     {[]chainLog{boughtV2(5, alice, bob, 100, 10)}, []data.Micro{-10}, nil},
	} {
		c := readLogs(t, list(tc.logs...))
		var got []data.Micro
		for _, f := range c.fills {
			got = append(got, f.Fee)
		}
		delete(c.notes, "maker_without_taker")
		if diff := cmp.Diff(tc.want, got); diff != "" || !maps.Equal(tc.notes, c.notes) {
			t.Errorf("%s: %v, notes %v, want %v", name, got, c.notes, tc.notes)
		}
		if refunds := len(tc.logs) - len(got); c.passed["fee_refund"] != refunds {
			t.Errorf("%s: passed over %v, want %d refunds", name, c.passed, refunds)
		}
	}
}

// TestMatchesAreChecked: the makers of a match together have the taker's shares.
func TestMatchesAreChecked(t *testing.T) {
	other := soldV2(7, alice, bob, 50, 0)
	other.Address = "0xe2222d279d744050d28e00520010520000310f59"
	for name, tc := range map[string]struct {
		logs []chainLog
		want map[string]int
	}{
		"whole":                      {[]chainLog{soldV2(5, alice, bob, 60, 0), soldV2(6, alice, bob, 40, 0), boughtV2(8, bob, exchangeV2, 100, 0)}, nil},
		"two":                        {[]chainLog{soldV2(1, alice, bob, 6, 0), boughtV2(2, bob, exchangeV2, 6, 0), soldV2(3, alice, bob, 7, 0), boughtV2(4, bob, exchangeV2, 7, 0)}, nil},
		"in any order":               {[]chainLog{boughtV2(8, bob, exchangeV2, 100, 0), soldV2(5, alice, bob, 60, 0), soldV2(6, alice, bob, 40, 0)}, nil},
		"rounded":                    {[]chainLog{soldV2(5, alice, bob, 60, 0), soldV2(6, alice, bob, 40, 0), boughtV2(8, bob, exchangeV2, 102, 0)}, nil},
		"a maker's row twice":        {[]chainLog{soldV2(5, alice, bob, 100, 0), soldV2(5, alice, bob, 100, 0), boughtV2(8, bob, exchangeV2, 100, 0)}, nil},
		"a maker is missing":         {[]chainLog{soldV2(5, alice, bob, 60, 0), boughtV2(8, bob, exchangeV2, 100, 0)}, map[string]int{"match_differs": 1}},
		"the taker is missing":       {[]chainLog{soldV2(5, alice, bob, 60, 0)}, map[string]int{"maker_without_taker": 1}},
		"all makers are missing":     {[]chainLog{boughtV2(8, bob, exchangeV2, 100, 0)}, map[string]int{"taker_without_maker": 1}},
		"the other exchange's maker": {[]chainLog{soldV2(5, alice, bob, 100, 0), other, boughtV2(8, bob, exchangeV2, 100, 0)}, map[string]int{"maker_without_taker": 1}},
		"a taker of v1 offers more":  {[]chainLog{soldV1(5, 1, alice, bob, 60, 0), boughtV1(8, 2, bob, exchangeV1, 100, 0)}, nil},
		"a taker of v1 may not have less": {[]chainLog{soldV1(5, 1, alice, bob, 100, 0), boughtV1(8, 2, bob, exchangeV1, 60, 0)},
			map[string]int{"match_differs": 1}},
	} {
		if c := readLogs(t, list(tc.logs...)); !maps.Equal(tc.want, c.notes) || len(c.fills) != len(tc.logs) {
			t.Errorf("%s: %v of %d fills, want %v", name, c.notes, len(c.fills), tc.want)
		}
	}
}

// TestRemovedLogsAreNoFills: a log that a reorganisation removed is not read, nor is the notice of
// the removal; the log of another block is kept.
func TestRemovedLogsAreNoFills(t *testing.T) {
	log := func(hash any, removed bool) chainLog {
		l := soldV2(5, alice, bob, 10, 0)
		if hash != nil {
			l.BlockHash = "0x" + hexWord(hash)
		}
		l.Removed = removed
		return l
	}
	other := soldV2(6, alice, bob, 10, 0)
	for name, tc := range map[string]struct {
		logs    []chainLog
		removed int
	}{
		"the notice alone":        {[]chainLog{log(1, true), other}, 1},
		"after the log":           {[]chainLog{log(1, false), log(1, true), other}, 2},
		"before the log":          {[]chainLog{log(1, true), log(1, false), other}, 2},
		"of a block without hash": {[]chainLog{log(nil, true), log(1, false), log(2, false), other}, 3},
		"of another block":        {[]chainLog{log(1, true), log(1, false), log(2, false), other}, 2},
		"of both blocks":          {[]chainLog{log(1, false), log(1, true), log(2, false), log(2, true), other}, 4},
	} {
		c := readLogs(t, list(tc.logs...))
		if c.passed["removed"] != tc.removed || len(c.fills) != len(tc.logs)-tc.removed {
			t.Errorf("%s: passed over %v, %d fills of %d logs", name, c.passed, len(c.fills), len(tc.logs))
		}
	}
}

// TestTimesOfLogs: a log without a time gets that of its block in the file, else it waits for the
// block's time.
func TestTimesOfLogs(t *testing.T) {
	undated := func(index int, block string) chainLog {
		l := soldV2(index, alice, bob, 10, 0)
		l.Block, l.Time, l.Tx = block, "", "0x"+hexWord(index)
		return l
	}
	c := readLogs(t, list(undated(1, "0x576a000"), undated(2, "0x576a001"), soldV2(3, alice, bob, 10, 0)))
	got := map[int32][2]int64{}
	for _, f := range c.fills {
		got[f.LogIndex] = [2]int64{f.TS, f.Fill.Block}
	}
	want := map[int32][2]int64{1: {1786195459_000000, 91660288}, 2: {0, 91660289}, 3: {1786195459_000000, 91660288}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, at := range []string{"0x1", "0x7c25d700", "0x7fffffffffffffff"} {
		l := soldV2(5, alice, bob, 10, 0)
		l.Time = at
		if c := readLogs(t, list(l)); c.reasons()["bad_time"] != 1 {
			t.Errorf("%s: %v", at, c.rejects)
		}
	}
}

// TestOddLogsAreCounted: nothing in a file is dropped silently.
func TestOddLogsAreCounted(t *testing.T) {
	costly := newLog(5, exchangeV2, []any{topicFilledV2, 1, alice, bob}, 0, 71, 9_000_000, 1_000_000, 0, 0, 0)
	wide := newLog(6, exchangeV2, []any{topicFilledV2, 1, alice, bob}, 0, 71, "ffffffffffffffff", 1, 0, 0, 0)
	matched := newLog(7, exchangeV1, []any{topicMatched, 1, alice}, 0, 71, 5, 10)
	in := strings.Join([]string{soldV2(1, alice, bob, 10, 0).json(), costly.json(), wide.json(), matched.json(), `{"jsonrpc":"2.0"}`, `{"address":"0x12","topics":[]}`, "{"}, "\n")
	c := readLogs(t, in)
	var lines []string
	for _, r := range c.rejects {
		lines = append(lines, fmt.Sprint(r.Line, " ", r.Reason))
		if r.Detail == "" {
			t.Errorf("%s has no explanation", r.Reason)
		}
	}
	slices.Sort(lines)
	want := []string{"2 bad_price", "3 bad_amount", "5 bad_log", "6 bad_log", "7 bad_json"}
	if diff := cmp.Diff(want, lines); diff != "" || len(c.fills) != 1 || c.passed["orders_matched"] != 1 {
		t.Errorf("%s%v", diff, c.passed)
	}
}

// TestPositionsAndPayouts reads the whole test files, one of which has a position of protocol V2.
func TestPositionsAndPayouts(t *testing.T) {
	c := read(t, testfiles.Path("feeds", "whole", "logs.json"))
	condition, _ := data.ParseCondition("01" + strings.Repeat("5a", 16) + "0001" + strings.Repeat("00", 8) + "0089" + "0000")
	if len(c.fills) != 2 || c.fills[0].Fee != 1900 || c.fills[0].Role != data.Taker || c.passed["no_logs"] != 1 || c.passed["fee_refund"] != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.tokens) != 1 || c.tokens[0].Condition != condition || c.tokens[0].Outcome != 1 || c.tokens[0].TokenID != c.fills[1].TokenID || c.tokens[0].Stub {
		t.Errorf("%+v", c.tokens)
	}
	want := []data.Resolution{{Condition: condition, Payouts: []data.Micro{0, data.One}, Source: data.ResolvedOnChain, ResolvedAt: time.Unix(0x6a772e03, 0).UTC()}}
	if diff := cmp.Diff(want, c.resolutions); diff != "" || want[0].TimeBy() != data.TimeOnChain {
		t.Error(diff)
	}
}

// TestABlockOfTooManyLogsIsRefused: the logs of a block are kept in memory together.
func TestABlockOfTooManyLogsIsRefused(t *testing.T) {
	var b strings.Builder
	line := soldV2(5, alice, bob, 10, 0).json() + "\n"
	for range 1<<16 + 1 {
		b.WriteString(line)
	}
	path := text(t, "logs.ndjson", b.String())
	h, f := head(t, path)
	if _, err := readAs(t, f, h, path); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("%v", err)
	}
}
