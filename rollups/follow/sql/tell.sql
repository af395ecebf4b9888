-- name: HourlyFills
-- Fills of each hour of a stretch, in hours since 1970; hours without any are left out.
SELECT hour, CAST(SUM(taker_fills + maker_fills) AS BIGINT) AS fills
  FROM (FROM platform_hour UNION ALL FROM platform_hour_delta) WHERE hour BETWEEN ? AND ? GROUP BY hour ORDER BY hour

-- name: LastOfMarkets
-- When something came in last of the markets that were followed, in unix µs; NULL where none were.
SELECT MAX(imported_at) FROM batches WHERE file IN ('gamma tokens', 'gamma heard', 'gamma open events', 'gamma closed', 'gamma reconciliation', 'clob markets')
  AND EXISTS (FROM sync_cursor WHERE source = 'markets steps')

-- name: WeatherChanged
-- When each source of the weather gave something new last, in unix µs.
SELECT file, max(imported_at) FROM batches
WHERE (file IN ('metar', 'nws') OR starts_with(file, 'openmeteo '))
  AND coalesce(receipt->>'$.forecasts', receipt->>'$.actuals', receipt->>'$.observations') IS NOT NULL -- a count of none is left out
GROUP BY file

-- name: LastQuote
-- The time of the newest quote that the order book told, in unix µs; NULL where there is none.
SELECT MAX(ts) FROM live_quote
