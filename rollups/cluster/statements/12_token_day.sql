-- Volume by leg: makers apart from all others.
-- Day: day
SELECT day, token,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE 1 END) AS BIGINT) AS taker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE usd END) AS BIGINT) AS taker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE shares END) AS BIGINT) AS taker_shares,
  CAST(SUM(CASE WHEN role = 'maker' THEN 1 ELSE 0 END) AS BIGINT) AS maker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN usd ELSE 0 END) AS BIGINT) AS maker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN shares ELSE 0 END) AS BIGINT) AS maker_shares,
  MIN(us) AS first_ts, MAX(us) AS last_ts
FROM fill
GROUP BY day, token
