-- By cohort, from position_part.
SELECT token, wallet, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_shares) AS BIGINT) AS buy_shares,
  CAST(SUM(sell_shares) AS BIGINT) AS sell_shares, CAST(SUM(fee_shares) AS BIGINT) AS fee_shares,
  CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd, CAST(SUM(fee_usd) AS BIGINT) AS fee_usd,
  MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
FROM position_part
GROUP BY token, wallet
