package chain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/reference"
)

const (
	topicV1         = "0xd0a08e8c493f9c94f29311604c9de1b4e8c8d4c06bd0c789af57f2d65bfec0f6"
	topicV2         = "0xd543adfd945773f1a62f74f0ee55a5e3b9b1a28262980ba90b1a89f2ea84d8ee"
	topicRefund     = "0xb608d2bf25d8b4b744ba23ce2ea9802ea955e216c064a62f42152fbf98958d24"
	topicResolution = "0xb44d84d3289691f71497564b85d4233648d9dbae8cbdbb4329f301c3a0185894"
	topicResolved   = "0xe560c1a2847d4cf2e66de11fe592605556989449f38cc3ab96e2e287daa68caa"
	topicSynthetic  = "0x5bea118d92630445b0b401b6883731630ed870edf2f259980efe977dfc128b36"
	topicMatched    = "0x174b3811690657c217184f89418266767c87e4805d09680c39fc9c031c0cab7c"

	exchangeV1 = "0x4bFb41d5B3570DeFd03C39A9A4D8dE6Bd8B8982E"
	exchangeV2 = "0xE111180000d2663C0091e4f400237545B87B996B"
	exchangeV3 = "0xe3333700cA9d93003F00f0F71f8515005F6c00Aa"
	feeModule  = "0xE3f18aCc55091e2c48d883fc8C8413319d4Ab7b0"
	tokens     = "0x4D97DCd97eC945f40cF65F87097ACe5EA0476045"
	binary     = "0x1000008dD9001B968442c1000017eaE6E0dA00Ba"
	negRisk    = "0x200000900045e3B6259600682756002200028933"
	combos     = "0x30000034706c7d8e12009dab006be20000c031a8"

	maker = "0x00000000000000000000000000000000000000aa"
	taker = "0x00000000000000000000000000000000000000bb"
)

// word returns a value as 32 bytes: a number, or hex digits padded on the left.
func word(v any) string {
	if s, ok := v.(string); ok {
		s = strings.ToLower(strings.TrimPrefix(s, "0x"))
		return strings.Repeat("0", 64-len(s)) + s
	}
	return fmt.Sprintf("%064x", v)
}

func words(values ...any) string {
	var b strings.Builder
	b.WriteString("0x")
	for _, v := range values {
		b.WriteString(word(v))
	}
	return b.String()
}

// log returns a log as nodes return it; the values are its data.
func log(address string, topics []string, values ...any) map[string]any {
	list := make([]string, len(topics))
	for i, t := range topics {
		list[i] = "0x" + word(t)
	}
	return map[string]any{"address": address, "topics": list, "data": words(values...), "blockNumber": "0x576a000",
		"transactionHash": words(0x7a), "transactionIndex": "0x40", "blockHash": words(0xb1), "blockTimestamp": "0x6a772e03",
		"logIndex": "0x18d", "removed": false}
}

func filled(address, topic string, values ...any) map[string]any {
	return log(address, []string{topic, "c0de", maker, taker}, values...)
}

func with(l map[string]any, key string, value any) map[string]any {
	if value == nil {
		delete(l, key)
	} else {
		l[key] = value
	}
	return l
}

