package e2e_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/valyala/fasthttp"

	"pmx/data"
	"pmx/data/sample"
	"pmx/data/testfiles"
	"pmx/http/api/apitest"
	"pmx/http/wire"
)

// reply decodes the answer to a request of the highest tier.
func reply[T any](v *venue, path string) T {
	v.t.Helper()
	req := &fasthttp.Request{}
	req.SetRequestURI(wire.Base + path)
	req.Header.SetHost("pmx.test")
	req.Header.Set(wire.KeyHeader, v.keys["alpha"])
	res := apitest.Do(v.handler, req, nil)
	var out T
	if err := json.Unmarshal(res.Body(), &out); err != nil || res.StatusCode() != fasthttp.StatusOK {
		v.t.Fatalf("GET %s: status = %d, err = %v, body = %s", path, res.StatusCode(), err, res.Body())
	}
	return out
}

// table runs a query that gives one text per row.
func (v *venue) table(query string, args ...any) []string {
	v.t.Helper()
	var out []string
	err := v.keeper.DB().Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			out = append(out, line)
		}
		return rows.Err()
	})
	if err != nil {
		v.t.Fatalf("%v\n%s", err, query)
	}
	return out
}

// Plain statements over the facts, written independently of pmx. ? is an address in hexadecimal;
// each statement returns lines of text.
const (
	someWallets = `WITH size AS (SELECT wallet, count(*) AS n FROM fills GROUP BY wallet)
SELECT '0x' || lower(hex(address)) FROM (
  (SELECT wallet FROM size ORDER BY n DESC, wallet LIMIT 5)
  UNION (SELECT wallet FROM size ORDER BY hash(wallet), wallet LIMIT 15)
) JOIN wallets USING (wallet) ORDER BY 1`

	plainTrades = `SELECT concat_ws(' ', f.ts // 1000000, '0x' || lower(hex(f.tx)), coalesce(f.log_index::VARCHAR, '-'),
  coalesce('0x' || lower(hex(m.condition)), '-'), coalesce(m.outcomes::JSON->>(t.outcome::INT), '-'), t.token_id,
  ['BUY', 'SELL'][f.side + 1], ['-', 'maker', 'taker'][f.role + 1], f.shares, f.usd, f.fee,
  coalesce(m.payouts[t.outcome + 1]::VARCHAR, '-'))
FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet JOIN tokens AS t ON t.token = f.token
LEFT JOIN markets AS m ON m.market = t.market
WHERE w.address = unhex(substr(?, 3))
ORDER BY f.ts DESC, f.tx DESC, f.side DESC, f.shares DESC, f.usd DESC, t.token_id DESC, f.log_index DESC NULLS FIRST, f.repeat DESC`

	plainMarkets = `WITH mine AS (
  SELECT t.market, t.outcome, f.* EXCLUDE (token) FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet
  JOIN tokens AS t ON t.token = f.token WHERE w.address = unhex(substr(?, 3))
), cash AS (
  SELECT market, count(*) AS n, sum(usd) AS volume, sum(if(side = 1, usd - fee, -usd)) AS cash FROM mine GROUP BY market
), worth AS (
  SELECT b.market, sum(b.net::HUGEINT * m.payouts[b.outcome + 1]) AS millionths
  FROM (SELECT market, outcome, sum(if(side = 0, shares - fee, -shares)) AS net FROM mine GROUP BY market, outcome) AS b
  JOIN markets AS m ON m.market = b.market WHERE m.payouts IS NOT NULL GROUP BY b.market
)
SELECT concat_ws(' ', coalesce('0x' || lower(hex(m.condition)), '-'), c.n, c.volume, c.cash,
  coalesce(sign(millionths)::INT * ((abs(millionths) + 500000) // 1000000), 0))
FROM cash AS c LEFT JOIN worth AS w ON w.market = c.market LEFT JOIN markets AS m ON m.market = c.market
ORDER BY c.volume DESC, m.condition NULLS LAST`

	plainByCategory = `WITH mine AS (
  SELECT t.market, t.outcome, f.* EXCLUDE (token) FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet
  JOIN tokens AS t ON t.token = f.token WHERE w.address = unhex(substr(?, 3))
), cash AS (
  SELECT market, count(*) AS n, sum(usd) AS volume, sum(if(side = 1, usd - fee, -usd)) AS cash FROM mine GROUP BY market
), worth AS (
  SELECT b.market, sum(b.net::HUGEINT * m.payouts[b.outcome + 1]) AS millionths
  FROM (SELECT market, outcome, sum(if(side = 0, shares - fee, -shares)) AS net FROM mine GROUP BY market, outcome) AS b
  JOIN markets AS m ON m.market = b.market WHERE m.payouts IS NOT NULL GROUP BY b.market
), each AS (
  SELECT m.category, c.*, m.market IS NOT NULL AS known, m.payouts IS NOT NULL AS resolved,
    coalesce(sign(millionths)::INT * ((abs(millionths) + 500000) // 1000000), 0) AS paid
  FROM cash AS c LEFT JOIN worth AS w ON w.market = c.market LEFT JOIN markets AS m ON m.market = c.market
)
SELECT concat_ws(' ', coalesce(category, '-'), sum(n), sum(volume), sum(cash), sum(paid), count(*) FILTER (known), count(*) FILTER (resolved),
  count(*) FILTER (resolved AND cash + paid > 0), coalesce(sum(cash) FILTER (NOT resolved), 0))
FROM each GROUP BY category ORDER BY sum(volume) DESC, category NULLS LAST`

	plainDays = `WITH mine AS (
  SELECT f.*, t.market, t.outcome FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet
  JOIN tokens AS t ON t.token = f.token WHERE w.address = unhex(substr(?, 3))
), cash AS (
  SELECT make_timestamp(ts)::DATE AS day, count(*) AS n, sum(usd) AS volume, sum(if(side = 1, usd - fee, -usd)) AS cash FROM mine GROUP BY day
), worth AS (
  SELECT m.market, any_value(m.resolved_at) AS since, sum(if(side = 0, shares - fee, -shares)::HUGEINT * m.payouts[mine.outcome + 1]) AS millionths
  FROM mine JOIN markets AS m ON m.market = mine.market WHERE m.payouts IS NOT NULL GROUP BY m.market
), paid AS (
  SELECT make_timestamp(since)::DATE AS day, sum(sign(millionths)::INT * ((abs(millionths) + 500000) // 1000000)) AS usd
  FROM worth WHERE since <= (SELECT max(ts) FROM fills) GROUP BY day HAVING usd <> 0
)
SELECT concat_ws(' ', coalesce(c.day, p.day), coalesce(n, 0), coalesce(volume, 0), coalesce(cash, 0), coalesce(p.usd, 0))
FROM cash AS c FULL JOIN paid AS p ON p.day = c.day ORDER BY coalesce(c.day, p.day) DESC`
)

