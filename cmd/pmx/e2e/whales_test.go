package e2e_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/http/wire"
)

// Plain statements over the facts: orders of takers by transaction, 10,000 dollars
// and more.
const (
	plainOrders = `orders AS (
  SELECT f.ts, f.tx, f.wallet, f.token, f.side, sum(f.usd)::BIGINT AS usd, sum(f.shares)::BIGINT AS shares, count(*) AS fills,
    (SELECT max(ts) FROM fills) - f.ts AS age
  FROM fills AS f WHERE f.role <> 1 GROUP BY f.ts, f.tx, f.wallet, f.token, f.side HAVING sum(f.usd) >= 10000000000
)`
	plainMoves = `WITH ` + plainOrders + `
SELECT concat_ws(' ', ts // 1000000, lower(hex(tx)), lower(hex(w.address)), t.token_id, side, usd, shares, fills, t.outcome, lower(hex(m.condition)),
  (SELECT sum(CASE WHEN side = 1 THEN usd - fee ELSE -usd END) FROM fills AS x WHERE x.wallet = o.wallet))
FROM orders AS o JOIN wallets AS w ON w.wallet = o.wallet JOIN tokens AS t ON t.token = o.token JOIN markets AS m ON m.market = t.market
WHERE age < 365 * 86400000000
ORDER BY ts DESC, tx DESC, w.address DESC, t.token_id DESC, side DESC`

	plainWhales = `WITH ` + plainOrders + `,
whale AS (
  SELECT wallet, sum(usd) AS usd, count(*) AS n, coalesce(sum(usd) FILTER (side = 0), 0) AS buys, coalesce(sum(usd) FILTER (side = 1), 0) AS sells,
    max(usd) AS largest, max(ts) AS last
  FROM orders WHERE age < 30 * 86400000000 GROUP BY wallet
),
traded AS (
  SELECT wallet, sum(usd) AS volume FROM fills WHERE (SELECT max(ts) FROM fills) - ts < 30 * 86400000000 GROUP BY wallet
)
SELECT concat_ws(' ', rank() OVER (ORDER BY usd DESC), lower(hex(w.address)), usd, n, buys, sells, buys - sells, largest, last // 1000000, volume)
FROM whale AS k JOIN wallets AS w ON w.wallet = k.wallet JOIN traded AS f ON f.wallet = k.wallet
ORDER BY usd DESC, volume DESC, w.address LIMIT 200`

	plainFlow = `WITH ` + plainOrders + `,
signed AS (
  SELECT t.market, o.wallet, o.side, o.usd, CASE WHEN (t.outcome = 0) = (o.side = 0) THEN o.usd ELSE -o.usd END AS net
  FROM orders AS o JOIN tokens AS t ON t.token = o.token WHERE age < 7 * 86400000000
)
SELECT concat_ws(' ', rank() OVER (ORDER BY abs(sum(net)) DESC), lower(hex(m.condition)), count(*), count(DISTINCT wallet),
  coalesce(sum(usd) FILTER (side = 0), 0), coalesce(sum(usd) FILTER (side = 1), 0), sum(net))
FROM signed AS s JOIN markets AS m ON m.market = s.market
GROUP BY m.condition ORDER BY abs(sum(net)) DESC, sum(usd) DESC, m.condition LIMIT 200`

	plainSeries = `WITH ` + plainOrders + `
SELECT concat_ws(' ', h, count(o.ts), coalesce(sum(usd) FILTER (o.side = 0), 0), coalesce(sum(usd) FILTER (o.side = 1), 0),
  coalesce(sum(CASE WHEN (t.outcome = 0) = (o.side = 0) THEN usd ELSE -usd END), 0))
FROM (SELECT unnest(range(24)) AS h) AS hours
LEFT JOIN orders AS o ON o.age // 3600000000 = h LEFT JOIN tokens AS t ON t.token = o.token
GROUP BY h ORDER BY h DESC`
)

func TestWhalesEqualPlainSQLOnTheSampleVenue(t *testing.T) {
	v := readSample(t)
	same := func(what string, want, got []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%s: %d rows (-facts +API):\n%s", what, len(want), diff)
		}
	}
	var moves, whales, flow, series []string
	cursor := ""
	for {
		page := reply[wire.WhaleMoves](v, "/whales/moves?limit=23"+cursor)
		for _, m := range page.Data {
			stats := reply[wire.One[wire.TraderStats]](v, "/trader/"+m.Address+"/stats").Data
			if m.RealPnL != stats.RealPnL {
				t.Errorf("%s: real_pnl %s, of the wallet %s", m.Address, m.RealPnL, stats.RealPnL)
			}
			side := map[string]int{"BUY": 0, "SELL": 1}[m.Side]
			moves = append(moves, asPlain(m.TS.Unix(), (*m.TransactionHash)[2:], m.Address[2:], m.TokenID, side, m.USD, m.Shares, m.Fills,
				*m.OutcomeIndex, (*m.ConditionID)[2:], stats.NetCash))
		}
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	same("moves", v.table(plainMoves), moves)
	for _, w := range reply[wire.WhaleLeaderboard](v, "/whales?period=30d&limit=200").Data {
		whales = append(whales, asPlain(w.Rank, w.Address[2:], w.WhaleVolume, w.Moves, w.BuyUSD, w.SellUSD, w.NetFlow, w.LargestMove,
			w.LastMoveAt.Unix(), w.Volume))
	}
	same("whales", v.table(plainWhales), whales)
	f := reply[wire.WhaleFlow](v, "/whales/flow?period=7d&limit=200")
	for _, m := range f.Data {
		flow = append(flow, asPlain(m.Rank, m.ConditionID[2:], m.Moves, m.Whales, m.BuyUSD, m.SellUSD, m.NetFlow))
	}
	same("flow", v.table(plainFlow), flow)
	for i, h := range reply[wire.WhaleFlow](v, "/whales/flow?period=1d").Series {
		series = append(series, asPlain(23-i, h.Moves, h.BuyUSD, h.SellUSD, h.NetFlow))
	}
	same("hours", v.table(plainSeries), series)
	one := reply[wire.WhaleFlow](v, "/whales/flow?period=7d&market_id="+f.Data[0].ConditionID)
	if len(one.Data) != 1 || one.NetFlow != f.Data[0].NetFlow || one.Data[0].NetFlow != one.NetFlow {
		t.Errorf("one market: %+v, want %+v", one.Data, f.Data[0])
	}
}