func text(t testing.TB, l map[string]any) []byte {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoder() *chain.Decoder { return chain.NewDecoder(chain.Contracts()) }

// TestContracts: exchanges are the same as those by which other feeds recognise a taker's row.
func TestContracts(t *testing.T) {
	exchanges := map[data.Address]bool{}
	for _, c := range chain.Contracts() {
		if c.Name == "" {
			t.Errorf("%+v", c)
		}
		if c.IsExchange() {
			exchanges[c.Address] = true
		}
	}
	want := map[data.Address]bool{}
	for _, a := range reference.Exchanges() {
		want[a] = true
	}
	if diff := cmp.Diff(want, exchanges); diff != "" {
		t.Error(diff)
	}
}

// TestFills: both forms of OrderFilled, both sides, and the asset of the fee.
func TestFills(t *testing.T) {
	const position = "01" + "0123456789abcdef0123456789abcdef" + "0001" + "0000000000000000" + "0089" + "0000"
	hash := func(hex string) data.Hash {
		h, err := data.ParseHash(word(hex))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	seven := hash("7")
	ofTaker := log(exchangeV2, []string{topicV2, "c0de", maker, "0xe2222d279d744050d28e00520010520000310F59"}, 1, 7, 6_000_000, 2_880_000, 104830, 0, 0)
	for _, tc := range []struct {
		name string
		log  map[string]any
		want chain.Fill
	}{
		{"v1 buy", filled(exchangeV1, topicV1, 0, 7, 7_434_000, 17_700_000, 1_770_000),
			chain.Fill{Side: data.Buy, Token: seven, USD: 7_434_000, Shares: 17_700_000, Fee: 1_770_000, FeeIn: chain.Shares, Refundable: true}},
		{"v1 sell", filled(exchangeV1, topicV1, 7, 0, 17_700_000, 7_434_000, 12),
			chain.Fill{Side: data.Sell, Token: seven, USD: 7_434_000, Shares: 17_700_000, Fee: 12, FeeIn: chain.Dollars, Refundable: true}},
		{"v2 buy", filled(exchangeV2, topicV2, 0, 7, 2_355_200, 2_560_000, 13180, 0, 0),
			chain.Fill{Side: data.Buy, Token: seven, USD: 2_355_200, Shares: 2_560_000, Fee: 13180, FeeIn: chain.Dollars}},
		{"v2 sell of a taker of the other exchange", ofTaker,
			chain.Fill{Side: data.Sell, Token: seven, USD: 2_880_000, Shares: 6_000_000, Fee: 104830, FeeIn: chain.Dollars, Role: data.Taker}},
		{"a position, yes", filled(exchangeV3, topicV2, 0, position+"00", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash(position + "00"), USD: 1, Shares: 2, FeeIn: chain.Dollars, Condition: hash(position + "00")}},
		{"a position, no", filled(exchangeV3, topicV2, 0, position+"01", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash(position + "01"), USD: 1, Shares: 2, FeeIn: chain.Dollars, Condition: hash(position + "00"), Outcome: 1}},
		{"a third outcome", filled(exchangeV3, topicV2, 0, position+"02", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash(position + "02"), USD: 1, Shares: 2, FeeIn: chain.Dollars, Odd: "odd_position"}},
		{"a combo", filled(exchangeV3, topicV2, 0, "03"+position[2:]+"00", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash("03" + position[2:] + "00"), USD: 1, Shares: 2, FeeIn: chain.Dollars, Odd: "combo"}},
		{"a module to come", filled(exchangeV3, topicV2, 0, "04"+position[2:]+"00", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash("04" + position[2:] + "00"), USD: 1, Shares: 2, FeeIn: chain.Dollars, Odd: "unknown_module"}},
		{"a token that looks like a position", filled(exchangeV2, topicV2, 0, position+"00", 1, 2, 0, 0, 0),
			chain.Fill{Token: hash(position + "00"), USD: 1, Shares: 2, FeeIn: chain.Dollars}},
	} {
		e, err := decoder().Decode(text(t, tc.log))
		if err != nil || e.Kind != chain.Filled {
			t.Errorf("%s: %v %+v", tc.name, err, e)
			continue
		}
		if tc.want.Condition.IsZero() {
			tc.want.Outcome = data.NoIndex
		}
		if tc.want.Role == data.RoleUnknown {
			tc.want.Role = data.Maker
		}
		tc.want.Order, tc.want.Taker = hash("c0de"), e.Fill.Taker
		tc.want.Maker, _ = data.ParseAddress(maker)
		if diff := cmp.Diff(tc.want, e.Fill); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
		if e.Log.Block != 91660288 || e.Log.Time != 1786195459 || e.Log.Index != 397 || e.Log.Tx != hash("7a") || e.Log.BlockHash != hash("b1") || e.Log.Removed {
			t.Errorf("%s: %+v", tc.name, e.Log)
		}
	}
}

// TestEveryOddLogHasItsOutcome: a log that is not read is passed over or rejected with a reason.
func TestEveryOddLogHasItsOutcome(t *testing.T) {
	v2 := func() map[string]any { return filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0) }
	condition := "01" + strings.Repeat("ab", 16) + "0001" + strings.Repeat("00", 8) + "0089" + "0000" + "00"
	wide := "8000000000000000"
	for name, tc := range map[string]struct {
		log   map[string]any
		why   string
		fault chain.Fault
	}{
		"another contract":                {log: filled(maker, topicV2, 0, 7, 2, 4, 0, 0, 0), why: "unknown_contract"},
		"another event":                   {log: log(exchangeV2, []string{"1234"}), why: "unknown_event"},
		"no topic":                        {log: log(exchangeV2, nil), why: "unknown_event"},
		"an event of another exchange":    {log: filled(exchangeV1, topicV2, 0, 7, 2, 4, 0, 0, 0), why: "unknown_event"},
		"the taker's fill again":          {log: filled(exchangeV2, topicMatched, 0, 7, 2, 4), why: "orders_matched"},
		"a combo's payouts":               {log: log(combos, []string{topicResolved, "03"}, 32, 2, 1_000_000, 0), why: "unknown_event"},
		"passed over without an index":    {log: with(filled(exchangeV2, topicMatched, 0, 7, 2, 4), "logIndex", nil), why: "orders_matched"},
		"no address":                      {log: with(v2(), "address", nil), fault: chain.BadLog},
		"no topics":                       {log: with(v2(), "topics", nil), fault: chain.BadLog},
		"five topics":                     {log: with(v2(), "topics", []string{"0x" + word(1), "0x" + word(1), "0x" + word(1), "0x" + word(1), "0x" + word(1)}), fault: chain.BadLog},
		"a topic of 31 bytes":             {log: with(v2(), "topics", []string{topicV2[:64]}), fault: chain.BadLog},
		"no data":                         {log: with(v2(), "data", nil), fault: chain.BadLog},
		"half a byte":                     {log: with(v2(), "data", "0x123"), fault: chain.BadLog},
		"not hexadecimal digits":          {log: with(v2(), "data", words(0, 7, 2, 4, 0, 0)+strings.Repeat("g", 64)), fault: chain.BadLog},
		"removed is a text":               {log: with(v2(), "removed", "no"), fault: chain.BadLog},
		"no transaction":                  {log: with(v2(), "transactionHash", nil), fault: chain.BadHash},
		"a short hash":                    {log: with(v2(), "transactionHash", "0x12"), fault: chain.BadHash},
		"an unreadable block hash":        {log: with(v2(), "blockHash", "0x12"), fault: chain.BadHash},
		"no index":                        {log: with(v2(), "logIndex", nil), fault: chain.BadIndex},
		"an index beyond 31 bits":         {log: with(v2(), "logIndex", "0x80000000"), fault: chain.BadIndex},
		"a decimal index in quotes":       {log: with(v2(), "logIndex", "397"), fault: chain.BadIndex},
		"a negative index":                {log: with(v2(), "logIndex", -1), fault: chain.BadIndex},
		"no block":                        {log: with(v2(), "blockNumber", nil), fault: chain.BadBlock},
		"a block of 64 bits":              {log: with(v2(), "blockNumber", "0x8000000000000000"), fault: chain.BadBlock},
		"an unreadable time":              {log: with(v2(), "blockTimestamp", "soon"), fault: chain.BadTime},
		"the time zero":                   {log: with(v2(), "blockTimestamp", "0x0"), fault: chain.BadTime},
		"before the contract":             {log: with(v2(), "blockNumber", "0x1"), fault: chain.BeforeContract},
		"six words":                       {log: filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0), fault: chain.BadWords},
		"eight words":                     {log: filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0, 0), fault: chain.BadWords},
		"part of a word":                  {log: with(v2(), "data", words(0, 7, 2, 4, 0, 0, 0)+"00"), fault: chain.BadWords},
		"three topics":                    {log: log(exchangeV2, []string{topicV2, "c0de", maker}, 0, 7, 2, 4, 0, 0, 0), fault: chain.BadWords},
		"a wallet of more than 20 bytes":  {log: log(exchangeV2, []string{topicV2, "c0de", "1" + maker[2:], taker}, 0, 7, 2, 4, 0, 0, 0), fault: chain.BadAddress},
		"nobody's order":                  {log: log(exchangeV2, []string{topicV2, "c0de", "0", taker}, 0, 7, 2, 4, 0, 0, 0), fault: chain.BadAddress},
		"a third side":                    {log: filled(exchangeV2, topicV2, 2, 7, 2, 4, 0, 0, 0), fault: chain.BadSide},
		"dollars for dollars":             {log: filled(exchangeV1, topicV1, 0, 0, 2, 4, 0), fault: chain.BadSide},
		"tokens for tokens":               {log: filled(exchangeV1, topicV1, 7, 8, 2, 4, 0), fault: chain.BadSide},
		"no token":                        {log: filled(exchangeV2, topicV2, 0, 0, 2, 4, 0, 0, 0), fault: chain.BadToken},
		"shares of 64 bits":               {log: filled(exchangeV2, topicV2, 0, 7, 2, wide, 0, 0, 0), fault: chain.BadAmount},
		"dollars of 65 bits":              {log: filled(exchangeV2, topicV2, 0, 7, "1"+wide, 4, 0, 0, 0), fault: chain.BadAmount},
		"a wide fee":                      {log: filled(exchangeV2, topicV2, 0, 7, 2, 4, wide, 0, 0), fault: chain.BadAmount},
		"a refund of one word":            {log: log(feeModule, []string{topicRefund, "c0de", maker, "1"}, 7), fault: chain.BadWords},
		"a wide refund":                   {log: log(feeModule, []string{topicRefund, "c0de", maker, "1"}, 7, wide), fault: chain.BadAmount},
		"payouts of another number":       {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 3, 64, 2, 1, 0), fault: chain.BadWords},
		"payouts elsewhere":               {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 96, 2, 1, 0), fault: chain.BadWords},
		"nobody is paid":                  {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, 0, 0), fault: chain.BadPayout},
		"a third each":                    {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 3, 64, 3, 1, 1, 1), fault: chain.BadPayout},
		"one outcome":                     {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 1, 64, 1, 1), fault: chain.BadPayout},
		"a wide payout":                   {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, wide, 0), fault: chain.BadPayout},
		"payouts beyond 63 bits together": {log: log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, "7fffffffffffffff", 1), fault: chain.BadPayout},
		"no condition":                    {log: log(tokens, []string{topicResolution, "0", maker, "9"}, 2, 64, 2, 1, 0), fault: chain.BadCondition},
		"sum other than a million":        {log: log(binary, []string{topicResolved, condition}, 32, 2, 1, 0), fault: chain.BadPayout},
		"two payouts without their list":  {log: log(binary, []string{topicResolved, condition}, 1_000_000, 0), fault: chain.BadWords},
		"a condition of another module":   {log: log(negRisk, []string{topicResolved, condition}, 32, 2, 1_000_000, 0), fault: chain.BadCondition},
		"a position, no condition":        {log: log(binary, []string{topicResolved, condition[:62] + "01"}, 32, 2, 1_000_000, 0), fault: chain.BadCondition},
		"other is not the last":           {log: log(negRisk, []string{topicSynthetic, "02" + condition[2:], "02" + condition[2:]}), fault: chain.BadCondition},
	} {
		e, err := decoder().Decode(text(t, tc.log))
		var fault chain.Fault
		if errors.As(err, &fault); fault != tc.fault {
			t.Errorf("%s: fault %q, want %q", name, fault, tc.fault)
		}
		if tc.fault == "" && (e.Kind != chain.PassedOver || e.Why != tc.why) {
			t.Errorf("%s: kind %d, %q, want %q", name, e.Kind, e.Why, tc.why)
		}
	}
	for _, broken := range []string{"", "7", "[]", "{", `{"address"}`, `{"address":}`, `{"address":"0x`, `{"a":"\"}`, `{"a":1 "b":2}`, `{"a":1,}`, `{"a":1}}`,
		`{"removed":false,"removed":true}`, `{7:1}`} {
		if _, err := decoder().Decode([]byte(broken)); !errors.Is(err, chain.BadJSON) {
			t.Errorf("%q: %v", broken, err)
		}
	}
	for _, kept := range []string{`{}`, ` { } `, "{\n\"x\" : {\"}\" : [\"]\\\"\", 1]} , \"y\":null}"} {
		if _, err := decoder().Decode([]byte(kept)); !errors.Is(err, chain.BadLog) {
			t.Errorf("%q: %v, want an object that is not a log", kept, err)
		}
	}
}

