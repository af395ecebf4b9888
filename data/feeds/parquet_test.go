package feeds_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/feeds"
)

// parquetOf writes the rows of a SELECT to a Parquet file.
func parquetOf(t *testing.T, query string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's.parquet")
	stmt := fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet)", query, filepath.ToSlash(filepath.Dir(path))+"/it''s.parquet")
	if _, err := openDB(t).Exec(stmt); err != nil {
		t.Fatalf("%v\n%s", err, stmt)
	}
	return path
}

// TestJonBeckerTrades: hashes as bytes, as text without 0x and in mixed case are equal, and a row
// without a time has its block.
func TestJonBeckerTrades(t *testing.T) {
	const b20, b32 = "unhex('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')", "unhex('1111111111111111111111111111111111111111111111111111111111111111')"
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	want := func(ts int64) []numbered {
		return []numbered{
			{Row: 1, Block: 60000001, Fill: data.Fill{Tx: hash(0x11), LogIndex: 3, TS: ts, Wallet: address(0xaa), Role: data.Maker,
				TokenID: maxToken, Side: data.Buy, Shares: 1_000_000, USD: 400_000, Fee: 7, Outcome: -1}},
			{Row: 2, Block: 60000001, Fill: data.Fill{Tx: hash(0x11), LogIndex: 4, TS: ts, Wallet: address(0xaa), Role: data.Taker,
				TokenID: maxToken, Side: data.Sell, Shares: 1_000_000, USD: 400_000, Outcome: -1}},
		}
	}
	row := func(tx, maker, taker, exchange, amount, ts string) string {
		const cols = "SELECT 60000001::BIGINT block_number, %s transaction_hash, %d::INTEGER log_index, 'x' order_hash, %s maker, %s taker, " +
			"%s maker_asset_id, %s taker_asset_id, %s maker_amount, %s taker_amount, %s::BIGINT fee, %s AS timestamp, 'CTF Exchange' _contract"
		token := "'" + maxToken + "'"
		a, b := fmt.Sprintf(amount, 400000), fmt.Sprintf(amount, 1000000)
		return fmt.Sprintf(cols, tx, 3, maker, taker, "'0'", token, a, b, "7", ts) + " UNION ALL " +
			fmt.Sprintf(cols, tx, 4, maker, exchange, token, "'0'", b, a, "NULL", ts)
	}
	for name, tc := range map[string]struct {
		query string
		ts    int64
	}{
		"bytes": {row(b32, b20, b20, "unhex('4bfb41d5b3570defd03c39a9a4d8de6bd8b8982e')", "%d::BIGINT", "NULL::VARCHAR"), 0},
		"text":  {row("'"+hexTx[2:]+"'", "'"+hexA+"'", "'"+hexB+"'", "'"+exch+"'", "'%d'", "'2025-01-02T03:04:05Z'"), at.UnixMicro()},
		"times": {row("'"+hexTx+"'", "'"+hexA+"'", "'"+hexB+"'", "'"+exch+"'", "%d::HUGEINT::DOUBLE", "TIMESTAMP '2025-01-02 03:04:05'"), at.UnixMicro()},
		"unix":  {row("'"+hexTx+"'", "'"+hexA[2:]+"'", "'"+hexB+"'", "'"+exch+"'", "%d::UBIGINT", "1735787045::BIGINT"), at.UnixMicro()},
	} {
		c := read(t, parquetOf(t, tc.query))
		if diff := cmp.Diff(want(tc.ts), c.fills); diff != "" || len(c.rejects) > 0 {
			t.Errorf("%s: rejects %v, fills (-want +got):\n%s", name, c.rejects, diff)
		}
	}
}

