SELECT token, span,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE fills END) AS BIGINT) AS taker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE usd END) AS BIGINT) AS taker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN 0 ELSE shares END) AS BIGINT) AS taker_shares,
  CAST(SUM(CASE WHEN role = 'maker' THEN fills ELSE 0 END) AS BIGINT) AS maker_fills,
  CAST(SUM(CASE WHEN role = 'maker' THEN usd ELSE 0 END) AS BIGINT) AS maker_usd,
  CAST(SUM(CASE WHEN role = 'maker' THEN shares ELSE 0 END) AS BIGINT) AS maker_shares
FROM recent
GROUP BY token, span