func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

func micros(m data.Micro) string { return fmt.Sprint(int64(m)) }

func tradeLine(r wire.Trade) string {
	index, payout := "-", "-"
	if r.LogIndex != nil {
		index = fmt.Sprint(*r.LogIndex)
	}
	if r.Payout != nil {
		payout = micros(*r.Payout)
	}
	return fmt.Sprint(r.TS.Unix(), " ", orDash(r.TransactionHash), " ", index, " ", orDash(r.ConditionID), " ", orDash(r.Outcome), " ", r.TokenID,
		" ", r.Side, " ", orDash(r.Role), " ", micros(r.Shares), " ", micros(r.USD), " ", micros(r.Fee), " ", payout)
}

// everyTrade reads all pages of a wallet's trades.
func everyTrade(v *venue, wallet string, limit int) []string {
	var lines []string
	cursor := ""
	for {
		p := reply[wire.Page[wire.Trade]](v, fmt.Sprintf("/trader/%s/trades?limit=%d%s", wallet, limit, cursor))
		for _, r := range p.Data {
			lines = append(lines, tradeLine(r))
		}
		if p.NextCursor == nil {
			return lines
		}
		cursor = "&cursor=" + *p.NextCursor
	}
}

// checkWallet compares everything shown about a wallet with plain statements.
func checkWallet(v *venue, wallet string) {
	v.t.Helper()
	same := func(what string, want, got []string) {
		v.t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			v.t.Errorf("%s of %s (-facts +API):\n%s", what, wallet, diff)
		}
	}
	same("trades", v.table(plainTrades, wallet), everyTrade(v, wallet, 33))
	m := reply[wire.WalletMarkets](v, "/trader/"+wallet+"/markets?limit=200")
	want := v.table(plainMarkets, wallet)
	if m.Total != len(want) {
		v.t.Errorf("%s: total %d, want %d", wallet, m.Total, len(want))
	}
	var got []string
	var sum wire.WalletTotals
	for _, r := range m.Data {
		got = append(got, fmt.Sprint(orDash(r.ConditionID), " ", r.Trades, " ", micros(r.Volume), " ", micros(r.NetCash), " ", micros(r.RedemptionValue)))
		sum.Trades, sum.Volume, sum.NetCash = sum.Trades+r.Trades, sum.Volume+r.Volume, sum.NetCash+r.NetCash
		sum.RedemptionValue, sum.RealPnL = sum.RedemptionValue+r.RedemptionValue, sum.RealPnL+r.RealPnL
	}
	same("markets", want[:min(200, len(want))], got)
	s := reply[wire.One[wire.TraderStats]](v, "/trader/"+wallet+"/stats").Data
	told := wire.WalletTotals{UniqueMarkets: s.UniqueMarkets, ResolvedMarkets: s.ResolvedMarkets, WinningMarkets: s.WinningMarkets, Trades: s.Trades,
		Volume: s.Volume, BuyVolumeUSD: s.BuyVolumeUSD, SellVolumeUSD: s.SellVolumeUSD, FeesUSD: s.FeesUSD, NetCash: s.NetCash,
		RedemptionValue: s.RedemptionValue, RealPnL: s.RealPnL, UnresolvedCash: s.UnresolvedCash, NegativeLegs: s.NegativeLegs, UnmappedFills: s.UnmappedFills}
	if m.Totals != told {
		v.t.Errorf("%s: totals %+v, stats %+v", wallet, m.Totals, told)
	}
	if m.Total <= 200 && (sum.Trades != s.Trades || sum.Volume != s.Volume || sum.NetCash != s.NetCash || sum.RedemptionValue != s.RedemptionValue || sum.RealPnL != s.RealPnL) {
		v.t.Errorf("%s: rows add up to %+v, stats are %+v", wallet, sum, s)
	}
	checkPages(v, wallet, m.Total)
	same("categories", v.table(plainByCategory, wallet), categories(v, wallet, &s))
	got = nil
	for _, d := range reply[wire.Series[wire.WalletDay]](v, "/trader/"+wallet+"/activity/daily?limit=365").Data {
		got = append(got, fmt.Sprint(d.Date, " ", d.Trades, " ", micros(d.Volume), " ", micros(d.NetCash), " ", micros(d.RedemptionValue)))
	}
	same("days", v.table(plainDays, wallet), got)
}