// TestForms: the different formats of nodes and explorers give the same result.
func TestForms(t *testing.T) {
	plain := filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0)
	want := *must(t, text(t, plain))
	for name, l := range map[string]map[string]any{
		"numbers":        with(with(with(filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0), "blockNumber", 91660288), "logIndex", 397), "blockTimestamp", 1786195459),
		"other case":     with(filled(strings.ToUpper(exchangeV2[2:]), topicV2, 0, 7, 2, 4, 0, 0, 0), "address", "0X"+strings.ToUpper(exchangeV2[2:])),
		"an explorer":    with(with(filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0), "blockTimestamp", nil), "timeStamp", "0x6a772e03"),
		"without a flag": with(filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0), "removed", nil),
	} {
		e := must(t, text(t, l))
		if e.Fill != want.Fill || e.Log.Block != want.Log.Block || e.Log.Index != want.Log.Index || e.Log.Time != want.Log.Time || e.Log.Address != want.Log.Address {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if e := must(t, text(t, with(plain, "logIndex", "0x"))); e.Log.Index != 0 {
		t.Errorf("0x is %d", e.Log.Index)
	}
	if e := must(t, text(t, with(with(plain, "removed", true), "blockTimestamp", nil))); !e.Log.Removed || e.Log.Time != 0 {
		t.Errorf("%+v", e.Log)
	}
}

func must(t testing.TB, log []byte) *chain.Event {
	t.Helper()
	e, err := decoder().Decode(log)
	if err != nil {
		t.Fatalf("%s: %v", log, err)
	}
	return e
}

// TestPayouts: numerators of any size, millionths of protocol V2, and the condition "other".
func TestPayouts(t *testing.T) {
	event := "02" + strings.Repeat("ab", 16) + "0003" + strings.Repeat("00", 8) + "0089"
	for _, tc := range []struct {
		log       map[string]any
		condition string
		want      []data.Micro
	}{
		{log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, 1, 0), "c1", []data.Micro{data.One, 0}},
		{log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, 1, 1), "c1", []data.Micro{data.One / 2, data.One / 2}},
		{log(tokens, []string{topicResolution, "c1", maker, "9"}, 3, 64, 3, 0, 4_000_000_000_000_000_000, 1_000_000_000_000_000_000), "c1", []data.Micro{0, 800_000, 200_000}},
		{log(binary, []string{topicResolved, "01" + event[2:] + "000000"}, 32, 2, 250_000, 750_000), "01" + event[2:] + "000000", []data.Micro{250_000, 750_000}},
		{log(negRisk, []string{topicSynthetic, event + "000000", event + "000300"}), event + "000300", []data.Micro{data.One, 0}},
	} {
		e := must(t, text(t, tc.log))
		if e.Kind != chain.Resolved || !strings.HasSuffix(e.Resolution.Condition.String(), word(tc.condition)) {
			t.Errorf("%+v", e)
		}
		if diff := cmp.Diff(tc.want, e.Resolution.Payouts); diff != "" {
			t.Error(diff)
		}
	}
}

