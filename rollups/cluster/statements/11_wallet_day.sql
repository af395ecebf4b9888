-- Day: day
SELECT day, wallet, COUNT(*) AS fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN 1 ELSE 0 END) AS BIGINT) AS maker_fills,
  CAST(SUM(CASE WHEN role = 'taker' THEN 1 ELSE 0 END) AS BIGINT) AS taker_fills,
  CAST(SUM(CASE WHEN side = 0 THEN usd ELSE 0 END) AS BIGINT) AS buy_usd,
  CAST(SUM(CASE WHEN side = 1 THEN usd ELSE 0 END) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd,
  MIN(us) AS first_ts, MAX(us) AS last_ts
FROM fill
GROUP BY day, wallet
