-- Internal: what the holdings of a wallet come to within a cohort, those of the weather desk's markets apart.
-- By cohort, from holding.
SELECT wallet, desk, COUNT(market) AS markets, CAST(SUM(resolved) AS BIGINT) AS resolved_markets,
  CAST(SUM(CASE WHEN resolved = 1 AND cash + redemption > 0 THEN 1 ELSE 0 END) AS BIGINT) AS winning_markets,
  CAST(SUM(negative_legs) AS BIGINT) AS negative_legs,
  CAST(SUM(CASE WHEN market IS NULL THEN fills ELSE 0 END) AS BIGINT) AS unmapped_fills,
  CAST(SUM(redemption) AS BIGINT) AS redemption,
  CAST(SUM(CASE WHEN resolved = 1 THEN 0 ELSE cash END) AS BIGINT) AS unresolved_cash,
  CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
FROM holding
GROUP BY wallet, desk
