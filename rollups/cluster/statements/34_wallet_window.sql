-- Spans 0, 1 and 2 are 24, 168 and 720 hours up to the newest fill.
SELECT wallet, span, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, CAST(SUM(redemption) AS BIGINT) AS redemption, CAST(SUM(undated) AS BIGINT) AS undated,
  CAST(SUM(undated_markets) AS BIGINT) AS undated_markets
FROM (
  SELECT wallet, span, fills, CASE WHEN side = 0 THEN usd ELSE 0 END AS buy_usd, CASE WHEN side = 1 THEN usd ELSE 0 END AS sell_usd, fee_usd,
    CAST(0 AS BIGINT) AS redemption, CAST(0 AS BIGINT) AS undated, CAST(0 AS BIGINT) AS undated_markets
  FROM recent
  UNION ALL
  SELECT r.wallet, w.span, 0, 0, 0, 0, r.usd, 0, 0
  FROM redemption AS r
  JOIN (
    SELECT s.span, a.hi, a.hi - s.length AS lo
    FROM (
      SELECT 0 AS span, CAST(86400000000 AS BIGINT) AS length
      UNION ALL SELECT 1, CAST(604800000000 AS BIGINT)
      UNION ALL SELECT 2, CAST(2592000000000 AS BIGINT)
    ) AS s
    CROSS JOIN (SELECT MAX(last_ts) AS hi FROM token_day) AS a
  ) AS w ON r.resolved_at > w.lo AND r.resolved_at <= w.hi
  UNION ALL
  SELECT u.wallet, w.span, 0, 0, 0, 0, 0, u.usd, u.markets
  FROM undated AS u
  JOIN (
    SELECT s.span, a.hi - s.length AS lo
    FROM (
      SELECT 0 AS span, CAST(86400000000 AS BIGINT) AS length
      UNION ALL SELECT 1, CAST(604800000000 AS BIGINT)
      UNION ALL SELECT 2, CAST(2592000000000 AS BIGINT)
    ) AS s
    CROSS JOIN (SELECT MAX(last_ts) AS hi FROM token_day) AS a
  ) AS w ON u.last_ts > w.lo
) AS part
GROUP BY wallet, span