// checkPages reads all markets of a wallet by profit, page by page.
func checkPages(v *venue, wallet string, total int) {
	v.t.Helper()
	seen := map[string]bool{}
	last, cursor := data.Micro(1<<62), ""
	for {
		p := reply[wire.WalletMarkets](v, "/trader/"+wallet+"/markets?sort=real_pnl&positions=false&limit=37"+cursor)
		for _, r := range p.Data {
			if r.RealPnL > last || seen[orDash(r.ConditionID)] {
				v.t.Errorf("%s: %s with %d appears twice, or after %d", wallet, orDash(r.ConditionID), r.RealPnL, last)
			}
			last, seen[orDash(r.ConditionID)] = r.RealPnL, true
		}
		if p.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *p.NextCursor
	}
	if len(seen) != total {
		v.t.Errorf("%s: pages have %d markets of %d", wallet, len(seen), total)
	}
}

// categories returns a wallet's categories, whose columns must add up to its stats.
func categories(v *venue, wallet string, s *wire.TraderStats) (lines []string) {
	v.t.Helper()
	var sum wire.WalletCategory
	for _, r := range reply[wire.Series[wire.WalletCategory]](v, "/trader/"+wallet+"/categories").Data {
		lines = append(lines, fmt.Sprint(orDash(r.Category), " ", r.Trades, " ", micros(r.Volume), " ", micros(r.NetCash), " ", micros(r.RedemptionValue), " ",
			r.UniqueMarkets, " ", r.ResolvedMarkets, " ", r.WinningMarkets, " ", micros(r.UnresolvedCash)))
		sum.Trades, sum.Volume, sum.BuyVolumeUSD, sum.SellVolumeUSD = sum.Trades+r.Trades, sum.Volume+r.Volume, sum.BuyVolumeUSD+r.BuyVolumeUSD, sum.SellVolumeUSD+r.SellVolumeUSD
		sum.FeesUSD, sum.UniqueMarkets, sum.ResolvedMarkets = sum.FeesUSD+r.FeesUSD, sum.UniqueMarkets+r.UniqueMarkets, sum.ResolvedMarkets+r.ResolvedMarkets
		sum.WinningMarkets, sum.NetCash, sum.RedemptionValue = sum.WinningMarkets+r.WinningMarkets, sum.NetCash+r.NetCash, sum.RedemptionValue+r.RedemptionValue
		sum.RealPnL, sum.UnresolvedCash, sum.NegativeLegs = sum.RealPnL+r.RealPnL, sum.UnresolvedCash+r.UnresolvedCash, sum.NegativeLegs+r.NegativeLegs
		sum.UnmappedFills += r.UnmappedFills
	}
	want := wire.WalletCategory{Trades: s.Trades, Volume: s.Volume, BuyVolumeUSD: s.BuyVolumeUSD, SellVolumeUSD: s.SellVolumeUSD, FeesUSD: s.FeesUSD,
		UniqueMarkets: s.UniqueMarkets, ResolvedMarkets: s.ResolvedMarkets, WinningMarkets: s.WinningMarkets, NetCash: s.NetCash, RedemptionValue: s.RedemptionValue,
		RealPnL: s.RealPnL, UnresolvedCash: s.UnresolvedCash, NegativeLegs: s.NegativeLegs, UnmappedFills: s.UnmappedFills}
	if sum != want {
		v.t.Errorf("%s: categories add up to %+v, stats are %+v", wallet, sum, want)
	}
	return lines
}

