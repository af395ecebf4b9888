-- What wallets did in the markets of the weather desk, of all cohorts.
SELECT wallet, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, CAST(SUM(redemption) AS BIGINT) AS redemption, CAST(SUM(markets) AS BIGINT) AS markets,
  CAST(SUM(resolved_markets) AS BIGINT) AS resolved_markets, CAST(SUM(winning_markets) AS BIGINT) AS winning_markets,
  MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
FROM wallet_part
WHERE desk = 1
GROUP BY wallet
