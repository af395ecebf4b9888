-- Internal: positions of a day, to be added up.
-- Day: day
SELECT day, token, wallet, COUNT(*) AS fills,
  CAST(SUM(CASE WHEN side = 0 THEN shares ELSE 0 END) AS BIGINT) AS buy_shares,
  CAST(SUM(CASE WHEN side = 1 THEN shares ELSE 0 END) AS BIGINT) AS sell_shares,
  CAST(SUM(fee_shares) AS BIGINT) AS fee_shares,
  CAST(SUM(CASE WHEN side = 0 THEN usd ELSE 0 END) AS BIGINT) AS buy_usd,
  CAST(SUM(CASE WHEN side = 1 THEN usd ELSE 0 END) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd,
  MIN(us) AS first_ts, MAX(us) AS last_ts
FROM fill
GROUP BY day, token, wallet