// Three times: from the fills imported since the service started, from the file in wallet order
// that is written at the next start, and from both.
func TestWalletsEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	testfiles.InLong(t, "TestScenarios requests wallets with figures worked out by hand")
	from := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(t.Context(), sample.Config{Fills: int64(testfiles.Cases(8_000, 20_000)), FileRows: int64(testfiles.Cases(5_000, 12_000)), Days: testfiles.Cases(8, 0)}, from, nil); err != nil {
		t.Fatal(err)
	}
	parts, err := filepath.Glob(filepath.Join(from, "orderFilled*.csv"))
	if err != nil || len(parts) != 2 {
		t.Fatalf("parts = %v, err = %v", parts, err)
	}
	slices.Sort(parts)
	last := parts[1]
	v := newVenue(t)
	v.load(parts[0], filepath.Join(from, sample.EventsName)) // responses about wallets do not depend on the weather
	checkWallets(v)
	if err := v.keeper.Close(); err != nil {
		t.Fatal(err)
	}
	v = openVenue(t, v.dir)
	v.keeper.Settle()
	if s := v.keeper.WalletStats(); !s.Ready || s.Stored == 0 || s.Recent > 0 {
		t.Fatalf("the file in wallet order: %+v", s)
	}
	checkWallets(v)
	v.load(last)
	if s := v.keeper.WalletStats(); !s.Ready || s.Stored == 0 || s.Recent == 0 {
		t.Fatalf("next to the file in wallet order: %+v", s)
	}
	checkWallets(v)
}

func checkWallets(v *venue) {
	v.t.Helper()
	wallets := v.table(someWallets)
	if len(wallets) < 15 {
		v.t.Fatalf("got %d wallets", len(wallets))
	}
	for _, w := range wallets {
		checkWallet(v, w)
	}
}
