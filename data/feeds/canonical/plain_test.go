package canonical

import (
	"fmt"
	"strings"
	"testing"

	"pmx/data"
)

// A line of fills in its plainest form is read in Go as the query of other files reads it, and any other line is left to
// that query.
func TestPlainLinesOfFills(t *testing.T) {
	const header = "tx,log_index,block,ts,wallet,role,token,side,shares,usd,fee,fee_asset,condition,outcome,name"
	tx, wallet := "0x"+strings.Repeat("0a", 32), "0x"+strings.Repeat("0b", 20)
	line := func(changes ...string) string {
		cells := map[string]string{"tx": tx, "ts": "1772359200", "wallet": wallet, "token": "71", "side": "BUY", "shares": "10", "usd": "4.5"}
		for i := 0; i < len(changes); i += 2 {
			cells[changes[i]] = changes[i+1]
		}
		var all []string
		for name := range strings.SplitSeq(header, ",") {
			all = append(all, cells[name])
		}
		return strings.Join(all, ",")
	}
	lines := plain(data.Source{Format: data.CSV}, data.Head{Format: data.CSV, Columns: strings.Split(header, ",")})
	if lines == nil {
		t.Fatal("no line of the file is plain")
	}
	read := func(text string) (fills []data.PlainFill, ok bool) {
		t.Helper()
		ok, err := lines(strings.NewReader(text), func(f *data.PlainFill) error {
			fills = append(fills, *f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return fills, ok
	}
	for _, c := range []struct{ changes, want string }{
		{"", "1772359200000000 BUY role 0 10000000 4500000 0 -1 -1"},
		{"side SELL role maker log_index 7 block 99", "1772359200000000 SELL role 1 10000000 4500000 0 7 99"},
		{"role taker fee 0.000001 fee_asset usd", "1772359200000000 BUY role 2 10000000 4500000 -1 -1 -1"},
		{"fee 1 fee_asset shares", "1772359200000000 BUY role 0 10000000 4500000 1000000 -1 -1"},
		{"ts 2026-03-01T10:00:00Z", "1772359200000000 BUY role 0 10000000 4500000 0 -1 -1"},
		{"ts 2026-03-01T10:00:00.25Z", "1772359200250000 BUY role 0 10000000 4500000 0 -1 -1"},
		{"ts 1772359200123", "1772359200123000 BUY role 0 10000000 4500000 0 -1 -1"},
		{"ts 1772359200123456", "1772359200123456 BUY role 0 10000000 4500000 0 -1 -1"},
		{"shares 1e1 usd 4.5000001", "1772359200000000 BUY role 0 10000000 4500000 0 -1 -1"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			fills, plain := read(header + end + line(strings.Fields(c.changes)...) + end)
			if !plain || len(fills) != 1 {
				t.Errorf("%q: %d fills, plain %t", c.changes, len(fills), plain)
				continue
			}
			f := &fills[0]
			side := map[data.Side]string{data.Buy: "BUY", data.Sell: "SELL"}[f.Side]
			if got := fmt.Sprint(f.TS, " ", side, " role ", f.Role, " ", int64(f.Shares), " ", int64(f.USD), " ", int64(f.Fee), " ", f.LogIndex, " ", f.Block); got != c.want {
				t.Errorf("%q: %s, want %s", c.changes, got, c.want)
			}
		}
	}
	for _, changes := range []string{"side HOLD", "role owner", "fee_asset eur", "side SELL fee 1 fee_asset shares", "log_index x", "log_index -1", "block 0", "tx 0x12", "wallet 0x12",
		"token 0x7", "shares -1", "usd x", "fee -1", "ts soon", "ts 1772359200123456789", "ts 12", "ts 2026-03-01T10:00:00+01:00", "ts 1", "usd 11", "shares 1e99", "shares \"10\"", "condition 0x12", "outcome 1", "name you"} {
		if fills, plain := read(header + "\n" + line() + "\n" + line(strings.Fields(changes)...) + "\n"); plain || len(fills) != 1 {
			t.Errorf("%q: %d fills, plain %t", changes, len(fills), plain)
		}
	}
	for what, text := range map[string]string{"no header": line() + "\n", "no end": header + "\n" + line(), "a cell too few": header + "\n" + strings.TrimSuffix(line(), ",") + "\n",
		"a cell too many": header + "\n" + line() + ",\n", "another end": header + "\r\n" + line() + "\n", "nothing": "", "a long line": header + "\n" + strings.Repeat("9", 1<<20+1)} {
		if fills, plain := read(text); plain {
			t.Errorf("%s: %d fills, and plain", what, len(fills))
		}
	}
	if plain(data.Source{Format: data.CSV}, data.Head{Format: data.CSV, Columns: []string{"ts", "wallet"}}) != nil {
		t.Error("fills without transactions are read as plain ones")
	}
}
