-- What wallets did in the markets of the weather desk.
SELECT wallet, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, CAST(SUM(redemption) AS BIGINT) AS redemption, COUNT(market) AS markets,
  CAST(SUM(resolved) AS BIGINT) AS resolved_markets,
  CAST(SUM(CASE WHEN resolved = 1 AND cash + redemption > 0 THEN 1 ELSE 0 END) AS BIGINT) AS winning_markets,
  MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
FROM holding
WHERE desk = 1
GROUP BY wallet
