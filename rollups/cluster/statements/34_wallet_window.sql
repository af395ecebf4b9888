-- Spans 0, 1 and 2 are 24, 168 and 720 hours up to the newest fill.
SELECT wallet, span, CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd, CAST(SUM(sell_usd) AS BIGINT) AS sell_usd,
  CAST(SUM(fee_usd) AS BIGINT) AS fee_usd, CAST(SUM(redemption) AS BIGINT) AS redemption, CAST(SUM(undated) AS BIGINT) AS undated,
  CAST(SUM(undated_markets) AS BIGINT) AS undated_markets
FROM (
  SELECT wallet, span, fills, CASE WHEN side = 0 THEN usd ELSE 0 END AS buy_usd, CASE WHEN side = 1 THEN usd ELSE 0 END AS sell_usd, fee_usd,
    CAST(0 AS BIGINT) AS redemption, CAST(0 AS BIGINT) AS undated, CAST(0 AS BIGINT) AS undated_markets
  FROM recent
  UNION ALL
  SELECT d.wallet, s.span, d.fills, d.buy_usd, d.sell_usd, d.fee_usd, 0, 0, 0
  FROM wallet_day AS d
  JOIN spans AS s ON d.day > s.first_day
  UNION ALL
  SELECT r.wallet, s.span, 0, 0, 0, 0, r.usd, 0, 0
  FROM redemption AS r
  JOIN spans AS s ON r.resolved_at > s.lo AND r.resolved_at <= s.hi
  UNION ALL
  SELECT u.wallet, s.span, 0, 0, 0, 0, 0, u.usd, u.markets
  FROM undated AS u
  JOIN spans AS s ON u.last_ts > s.lo
) AS part
GROUP BY wallet, span
