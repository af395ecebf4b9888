-- Day: hour / 24
SELECT hour,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE 1 END) AS BIGINT) AS taker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE usd END) AS BIGINT) AS taker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE shares END) AS BIGINT) AS taker_shares,
  CAST(SUM(CASE WHEN role = 'maker' THEN 1 ELSE 0 END) AS BIGINT) AS maker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN usd ELSE 0 END) AS BIGINT) AS maker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN shares ELSE 0 END) AS BIGINT) AS maker_shares
FROM (SELECT CAST(FLOOR(CAST(us AS DOUBLE) / 3600000000) AS INTEGER) AS hour, role, usd, shares FROM fill) AS f
GROUP BY hour