// TestRefunds: the refunded amount, its asset, and what remains.
func TestRefunds(t *testing.T) {
	e := must(t, text(t, log(feeModule, []string{topicRefund, "c0de", maker, "0843fa"}, 7, 39_458_310)))
	if e.Kind != chain.Refunded || e.Refund.Amount != 39_458_310 || e.Refund.Charged != 541_690 || e.Refund.To.String() != maker ||
		e.Refund.Token[31] != 7 || e.Refund.Order[31] != 0xde {
		t.Errorf("%+v", e)
	}
}

func TestAppendDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := data.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "bytes"))
		copy(h[:], make([]byte, rapid.IntRange(0, 32).Draw(t, "zeros")))
		if got, want := string(chain.AppendDecimal([]byte("x"), h)), "x"+new(big.Int).SetBytes(h[:]).String(); got != want {
			t.Fatalf("%x: %s, want %s", h, got, want)
		}
	})
}

// TestDecodingTakesNoMemory: decoding any log allocates nothing.
func TestDecodingTakesNoMemory(t *testing.T) {
	d := decoder()
	for _, l := range []map[string]any{filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0), filled(exchangeV1, topicV1, 0, 7, 2, 4, 0),
		filled(exchangeV2, topicMatched, 0, 7, 2, 4), log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, 1, 0),
		filled(exchangeV2, topicV2, 2, 7, 2, 4, 0, 0, 0)} {
		b := text(t, l)
		if n := testing.AllocsPerRun(100, func() { _, _ = d.Decode(b) }); n != 0 {
			t.Errorf("%v allocations for %s", n, b)
		}
	}
}

