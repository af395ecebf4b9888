package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pmx/data/testfiles"
)

// ties are fills that equal each other in time, transaction, side, shares and dollars, and
// are of other tokens or wallets.
type ties struct {
	steps      [][]string // files, by the step they are imported in
	addresses  []string
	conditions []string
}

// tiedFills writes ties of two kinds: a wallet that trades many tokens in one transaction,
// and tokens that more wallets trade in one transaction than an overview shows. Half have
// no transaction. Some tokens are of markets, some of none. Each file names the wallets and
// tokens of the others in another order, and knows the log indexes of other fills.
func tiedFills(t *testing.T) (out ties) {
	t.Helper()
	dir := t.TempDir()
	name := func(kind string, i int) []byte {
		sum := sha256.Sum256(fmt.Append(nil, kind, i))
		return sum[:]
	}
	var wallets, tokens []string
	for i := range 30 {
		wallets = append(wallets, "0x"+hex.EncodeToString(name("wallet", i)[:20]))
		tokens = append(tokens, new(big.Int).SetBytes(name("token", i)).String())
	}
	var markets strings.Builder
	for i := range 5 {
		condition := "0x" + hex.EncodeToString(name("condition", i))
		out.conditions = append(out.conditions, condition)
		line, err := json.Marshal(map[string]any{"condition_id": condition, "question": fmt.Sprint("Will tie ", i, " hold?"), "slug": fmt.Sprint("tie-", i),
			"event_slug": "ties", "event_title": "Ties", "outcomes": []string{"Yes", "No"}, "token_ids": tokens[2*i : 2*i+2]})
		if err != nil {
			t.Fatal(err)
		}
		markets.Write(append(line, '\n'))
	}
	const file = 3
	start := time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)
	var written [file]string
	for f := range file {
		var text strings.Builder
		text.WriteString("ts,address,token_id,side,shares,usd,role,transaction_hash,log_index\n")
		row := func(at, wallet, token int, tx string, log ...int) {
			fmt.Fprintf(&text, "%s,%s,%s,%s,20000,11000,taker,%s,%s\n", start.Add(time.Duration(at)*time.Minute).Format(time.RFC3339), wallets[wallet], tokens[token],
				[]string{"BUY", "SELL"}[at%2], tx, strings.Trim(fmt.Sprint(log), "[]"))
		}
		for at := range 6 {
			tx := ""
			if at%2 == 0 {
				tx = "0x" + hex.EncodeToString(name("tx", at))
			}
			for i := range 30 {
				// The files have no row in common: each has every third.
				if n := (i*7 + 11*f) % 30; n%file == f {
					row(at, at, n, tx)        // one wallet, every token
					row(at, n, (at*2)%10, tx) // one token, every wallet
					row(at, n, 1+(at*2)%10, tx)
				}
			}
		}
		// Equal fills of one wallet and token, some of whose log indexes a file knows.
		for _, log := range [file][]int{{3, 5}, {7, 4}, {6}}[f] {
			row(8, 0, 0, "0x"+hex.EncodeToString(name("tx", 8)), log)
		}
		for range [file]int{7, 2, 0}[f] {
			row(8, 0, 0, "0x"+hex.EncodeToString(name("tx", 8)))
		}
		written[f] = text.String()
	}
	for i, text := range []string{written[0], markets.String(), written[1], written[2]} {
		path := filepath.Join(dir, fmt.Sprintf("ties-%d.csv", i))
		if i == 1 {
			path = filepath.Join(dir, "ties.ndjson")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out.steps = append(out.steps, []string{path})
	}
	out.addresses = wallets
	return out
}

// TestTiesHaveOneOrder imports ties in two orders and compares the responses of two servers, page
// by page too, from files and from the database, and their exports.
func TestTiesHaveOneOrder(t *testing.T) {
	testfiles.InLong(t, "TestAnswersDoNotDependOnHistory imports random data with ties in two orders")
	if testing.Short() {
		t.Skip("starts servers")
	}
	tied := tiedFills(t)
	var first map[string]string
	for n, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}}[:testfiles.Cases(2, 3)] {
		in := &installation{t: t, dir: t.TempDir()}
		if n == 1 {
			in.serve() // batches are followed
		}
		for _, i := range order {
			in.run(append([]string{"import"}, tied.steps[i]...)...)
		}
		if n != 1 {
			in.serve()
		}
		got := in.tied(&tied)
		if n == 1 || testfiles.Long() {
			in.run("verify")
		}
		in.shutdown()
		if testfiles.Long() {
			in.run("verify")
		}
		if n == 0 {
			first = got
			continue
		}
		sameAnswers(t, fmt.Sprint("imports in the order ", order), first, got)
	}
}

// tied requests everything that lists ties.
func (in *installation) tied(of *ties) map[string]string {
	in.t.Helper()
	out := map[string]string{}
	for _, limit := range []int{1, 7, 50, 200} {
		for _, address := range of.addresses[:8] {
			path := fmt.Sprintf("/trader/%s/trades?limit=%d", address, limit)
			out["walk "+path] = in.walk(path)
		}
		path := fmt.Sprintf("/whales/moves?limit=%d", limit)
		out["walk "+path] = in.walk(path)
	}
	for _, path := range allOf(map[string][]string{"address": of.addresses, "condition_id": of.conditions, "event_id": {"ties"},
		"city": {"nyc"}, "q": {"tie", "hold"}, "name": {"PMX-Volume"}, "date": {"2026-03-02"}}) {
		out[path] = in.get(path)
	}
	for _, dataset := range []string{"markets", "trader_leaderboard", "wallet_pnl", "oracle_accuracy", "conditions"} {
		out["export "+dataset] = string(in.run("export", dataset, "--format", "csv", "--out", "-"))
	}
	in.run("export", "fills", "--partition-by", "day", "--out", "facts")
	days, err := filepath.Glob(filepath.Join(in.dir, "facts", "fills", "*", "*.parquet"))
	if err != nil || len(days) == 0 {
		in.t.Fatalf("no facts by day: %v", err)
	}
	for _, day := range days {
		text, err := os.ReadFile(day)
		if err != nil {
			in.t.Fatal(err)
		}
		out["facts of "+filepath.Base(filepath.Dir(day))] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return out
}

// walk reads a list to its end and returns the rows of all pages.
func (in *installation) walk(path string) string {
	in.t.Helper()
	var rows strings.Builder
	for next, pages := path, 0; ; pages++ {
		var page struct {
			Data []json.RawMessage `json:"data"`
			Next string            `json:"next_cursor"`
		}
		status, text := in.raw(next)
		if err := json.Unmarshal([]byte(text), &page); err != nil || status != 200 || pages > 1000 {
			in.t.Fatalf("%s, page %d: status = %d, err = %v, text = %.300s", path, pages, status, err, text)
		}
		for _, row := range page.Data {
			rows.Write(append(row, '\n'))
		}
		if page.Next == "" {
			return rows.String()
		}
		next = path + "&cursor=" + url.QueryEscape(page.Next)
	}
}
