SELECT token, span, CAST(SUM(taker_fills) AS BIGINT) AS taker_fills, CAST(SUM(taker_usd) AS BIGINT) AS taker_usd,
  CAST(SUM(taker_shares) AS BIGINT) AS taker_shares, CAST(SUM(maker_fills) AS BIGINT) AS maker_fills,
  CAST(SUM(maker_usd) AS BIGINT) AS maker_usd, CAST(SUM(maker_shares) AS BIGINT) AS maker_shares
FROM (
  SELECT token, span, CASE WHEN role = 'maker' THEN 0 ELSE fills END AS taker_fills, CASE WHEN role = 'maker' THEN 0 ELSE usd END AS taker_usd,
    CASE WHEN role = 'maker' THEN 0 ELSE shares END AS taker_shares, CASE WHEN role = 'maker' THEN fills ELSE 0 END AS maker_fills,
    CASE WHEN role = 'maker' THEN usd ELSE 0 END AS maker_usd, CASE WHEN role = 'maker' THEN shares ELSE 0 END AS maker_shares
  FROM recent
  UNION ALL
  SELECT d.token, s.span, d.taker_fills, d.taker_usd, d.taker_shares, d.maker_fills, d.maker_usd, d.maker_shares
  FROM token_day AS d
  JOIN spans AS s ON d.day > s.first_day
) AS part
GROUP BY token, span
