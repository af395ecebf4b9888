-- One market's long texts and newest fills, and what wallets did in an event.

-- name: MarketTexts
SELECT description, resolution_source, group_item_title, payout_source
FROM markets
WHERE market = @market
ORDER BY market
LIMIT 1

-- name: MarketFills
-- The newest first, by time, then as they lie in their block.
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee
FROM (@ranges) AS f
ORDER BY ts DESC, coalesce(log_index, -1) DESC, coalesce(tx, ''::BLOB) DESC, side, shares DESC, usd DESC, token, repeat, wallet
LIMIT @limit

-- name: FillRange
-- Facts lie in order of time: literal bounds let zone maps prune.
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee
FROM fills
WHERE ts > @lo AND ts <= @hi AND token IN (@tokens) AND batch <= @batch

-- name: TokenDays
-- The last days on which one of the tokens was traded.
SELECT day, SUM(taker_fills + maker_fills)::BIGINT AS fills
FROM (
  SELECT day, taker_fills, maker_fills FROM token_day WHERE token IN (@tokens) AND day <= @day
  UNION ALL
  SELECT day, taker_fills, maker_fills FROM token_day_tail WHERE token IN (@tokens) AND day <= @day
) AS d
GROUP BY day
HAVING fills > 0
ORDER BY day DESC
LIMIT @limit

-- name: EventTraders
-- Every wallet's holdings over the tokens (token, market, outcome, payout) in
-- @paying, valued as rollups/sql/merge.sql, Holdings, does: rounded once per wallet
-- and market, half a micro-dollar away from zero. What imports after @batch added
-- is taken off. The rank is by real_pnl and volume; who ties there is sorted later.
WITH paying (token, market, outcome, payout) AS (VALUES @paying),
held AS (
  SELECT token, wallet, fills, buy_shares - sell_shares - fee_shares AS net, buy_usd, sell_usd, fee_usd
  FROM position WHERE token IN (@tokens)
  UNION ALL
  SELECT token, wallet, fills, buy_shares - sell_shares - fee_shares, buy_usd, sell_usd, fee_usd
  FROM position_tail WHERE token IN (@tokens)
  UNION ALL
  SELECT token, wallet, -1, CASE side WHEN 0 THEN fee - shares ELSE shares END, CASE side WHEN 0 THEN -usd ELSE 0 END,
    CASE side WHEN 1 THEN -usd ELSE 0 END, CASE side WHEN 1 THEN -fee ELSE 0 END
  FROM fills WHERE batch > @batch AND token IN (@tokens)
),
leg AS (
  SELECT h.wallet, k.market, any_value(k.payout) AS payout, SUM(h.fills) AS fills, SUM(h.net)::BIGINT AS net,
    SUM(h.buy_usd) AS buys, SUM(h.sell_usd) AS sells, SUM(h.fee_usd) AS fees
  FROM held AS h
  JOIN paying AS k ON k.token = h.token
  WHERE h.wallet NOT IN (@without)
  GROUP BY h.wallet, k.market, k.outcome
),
valued AS (
  SELECT wallet, market, bool_or(payout IS NOT NULL) AS resolved, SUM(fills) AS fills, SUM(buys) AS buys, SUM(sells) AS sells,
    SUM(sells - buys - fees) AS cash, coalesce(SUM(net) FILTER (payout = 1000000), 0) AS whole,
    coalesce(SUM(net::HUGEINT * payout) FILTER (payout <> 1000000 AND payout <> 0), 0) AS part
  FROM leg
  GROUP BY wallet, market
  HAVING SUM(fills) > 0
),
paid AS (
  SELECT *, whole + CASE WHEN part >= 0 THEN (part + 500000) // 1000000 ELSE -((500000 - part) // 1000000) END AS redemption
  FROM valued
),
total AS (
  SELECT wallet, SUM(cash)::BIGINT AS cash, SUM(redemption)::BIGINT AS redemption, SUM(buys)::BIGINT AS buys,
    SUM(sells)::BIGINT AS sells, SUM(fills)::BIGINT AS fills, count(*) AS markets, count(*) FILTER (resolved) AS resolved,
    count(*) FILTER (resolved AND cash + redemption > 0) AS winning
  FROM paid
  GROUP BY wallet
),
ranked AS (
  SELECT *, count(*) OVER () AS total, rank() OVER (ORDER BY cash + redemption DESC, buys + sells DESC) AS place FROM total
)
SELECT wallet, cash, redemption, buys, sells, fills, markets, resolved, winning, total
FROM ranked
WHERE place <= @limit
ORDER BY place, wallet
LIMIT 1000000
