package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pmx/engine"
)

// TestNewWalletsDoNotDisorderFills: fills of a file in time order are written without sorting them,
// although DuckDB does not know of the wallets that were added in the same transaction and expects
// hardly any of the file's fills to have one.
func TestNewWalletsDoNotDisorderFills(t *testing.T) {
	var written []string
	v := openWith(t, func(o *engine.Options) {
		o.OnStatement = func(text string) {
			if strings.HasPrefix(text, "INSERT INTO fills") {
				written = append(written, text)
			}
		}
	})
	const tokens = 60
	file := func(rows, wallets int) string {
		var b strings.Builder
		b.WriteString("ts,address,token_id,side,shares,usd,transaction_hash\n")
		at := time.Date(2026, 1, 1+wallets, 0, 0, 0, 0, time.UTC)
		for i := range rows {
			fmt.Fprintf(&b, "%s,0x%040x,%d,BUY,2,1,0x%064x\n", at.Add(time.Duration(i)*time.Second).Format(time.RFC3339), 1+i*wallets, 71+i*37%tokens, 1000*(1+wallets)+i)
		}
		return b.String()
	}
	for _, f := range []struct {
		name, content string
		fills         int64
	}{{"one-wallet.csv", file(tokens, 0), tokens}, {"new-wallets.csv", file(300, 1), 300}} {
		if r, err := v.load(f.name, f.content); err != nil || r.Inserted != f.fills {
			t.Fatalf("%s: err = %v, inserted %d fills, want %d", f.name, err, r.Inserted, f.fills)
		}
	}
	if len(written) != 2 {
		t.Fatalf("facts were written by %d statements, want 2", len(written))
	}
	for _, text := range written {
		if strings.Contains(text, "ORDER BY") {
			t.Errorf("fills that came in time order are sorted: %s", text)
		}
	}
	if back := v.lines("SELECT count(*) FROM (SELECT ts < lag(ts) OVER (ORDER BY rowid) AS back FROM fills) AS k WHERE back"); back != "0|\n" {
		t.Errorf("%q facts come before an earlier one", back)
	}
}
