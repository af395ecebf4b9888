package ingest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data/feeds"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/engine/ingest"
)

const (
	addressA = "0xAAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	addressB = "0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	hashOne  = "0x1111111111111111111111111111111111111111111111111111111111111111"
	hashTwo  = "0x2222222222222222222222222222222222222222222222222222222222222222"
)

// intake is a database with facts only: imports are not merged into rollups.
type intake struct {
	t  testing.TB
	im *ingest.Importer
	at string
}

func open(t testing.TB) *intake {
	t.Helper()
	return openWith(t, func(*engine.Options) {})
}

// openWith is like open, with options changed by change.
func openWith(t testing.TB, change func(*engine.Options)) *intake {
	t.Helper()
	dir := t.TempDir()
	opts := enginetest.Options(t, filepath.Join(dir, "db"), "1GB")
	change(&opts)
	db, err := engine.Open(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	facts := func(_ context.Context, _ *sql.Conn, apply func() error) error { return apply() }
	return &intake{t: t, at: dir, im: &ingest.Importer{DB: db, Now: time.Now, Rollups: ingest.Rollups{Merge: facts, Postpone: facts},
		Feeds: feeds.Catalog{}}}
}

func (v *intake) write(name, content string) string {
	v.t.Helper()
	path := filepath.Join(v.at, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

func (v *intake) load(name, content string) (ingest.Receipt, error) {
	v.t.Helper()
	return v.bring(v.write(name, content), ingest.Options{})
}

// bring imports the file at path.
func (v *intake) bring(path string, opts ingest.Options) (ingest.Receipt, error) {
	return bringAs(context.Background(), v.im, path, "", opts)
}

// bringAs imports the file at path as the named feed; "" for the detected one.
func bringAs(ctx context.Context, im *ingest.Importer, path, as string, opts ingest.Options) (ingest.Receipt, error) {
	p, _, err := im.Identify(path, as)
	if err != nil {
		return ingest.Receipt{}, err
	}
	p.Name = filepath.Base(path)
	return im.Import(ctx, p, opts)
}

// factTables are queries of the tables of facts that do not depend on ids.
var factTables = map[string]string{
	"fills": "SELECT w.address, t.token_id, f.* EXCLUDE (wallet, token, batch) FROM fills AS f JOIN wallets AS w USING (wallet) " +
		"JOIN tokens AS t ON t.token = f.token ORDER BY ALL",
	"waiting_fills": "FROM waiting_fills ORDER BY ALL",
	"markets":       "SELECT * EXCLUDE (market) FROM markets ORDER BY ALL",
	"tokens":        "SELECT t.token_id, m.condition, t.outcome, t.named, t.derived FROM tokens AS t LEFT JOIN markets AS m USING (market) ORDER BY ALL",
	"wallet_names":  "SELECT w.address, n.name, n.ts FROM wallet_names AS n JOIN wallets AS w USING (wallet) ORDER BY ALL",
}

func (v *intake) facts() map[string][]string {
	v.t.Helper()
	out := map[string][]string{}
	v.each(func(ctx context.Context, conn *sql.Conn) error {
		for table, query := range factTables {
			rows, err := conn.QueryContext(ctx, "SELECT (t::VARCHAR) FROM ("+query+") AS t")
			if err != nil {
				return fmt.Errorf("%s: %w", table, err)
			}
			for rows.Next() {
				var s string
				if err := rows.Scan(&s); err != nil {
					return err
				}
				out[table] = append(out[table], s)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

func (v *intake) each(f func(context.Context, *sql.Conn) error) {
	v.t.Helper()
	ctx := context.Background()
	if err := v.im.DB.Write(ctx, func(conn *sql.Conn) error { return f(ctx, conn) }); err != nil {
		v.t.Fatal(err)
	}
}

func (v *intake) empty() {
	v.each(func(ctx context.Context, conn *sql.Conn) error {
		for _, table := range []string{"fills", "lost_fills", "waiting_fills", "wallet_names", "tokens", "markets", "wallets", "batches", "payout_log", "spare_payouts", "blocks", "block_times"} {
			if _, err := conn.ExecContext(ctx, "DELETE FROM "+table); err != nil {
				return err
			}
		}
		return nil
	})
}

// queried has a small file of every feed that DuckDB reads. Each has two fills of one transaction
// by two wallets, and its last columns may be truncated to something that is still valid.
var queried = map[string]string{
	"orderFilled.csv": "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,transactionHash,takerAmountFilled\n" +
		"1700000000," + addressA + ",0,400000," + addressB + ",77," + hashOne + ",1000000\n" +
		"1700000001," + addressB + ",77,1000000," + addressA + ",0," + hashTwo + ",400000\n",
	"trades.csv": "timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,transactionHash,token_amount\n" +
		"2025-09-10T01:18:12," + hashTwo + "," + addressA + "," + addressB + ",token2,BUY,SELL,0.4,0.4," + hashOne + ",1.25\n" +
		"2025-09-10T01:18:13," + hashTwo + "," + addressB + "," + addressA + ",token2,SELL,BUY,0.4,0.4," + hashOne + ",12.25\n",
	"api.csv": "proxyWallet,side,asset,conditionId,size,price,timestamp,title,outcome,outcomeIndex,name,transactionHash\n" +
		addressA + ",BUY,71," + hashTwo + ",12.5,0.41,1700000000,\"Will it, \"\"or\"\" not?\",No,1,Ann," + hashOne + "\n" +
		addressB + ",SELL,72," + hashTwo + ",3.25,0.59,1700000100,\"Will it, \"\"or\"\" not?\",Yes,0,Bob," + hashOne + "\n",
	"fills.csv": "ts,wallet,token,side,shares,usd,tx,condition,outcome,name,log_index\n" +
		"2026-01-02T03:04:05Z," + addressA + ",71,BUY,10.5,4.25," + hashOne + "," + hashTwo + ",1,Ann,12\n" +
		"2026-01-02T03:04:06Z," + addressB + ",72,SELL,10.5,4.25," + hashOne + "," + hashTwo + ",0,Bob,13\n",
	"fills.ndjson": `{"ts":"2026-01-02T03:04:05Z","wallet":"` + addressA + `","token":"71","side":"BUY","shares":"10.5","usd":"4.25","tx":"` + hashOne + `"}` + "\n" +
		`{"ts":"2026-01-02T03:04:06Z","wallet":"` + addressB + `","token":"72","side":"BUY","shares":"10.5","usd":"4.25","tx":"` + hashOne + `"}` + "\n",
	"api.ndjson": `{"proxyWallet":"` + addressA + `","side":"BUY","asset":"71","size":10,"price":0.4,"timestamp":1700000000,"transactionHash":"` + hashOne + `"}` + "\n" +
		`{"proxyWallet":"` + addressB + `","side":"SELL","asset":"71","size":10,"price":0.4,"timestamp":1700000000,"transactionHash":"` + hashOne + `"}` + "\n",
	"ohio_senate.csv": "Timestamp,Account,Type,Outcome,Amount,Shares,Price\n2022-11-19 22:21:29," + addressA + ",Buy,Smith,0.25,183.64,NA\n" +
		"2022-11-19 22:21:30," + addressB + ",Sell,Jones,10.25,83.64,0.12\n",
}

// TestACutFileThenTheWholeOne: importing a file that was truncated at any byte and then the whole
// file gives the same as the whole file alone, and so does the other order.
func TestACutFileThenTheWholeOne(t *testing.T) {
	v := open(t)
	for nth, name := range slices.Sorted(maps.Keys(queried)) {
		content := queried[name]
		v.empty()
		r, err := v.load(name, content)
		if err != nil || r.RejectedRows() > 0 || r.Read != 2 {
			t.Errorf("%s: err = %v, r = %+v", name, err, r)
			continue
		}
		want := v.facts()
		header := strings.IndexByte(content, '\n')
		if !strings.HasSuffix(name, ".csv") {
			header = 0
		}
		first := header + 1 + strings.IndexByte(content[header+1:], '\n')
		for i, cut := range cuts(first, len(content)) {
			order := []string{content[:cut], content}
			if i%3 == 0 && (testfiles.Long() || nth%2 == 0) { // and the other way round
				order = []string{content, content[:cut]}
			}
			v.empty()
			for _, part := range order {
				if _, err := v.load(name, part); err != nil && part == content {
					t.Errorf("%s: %v", name, err)
				}
			}
			if diff := cmp.Diff(want, v.facts()); diff != "" {
				t.Errorf("%s, cut at byte %d after %q (-want +got):\n%s", name, cut, content[max(0, cut-20):cut], diff)
			}
		}
	}
}

// cuts are offsets between the rows, in the last cell, and random ones in between.
func cuts(second, end int) []int {
	all := []int{end - 1, second + rand.IntN(end-second), end - 2, second, second + 1, second + rand.IntN(end-second), end - 3}
	if !testfiles.Long() {
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all[:testfiles.Cases(1, len(all))]
}

// TestWhatIsThereAndNotReadIsRejected: for every field that identifies a fill, a row with an
// invalid value is rejected, and one with an empty value is not.
func TestWhatIsThereAndNotReadIsRejected(t *testing.T) {
	v := open(t)
	fill := "2026-01-02T03:04:05Z," + addressA + ",71,BUY,10.5,4.25"
	for _, tc := range []struct{ name, header, row, reason string }{
		{"fills.csv", "ts,wallet,token,side,shares,usd,tx", fill + ",%", "bad_hash"},
		{"fills.csv", "ts,wallet,token,side,shares,usd,log_index", fill + ",%", "bad_log_index"},
		{"fills.csv", "ts,wallet,token,side,shares,usd,block", fill + ",%", "bad_block"},
		{"fills.csv", "ts,wallet,token,side,shares,usd,condition", fill + ",%", "bad_condition"},
		{"fills.csv", "ts,wallet,token,side,shares,usd,outcome", fill + ",%", "bad_outcome"},
		{"fills.csv", "ts,wallet,token,side,shares,usd,fee", fill + ",%", "bad_amount"},
		{"orderFilled.csv", "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash",
			"1700000000," + addressA + ",0,400000," + addressB + ",77,1000000,%", "bad_hash"},
		{"orderFilled.csv", "timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash",
			"1700000000," + addressA + ",0,400000,%,77,1000000," + hashOne, "bad_address"},
		{"trades.csv", "timestamp,market_id,maker,taker,nonusdc_side,maker_direction,taker_direction,price,usd_amount,token_amount,transactionHash",
			"2025-09-10T01:18:12," + hashTwo + "," + addressA + "," + addressB + ",token2,BUY,SELL,0.4,0.4,1,%", "bad_hash"},
		{"api.csv", "proxyWallet,side,asset,size,price,timestamp,transactionHash", addressA + ",BUY,71,12.5,0.41,1700000000,%", "bad_hash"},
		{"api.csv", "proxyWallet,side,asset,size,price,timestamp,conditionId", addressA + ",BUY,71,12.5,0.41,1700000000,%", "bad_condition"},
		{"api.csv", "proxyWallet,side,asset,size,price,timestamp,outcomeIndex", addressA + ",BUY,71,12.5,0.41,1700000000,%", "bad_outcome"},
	} {
		v.empty()
		content := tc.header + "\n"
		for _, value := range []string{"", "0x12z", "nan"} {
			content += strings.Replace(tc.row, "%", value, 1) + "\n"
		}
		r, err := v.load(tc.name, content)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int64{tc.reason: 1}, r.Rejected); diff != "" || r.Inserted+r.Waiting+r.Identical != 2 {
			t.Errorf("%s %s: r = %+v, diff = %s", tc.name, tc.reason, r, diff)
		} else if kept := v.kept(r)[0]; !strings.HasPrefix(kept, "3 ") || !strings.Contains(kept, "0x12z") {
			t.Errorf("%s %s: kept %s", tc.name, tc.reason, kept)
		}
	}
}

// TestAStrayQuoteRejectsItsRow: whether DuckDB reads the rest of the file as one cell or fails, every
// other line is imported and counted.
func TestAStrayQuoteRejectsItsRow(t *testing.T) {
	for _, rows := range []int{100, 60_000} {
		var b strings.Builder
		b.WriteString("timestamp,maker,makerAssetId,makerAmountFilled,taker,takerAssetId,takerAmountFilled,transactionHash\n")
		for i := range rows {
			quote := ""
			if i == 40 {
				quote = `"`
			}
			fmt.Fprintf(&b, "%d,%s,0,400000,%s%s,77,1000000,%s\n", 1700000000+i, addressA, quote, addressB, hashOne)
		}
		r, err := open(t).load("orderFilled.csv", b.String())
		if err != nil || r.Read != int64(rows) || r.Inserted != int64(rows)-1 || r.Rejected["bad_row"] != 1 {
			t.Errorf("%d rows: %v %+v", rows, err, r)
		}
		if r.RejectedFile != "" {
			kept, err := os.ReadFile(r.RejectedFile)
			if err != nil || !strings.Contains(string(kept), `"line":42,`) {
				t.Errorf("err = %v, kept = %s", err, kept)
			}
		}
	}
}
