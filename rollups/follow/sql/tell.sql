-- name: HourlyFills
-- Fills of each hour of a stretch, in hours since 1970; hours without any are left out.
SELECT hour, CAST(SUM(taker_fills + maker_fills) AS BIGINT) AS fills
  FROM (FROM platform_hour UNION ALL FROM platform_hour_delta) WHERE hour BETWEEN ? AND ? GROUP BY hour ORDER BY hour
