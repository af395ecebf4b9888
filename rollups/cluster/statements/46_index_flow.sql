-- What the PMX index is made of: a token counts under the market, outcome and category that it has now.
SELECT bucket, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(taker_usd) AS BIGINT) AS taker_usd, CAST(SUM(whale_usd) AS BIGINT) AS whale_usd,
  CAST(SUM(politics_usd) AS BIGINT) AS politics_usd, CAST(SUM(crypto_usd) AS BIGINT) AS crypto_usd,
  CAST(SUM(first_usd) AS BIGINT) AS first_usd, CAST(SUM(mapped_usd) AS BIGINT) AS mapped_usd
FROM (
  SELECT f.bucket, f.fills, f.usd AS taker_usd, CAST(0 AS BIGINT) AS whale_usd,
    CASE WHEN c.category = 'politics' THEN f.usd ELSE 0 END AS politics_usd, CASE WHEN c.category = 'crypto' THEN f.usd ELSE 0 END AS crypto_usd,
    CASE WHEN t.market IS NOT NULL AND (t.outcome = 0 AND f.side = 0 OR t.outcome <> 0 AND f.side <> 0) THEN f.usd ELSE 0 END AS first_usd,
    CASE WHEN t.market IS NOT NULL THEN f.usd ELSE 0 END AS mapped_usd
  FROM flow AS f
  LEFT JOIN token AS t ON t.token = f.token
  LEFT JOIN lake_conditions AS c ON c.condition_id = t.market
  UNION ALL
  SELECT CAST(FLOOR(CAST(ts + 299999999 AS DOUBLE) / 300000000) AS INTEGER), 0, 0, usd, 0, 0, 0, 0 FROM whale_move
) AS part
GROUP BY bucket