// FuzzDecode: the decoder does not panic on any bytes, and what it returns is valid.
func FuzzDecode(f *testing.F) {
	for _, l := range []map[string]any{filled(exchangeV2, topicV2, 0, 7, 2, 4, 0, 0, 0), filled(exchangeV1, topicV1, 0, 7, 2, 4, 0),
		log(tokens, []string{topicResolution, "c1", maker, "9"}, 2, 64, 2, 1, 0), log(feeModule, []string{topicRefund, "c0de", maker, "1"}, 7, 8)} {
		f.Add(text(f, l))
	}
	f.Add([]byte(`{"topics":["0x12",{"a":"]"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decoder().Decode(b)
		var fault chain.Fault
		if err != nil {
			if !errors.As(err, &fault) || fault == "" {
				t.Errorf("the error %v", err)
			}
			return
		}
		switch e.Kind {
		case chain.Filled:
			if e.Fill.Shares < 0 || e.Fill.USD < 0 || e.Fill.Fee < 0 || e.Fill.Token.IsZero() || e.Fill.Maker.IsZero() || e.Log.Index < 0 || e.Log.Block < 0 {
				t.Errorf("%+v", e)
			}
		case chain.Resolved:
			sum := data.Micro(0)
			for _, p := range e.Resolution.Payouts {
				sum += p
			}
			if sum != data.One || e.Resolution.Condition.IsZero() {
				t.Errorf("%+v", e)
			}
		}
		_, _, _ = chain.Members(b, "result", func([]byte) error { return nil })
	})
}

// BenchmarkDecode decodes logs of OrderFilled from JSON.
func BenchmarkDecode(b *testing.B) {
	for name, l := range map[string]map[string]any{
		"v1": filled(exchangeV1, topicV1, 0, 7, 7_434_000, 17_700_000, 1_770_000),
		"v2": filled(exchangeV2, topicV2, 0, 7, 2_355_200, 2_560_000, 13180, 0, 0),
	} {
		raw := text(b, l)
		d := decoder()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := d.Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "logs/s")
		})
	}
}