func TestJonBeckerBlocksAndMarkets(t *testing.T) {
	c := read(t, parquetOf(t, "SELECT 60000000 + range AS block_number, CASE range WHEN 2 THEN 'junk' ELSE '2025-01-02T03:04:0' || range || 'Z' END AS timestamp FROM range(4)"))
	first := time.Date(2025, 1, 2, 3, 4, 0, 0, time.UTC).UnixMicro()
	want := []data.Block{{Number: 60000000, TS: first}, {Number: 60000001, TS: first + 1e6}, {Number: 60000003, TS: first + 3e6}}
	if diff := cmp.Diff(want, c.blocks); diff != "" || c.reasons()["bad_time"] != 1 {
		t.Errorf("rejects %v, blocks (-want +got):\n%s", c.rejects, diff)
	}
	c = read(t, parquetOf(t, "SELECT 60000000::INTEGER AS block_number, TIMESTAMPTZ '2025-01-02 03:04:00+00' AS timestamp"))
	if diff := cmp.Diff(want[:1], c.blocks); diff != "" {
		t.Errorf("typed blocks (-want +got):\n%s", diff)
	}
	c = read(t, parquetOf(t, "SELECT '5' AS id, '"+hexC+"' AS condition_id, 'Q?' AS question, 'q' AS slug, '[\"Yes\", \"No\"]' AS outcomes, "+
		"'[''0.9999'', ''0.0001'']' AS outcome_prices, '[\"7\", \"8\"]' AS clob_token_ids, 1.5::DOUBLE AS volume, true AS closed, "+
		"TIMESTAMP '2025-01-02 03:04:00' AS _fetched_at"))
	m := c.markets[0]
	if m.Resolution == nil || m.Resolution.Payouts[0] != data.One || m.TokenIDs[1] != "8" || *m.ReportedVolume != 1_500_000 ||
		m.UpdatedAt.UnixMicro() != first {
		t.Errorf("market %+v", m)
	}
}

func TestFooterTellsHowManyRows(t *testing.T) {
	h, err := feeds.ReadHead(parquetOf(t, "SELECT range AS n FROM range(300_000)"))
	if err != nil || h.Rows != 300_000 {
		t.Errorf("%d rows, want 300,000: %v", h.Rows, err)
	}
}

// TestCanonicalFillsInEveryFormat: CSV, NDJSON and Parquet give exactly the same row.
func TestCanonicalFillsInEveryFormat(t *testing.T) {
	query := "SELECT '" + hexTx + "' AS tx, 9::INTEGER AS log_index, TIMESTAMP '2025-01-02 03:04:05.678901' AS ts, '" + hexA + "' AS wallet, " +
		"'maker' AS role, '" + maxToken + "' AS token, '" + hexC + "' AS condition, 1::TINYINT AS outcome, 'SELL' AS side, " +
		"123456.789012::DECIMAL(18,6) AS shares, 0.000001::DECIMAL(18,6) AS usd, 0.5::DECIMAL(18,6) AS fee, 'Ann' AS name"
	want := numbered{Row: 1, Fill: data.Fill{Tx: hash(0x11), LogIndex: 9, TS: time.Date(2025, 1, 2, 3, 4, 5, 678901000, time.UTC).UnixMicro(),
		Wallet: address(0xaa), Role: data.Maker, TokenID: maxToken, Condition: hash(0x22), Outcome: 1, Side: data.Sell,
		Shares: 123456_789012, USD: 1, Fee: 500000, Name: "Ann"}}
	for name, path := range map[string]string{
		"parquet": parquetOf(t, query),
		"csv": text(t, "f.csv", "side,token,ts,wallet,shares,usd,fee,role,tx,log_index,condition,outcome,name\nSELL,"+maxToken+
			",2025-01-02T03:04:05.678901Z,"+hexA+",123456.789012,0.000001,0.5,maker,"+hexTx+",9,"+hexC+",1,Ann\n"),
		"ndjson": text(t, "f.ndjson", `{"ts":1735787045678901,"wallet":"`+hexA+`","token":"`+maxToken+`","side":"SELL","shares":"123456.789012","usd":0.000001,`+
			`"fee":"0.5","role":"maker","tx":"`+hexTx+`","log_index":9,"condition":"`+hexC+`","outcome":1,"name":"Ann"}`+"\nnonsense\n"+`{"ts":1735787045678901,"wallet":null}`+"\n"),
	} {
		c := read(t, path)
		if diff := cmp.Diff([]numbered{want}, c.fills); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if name == "ndjson" && len(c.rejects) != 2 {
			t.Errorf("rejects %v", c.rejects)
		}
	}
}

