-- The research datasets, as of one moment: money, sizes and ratios in millionths, times in unix
-- µs. Columns may be in any order; engine/export lists them. Rows are not sorted; the dataset
-- defines the order.

-- name: DataVersion
-- Changes whenever the database changes: if two versions are equal, so is every dataset.
SELECT s.epoch, s.as_of, b.batches, b.imported_at
FROM rollup_state AS s,
  (SELECT count(*) AS batches, coalesce(max(imported_at), 0) AS imported_at FROM batches) AS b

-- name: DeltaRows
SELECT count(*) FROM wallet_total_delta

-- name: WalletTotals
-- Lifetime figures of every wallet, if the delta has rows.
(SELECT wallet, SUM(fills)::BIGINT AS fills, SUM(maker_fills)::BIGINT AS maker_fills, SUM(taker_fills)::BIGINT AS taker_fills,
  SUM(buy_usd)::BIGINT AS buy_usd, SUM(sell_usd)::BIGINT AS sell_usd, SUM(fee_usd)::BIGINT AS fee_usd,
  SUM(days)::BIGINT AS days, SUM(markets)::BIGINT AS markets, SUM(resolved_markets)::BIGINT AS resolved_markets,
  SUM(winning_markets)::BIGINT AS winning_markets, SUM(unmapped_fills)::BIGINT AS unmapped_fills,
  SUM(redemption)::BIGINT AS redemption, SUM(unresolved_cash)::BIGINT AS unresolved_cash,
  min(first_ts) AS first_ts, max(last_ts) AS last_ts
 FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) AS part
 GROUP BY wallet)

-- name: trader_leaderboard
SELECT w.address, n.name AS username, t.fills AS trades, t.buy_usd + t.sell_usd AS volume,
  t.buy_usd AS buy_volume_usd, t.sell_usd AS sell_volume_usd,
  t.sell_usd - t.buy_usd - t.fee_usd AS net_cash, t.redemption AS redemption_value,
  t.sell_usd - t.buy_usd - t.fee_usd + t.redemption AS real_pnl,
  @roi AS roi, @win_rate AS win_rate,
  t.markets AS unique_markets, t.resolved_markets, t.winning_markets,
  t.first_ts AS first_trade_at, t.last_ts AS last_trade_at
FROM @wallet_total AS t
JOIN wallets AS w ON w.wallet = t.wallet
LEFT JOIN wallet_names AS n ON n.wallet = t.wallet
WHERE t.fills > 0 AND w.address NOT IN (@venue)

-- name: wallet_pnl
SELECT w.address, n.name AS username, t.fills AS trades, t.maker_fills AS maker_trades, t.taker_fills AS taker_trades,
  t.buy_usd + t.sell_usd AS volume, t.buy_usd AS buy_volume_usd, t.sell_usd AS sell_volume_usd, t.fee_usd AS fees_usd,
  t.sell_usd - t.buy_usd - t.fee_usd AS net_cash, t.redemption AS redemption_value,
  t.sell_usd - t.buy_usd - t.fee_usd + t.redemption AS real_pnl, t.unresolved_cash,
  t.markets AS unique_markets, t.resolved_markets, t.winning_markets, t.days AS active_days, t.unmapped_fills,
  t.first_ts AS first_trade_at, t.last_ts AS last_trade_at
FROM @wallet_total AS t
JOIN wallets AS w ON w.wallet = t.wallet
LEFT JOIN wallet_names AS n ON n.wallet = t.wallet
WHERE t.fills > 0 AND w.address NOT IN (@venue)

-- name: markets
-- A market that ever had a fill of a taker is measured by these, otherwise by those of makers.
WITH holders AS (
  SELECT market, SUM(wallets)::BIGINT AS wallets
  FROM (FROM market_wallets UNION ALL FROM market_wallets_delta) AS part
  GROUP BY market
)
SELECT m.condition AS condition_id, m.question, m.slug, m.event_id, m.event_slug, m.event_title, m.category, m.tags, m.outcomes,
  CASE WHEN m.payouts IS NOT NULL THEN 'resolved' WHEN m.closed THEN 'closed' ELSE 'open' END AS status,
  coalesce(CASE WHEN v.taker_fills > 0 THEN v.taker_usd ELSE v.maker_usd END, 0) AS volume,
  coalesce(CASE WHEN v.taker_fills > 0 THEN v.taker_shares ELSE v.maker_shares END, 0) AS volume_shares,
  CASE WHEN v.taker_fills > 0 THEN 'taker_usd' WHEN v.maker_fills > 0 THEN 'maker_usd' END AS volume_basis,
  coalesce(CASE WHEN v.taker_fills > 0 THEN v.taker_fills ELSE v.maker_fills END, 0) AS trades,
  coalesce(h.wallets, 0) AS traders,
  m.payouts, coalesce(nullif(from_json(m.outcomes, '["VARCHAR"]')[list_position(m.payouts, 1000000)], ''), l.label) AS winning_outcome,
  m.created_at, m.end_at AS end_date, m.resolved_at,
  @time_source AS resolved_at_source
FROM markets AS m
LEFT JOIN market_total AS v ON v.market = m.market
LEFT JOIN holders AS h ON h.market = m.market
LEFT JOIN (
  SELECT market, outcome, max(named.label) AS label FROM tokens WHERE market IS NOT NULL AND named IS NOT NULL GROUP BY market, outcome
) AS l ON l.market = m.market AND l.outcome = list_position(m.payouts, 1000000) - 1

-- name: oracle_accuracy
-- Means are rounded half away from zero, as the API's are.
WITH score AS (
  SELECT wallet, SUM(forecasts)::BIGINT AS n, SUM(correct)::BIGINT AS correct, SUM(payout - probability)::BIGINT AS edge,
    SUM(error)::BIGINT AS error, SUM(baseline_error)::BIGINT AS baseline
  FROM (FROM oracle_bin UNION ALL FROM oracle_bin_delta) AS part
  GROUP BY wallet
)
SELECT w.address, n.name AS username, s.n AS resolved_forecasts,
  (s.error + s.n * 500000) // (s.n * 1000000) AS brier, (s.baseline + s.n * 500000) // (s.n * 1000000) AS brier_baseline,
  @skill AS brier_skill, CASE WHEN s.edge < 0 THEN -1 ELSE 1 END * ((abs(s.edge) + s.n // 2) // s.n) AS edge,
  round(s.correct::DOUBLE / s.n * 100e6)::BIGINT AS accuracy_pct, t.buy_usd + t.sell_usd AS volume
FROM score AS s
JOIN wallets AS w ON w.wallet = s.wallet
JOIN @wallet_total AS t ON t.wallet = s.wallet
LEFT JOIN wallet_names AS n ON n.wallet = s.wallet
WHERE s.n > 0 AND w.address NOT IN (@venue)
