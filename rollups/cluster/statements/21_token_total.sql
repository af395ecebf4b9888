SELECT token,
  CAST(SUM(taker_fills) AS BIGINT) AS taker_fills, CAST(SUM(taker_usd) AS BIGINT) AS taker_usd,
  CAST(SUM(taker_shares) AS BIGINT) AS taker_shares, CAST(SUM(maker_fills) AS BIGINT) AS maker_fills,
  CAST(SUM(maker_usd) AS BIGINT) AS maker_usd, CAST(SUM(maker_shares) AS BIGINT) AS maker_shares,
  MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
FROM token_day
GROUP BY token