func TestCanonicalMarketsAndResolutions(t *testing.T) {
	c := read(t, text(t, "m.ndjson", `{"condition":"`+hexC+`","question":"Q?","outcomes":["A","B","C"],"tokens":["7","8","9"],"tags":["NBA"],"neg_risk":true,"updated_at":"2025-01-02T03:04:05Z"}`+"\n"+
		`{"condition":"0x","question":"Q?","outcomes":[],"tokens":[]}`))
	if m := c.markets[0]; len(m.TokenIDs) != 3 || m.Category != "sports" || !*m.NegRisk || m.UpdatedAt.IsZero() || c.reasons()["bad_condition"] != 1 {
		t.Errorf("%+v, rejects %v", m, c.rejects)
	}
	c = read(t, parquetOf(t, "SELECT '"+hexC+"' AS condition, 'Q?' AS question, ['A','B'] AS outcomes, ['7','8'] AS tokens"))
	if m := c.markets[0]; len(m.TokenIDs) != 2 || m.Outcomes[1] != "B" {
		t.Errorf("parquet lists: %+v", m)
	}
	c = read(t, text(t, "r.csv", "condition,payouts,resolved_at,source\n"+hexC+",\"[\"\"0.333333\"\",\"\"0.333333\"\",\"\"0.333334\"\"]\",2025-01-02,chain\n"+
		hexC+",\"[\"\"1\"\",\"\"1\"\"]\",,\n"+hexC+",\"[1,0]\",,gossip\n"))
	want := []data.Resolution{{Condition: hash(0x22), Payouts: []data.Micro{333333, 333333, 333334},
		ResolvedAt: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC), Source: data.ResolvedOnChain}}
	if diff := cmp.Diff(want, c.resolutions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"bad_payout": 1, "bad_source": 1}, c.reasons()); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}

func TestWhatTheTimeOfACanonicalResolutionComesFrom(t *testing.T) {
	row := func(at, by, source string) string { return hexC + ",\"[1,0]\"," + at + "," + by + "," + source + "\n" }
	c := read(t, text(t, "r.csv", "condition,payouts,resolved_at,resolved_at_source,source\n"+
		row("2025-01-02", "", "chain")+row("2025-01-02", "", "api")+row("2025-01-02", "", "winner")+row("2025-01-02", "", "")+
		row("2025-01-02", "", "map")+row("2025-01-02", "oracle", "map")+row("2025-01-02", "end_date", "chain")+
		row("some day", "", "chain")+row("2025-01-02", "last_trade", "chain")))
	var got []string
	for _, r := range c.resolutions {
		got = append(got, r.TimeBy().String())
	}
	if diff := cmp.Diff([]string{"chain", "oracle", "closed_time", "closed_time", "", "oracle", "end_date"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"bad_time": 1, "bad_source": 1}, c.reasons()); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}

// TestJonBeckerFilesWithLess: a log without a fee, an index and a time is a fill with its block;
// numbers may be text, and a block whose number or time cannot be read is rejected.
func TestJonBeckerFilesWithLess(t *testing.T) {
	c := read(t, parquetOf(t, "SELECT '60000001' AS block_number, '"+hexTx+"' AS transaction_hash, NULL::INTEGER AS log_index, '"+hexA+"' AS maker, '"+hexB+"' AS taker, "+
		"'0' AS maker_asset_id, '7' AS taker_asset_id, '400000' AS maker_amount, '1000000' AS taker_amount"))
	want := []numbered{{Row: 1, Block: 60000001, Fill: data.Fill{Tx: hash(0x11), LogIndex: -1, Wallet: address(0xaa), Role: data.Maker, TokenID: "7",
		Shares: 1_000_000, USD: 400_000, Outcome: -1}}}
	if diff := cmp.Diff(want, c.fills); diff != "" || len(c.rejects) > 0 {
		t.Errorf("rejects %v, fills (-want +got):\n%s", c.rejects, diff)
	}
	c = read(t, parquetOf(t, "SELECT * FROM (VALUES (7, '2026-01-02T03:04:05Z'), (-1, '2026-01-02T03:04:05Z'), (8, 'soon'), (NULL, NULL)) AS b(block_number, timestamp)"))
	if diff := cmp.Diff([]data.Block{{Number: 7, TS: 1767323045_000000}}, c.blocks); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"bad_block": 2, "bad_time": 1}, c.reasons()); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
}
