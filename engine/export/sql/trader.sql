-- Everything about one wallet, from the facts. The first two statements copy its fills and their
-- sums by market; the others are the files of its export.

-- name: TraderWallet
SELECT wallet FROM wallets WHERE address = unhex('@address')

-- name: TraderFills
CREATE TABLE @frozen.trader_fill AS
SELECT f.ts, f.tx, f.log_index, f.side, f.role, f.repeat, f.shares, f.usd, f.fee, t.token_id, t.market, t.outcome, t.named.label AS label,
  m.payouts[t.outcome + 1] AS payout
FROM fills AS f
JOIN tokens AS t ON t.token = f.token
LEFT JOIN markets AS m ON m.market = t.market
WHERE f.wallet = @wallet

-- name: TraderHoldings
-- One row per market, and one for all tokens whose market is not known. Net tokens × payout is
-- summed exactly and rounded once, half away from zero.
CREATE TABLE @frozen.trader_holding AS
WITH leg AS (
  SELECT market, outcome, any_value(payout) AS payout, count(*) AS fills,
    SUM(CASE side WHEN 0 THEN shares - greatest(fee, 0) ELSE -shares END)::BIGINT AS net,
    SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS buy_usd, SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS sell_usd,
    SUM(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::BIGINT AS fee_usd, min(ts) AS first_ts, max(ts) AS last_ts
  FROM @frozen.trader_fill
  GROUP BY market, outcome
),
valued AS (
  SELECT market, SUM(fills)::BIGINT AS fills, SUM(buy_usd)::BIGINT AS buy_usd, SUM(sell_usd)::BIGINT AS sell_usd,
    SUM(fee_usd)::BIGINT AS fee_usd, min(first_ts) AS first_ts, max(last_ts) AS last_ts, bool_or(payout IS NOT NULL) AS resolved,
    count(*) FILTER (net < 0 AND payout IS NOT NULL) AS negative_legs,
    coalesce(SUM(net::HUGEINT * payout) FILTER (payout IS NOT NULL), 0) AS exact
  FROM leg
  GROUP BY market
)
SELECT v.* EXCLUDE (exact), sell_usd - buy_usd - fee_usd AS cash,
  (CASE WHEN exact >= 0 THEN (exact + 500000) // 1000000 ELSE -((500000 - exact) // 1000000) END)::BIGINT AS redemption,
  CASE WHEN v.resolved THEN m.resolved_at END AS resolved_at, CASE WHEN v.resolved THEN m.resolved_at_source END AS resolved_at_source
FROM valued AS v
LEFT JOIN markets AS m ON m.market = v.market

-- name: trader_stats
SELECT w.address, n.name AS username, h.trades, h.buy + h.sell AS volume, h.buy AS buy_volume_usd, h.sell AS sell_volume_usd,
  f.maker_trades, f.taker_trades, f.active_days, h.unique_markets, h.first_trade_at, h.last_trade_at, h.fees AS fees_usd,
  h.cash + h.redemption AS realized_pnl, h.cash + h.redemption AS real_pnl,
  @roi AS roi, @win_rate AS win_rate, h.resolved_markets, h.winning_markets, h.cash AS net_cash,
  h.redemption AS redemption_value, h.unresolved_cash, h.negative_legs, h.unmapped_fills, '@method' AS pnl_method,
  NULL::BIGINT AS unrealized_pnl
FROM (
  SELECT SUM(fills)::BIGINT AS trades, SUM(buy_usd)::BIGINT AS buy, SUM(sell_usd)::BIGINT AS sell, SUM(fee_usd)::BIGINT AS fees,
    SUM(cash)::BIGINT AS cash, SUM(redemption)::BIGINT AS redemption, min(first_ts) AS first_trade_at, max(last_ts) AS last_trade_at,
    count(market) AS unique_markets, count(*) FILTER (resolved) AS resolved_markets,
    count(*) FILTER (resolved AND cash + redemption > 0) AS winning_markets, SUM(negative_legs)::BIGINT AS negative_legs,
    coalesce(SUM(fills) FILTER (market IS NULL), 0)::BIGINT AS unmapped_fills,
    coalesce(SUM(cash) FILTER (NOT resolved), 0)::BIGINT AS unresolved_cash
  FROM @frozen.trader_holding
) AS h,
(
  SELECT count(*) FILTER (role = 1) AS maker_trades, count(*) FILTER (role = 2) AS taker_trades,
    count(DISTINCT ts // 86400000000) AS active_days
  FROM @frozen.trader_fill
) AS f,
wallets AS w
LEFT JOIN wallet_names AS n ON n.wallet = w.wallet
WHERE w.wallet = @wallet

-- name: trader_daily
-- Days with a fill or a redemption up to as_of. The running total covers all of them, including
-- those that the history limit leaves out. Redemptions of an unknown time are separate, on the
-- day of the wallet's last trade in the market.
WITH part AS (
  SELECT (ts // 86400000000)::INTEGER AS day, 1 AS trades, CASE side WHEN 0 THEN usd ELSE 0 END AS buy,
    CASE side WHEN 1 THEN usd ELSE 0 END AS sell, CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END AS fees, 0 AS redemption,
    0 AS undated, 0 AS undated_markets
  FROM @frozen.trader_fill
  UNION ALL
  SELECT (resolved_at // 86400000000)::INTEGER, 0, 0, 0, 0, redemption, 0, 0
  FROM @frozen.trader_holding
  WHERE resolved AND redemption <> 0 AND resolved_at <= @as_of
  UNION ALL
  SELECT (last_ts // 86400000000)::INTEGER, 0, 0, 0, 0, 0, redemption, 1
  FROM @frozen.trader_holding
  WHERE resolved AND resolved_at IS NULL
),
whole AS (
  SELECT day, SUM(trades)::BIGINT AS trades, SUM(buy)::BIGINT AS buy, SUM(sell)::BIGINT AS sell, SUM(fees)::BIGINT AS fees,
    SUM(redemption)::BIGINT AS redemption, SUM(undated)::BIGINT AS undated, SUM(undated_markets)::BIGINT AS undated_markets
  FROM part
  GROUP BY day
)
SELECT * FROM (
  SELECT day AS date, day = @as_of // 86400000000 AS is_partial, trades, buy + sell AS volume, buy AS buy_volume_usd, sell AS sell_volume_usd, fees AS fees_usd,
    sell - buy - fees AS net_cash, redemption AS redemption_value,
    undated AS undated_redemption, undated_markets, sell - buy - fees + redemption AS real_pnl,
    (SUM(sell - buy - fees + redemption) OVER (ORDER BY day))::BIGINT AS cumulative_pnl
  FROM whole
) AS days
WHERE date >= @since // 86400000000

-- name: trader_markets
SELECT m.condition AS condition_id, m.question, m.slug, m.event_id, m.event_slug, m.category,
  CASE WHEN m.payouts IS NOT NULL THEN 'resolved' WHEN m.closed THEN 'closed' ELSE 'open' END AS status,
  h.resolved_at, @time_source AS resolved_at_source, h.fills AS trades, h.buy_usd + h.sell_usd AS volume, h.buy_usd AS buy_volume_usd, h.sell_usd AS sell_volume_usd,
  h.fee_usd AS fees_usd, h.cash AS net_cash, h.redemption AS redemption_value, h.cash + h.redemption AS real_pnl,
  @market_roi AS roi, h.negative_legs, h.first_ts AS first_trade_at, h.last_ts AS last_trade_at
FROM @frozen.trader_holding AS h
LEFT JOIN markets AS m ON m.market = h.market

-- name: trader_positions
-- One row per outcome that was traded, of known markets. It is named like in the API: by the market, else by the greatest label of the outcome's tokens.
SELECT m.condition AS condition_id, m.question, m.slug, m.event_id, m.event_slug,
  coalesce(nullif(from_json(m.outcomes, '["VARCHAR"]')[l.outcome + 1], ''), n.label) AS outcome, l.outcome::BIGINT AS outcome_index, l.token_id,
  l.trades, l.buy_shares, l.sell_shares, l.fee_shares, l.buy_shares - l.sell_shares - l.fee_shares AS net_shares,
  l.buy_usd AS buy_volume_usd, l.sell_usd AS sell_volume_usd, @buy_price AS avg_buy_price, @sell_price AS avg_sell_price, l.payout
FROM (
  SELECT market, outcome, min(token_id) AS token_id, count(*) AS trades, any_value(payout) AS payout,
    SUM(CASE side WHEN 0 THEN shares ELSE 0 END)::BIGINT AS buy_shares, SUM(CASE side WHEN 1 THEN shares ELSE 0 END)::BIGINT AS sell_shares,
    SUM(CASE side WHEN 0 THEN greatest(fee, 0) ELSE 0 END)::BIGINT AS fee_shares,
    SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS buy_usd, SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS sell_usd
  FROM @frozen.trader_fill
  WHERE market IS NOT NULL
  GROUP BY market, outcome
) AS l
JOIN markets AS m ON m.market = l.market
LEFT JOIN (
  SELECT market, outcome, max(named.label) AS label FROM tokens WHERE market IN (SELECT market FROM @frozen.trader_fill) GROUP BY market, outcome
) AS n ON n.market = l.market AND n.outcome = l.outcome

-- name: trader_trades
SELECT f.ts, f.tx AS transaction_hash, f.log_index::BIGINT AS log_index,
  CASE WHEN f.log_index IS NULL THEN f.repeat ELSE 1 END::BIGINT AS ordinal, m.condition AS condition_id, m.question, m.slug, m.event_id, m.event_slug,
  coalesce(CASE WHEN f.market IS NOT NULL THEN nullif(from_json(m.outcomes, '["VARCHAR"]')[f.outcome + 1], '') END, f.label) AS outcome,
  CASE WHEN f.market IS NOT NULL THEN f.outcome::BIGINT END AS outcome_index, f.token_id,
  CASE f.side WHEN 0 THEN 'BUY' ELSE 'SELL' END AS side, CASE f.role WHEN 1 THEN 'maker' WHEN 2 THEN 'taker' END AS role,
  @price AS price, f.shares, f.usd, abs(f.fee) AS fee, CASE WHEN f.side = 1 OR f.fee < 0 THEN 'usd' ELSE 'shares' END AS fee_asset,
  CASE WHEN f.market IS NOT NULL THEN m.payouts IS NOT NULL END AS resolved, f.payout, f.repeat, coalesce(f.log_index, 2147483647) AS place
FROM @frozen.trader_fill AS f
LEFT JOIN markets AS m ON m.market = f.market
WHERE f.ts >= @since

-- name: TraderCut
-- Whether the history limit leaves anything out.
SELECT count(*) > 0 FROM @frozen.trader_fill WHERE ts < @since
