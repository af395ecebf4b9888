-- Internal: one row per wallet and outcome (market NULL: unmapped). Two tokens may stand for one outcome.
-- By cohort, from position.
SELECT p.wallet, t.market, t.outcome, MAX(t.payout) AS payout, MAX(t.resolved_us) AS resolved_us,
  MAX(CASE WHEN t.desk THEN 1 ELSE 0 END) AS desk, CAST(SUM(p.fills) AS BIGINT) AS fills,
  CAST(SUM(p.buy_shares - p.sell_shares - p.fee_shares) AS BIGINT) AS net,
  CAST(SUM(p.sell_usd - p.buy_usd - p.fee_usd) AS BIGINT) AS cash,
  CAST(SUM(p.buy_shares) AS BIGINT) AS buy_shares, CAST(SUM(p.buy_usd) AS BIGINT) AS buy_usd,
  CAST(SUM(p.sell_usd) AS BIGINT) AS sell_usd, CAST(SUM(p.fee_usd) AS BIGINT) AS fee_usd,
  MIN(p.first_ts) AS first_ts, MAX(p.last_ts) AS last_ts
FROM position AS p
LEFT JOIN token AS t ON t.token = p.token
GROUP BY p.wallet, t.market, t.outcome
