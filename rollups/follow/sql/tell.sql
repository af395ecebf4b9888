-- name: HourlyFills
-- The number of fills in each hour of a range, in hours since 1970; hours without fills are left
-- out.
SELECT hour, CAST(SUM(taker_fills + maker_fills) AS BIGINT) AS fills
  FROM (FROM platform_hour UNION ALL FROM platform_hour_delta) WHERE hour BETWEEN ? AND ? GROUP BY hour ORDER BY hour

-- name: LastOfMarkets
-- When data of followed markets was last imported, in unix µs; NULL if none was.
SELECT MAX(imported_at) FROM batches WHERE file IN ('gamma tokens', 'gamma heard', 'gamma open events', 'gamma closed', 'gamma reconciliation', 'clob markets')
  AND EXISTS (FROM sync_cursor WHERE source = 'markets steps')

-- name: WeatherChanged
-- When each weather source last gave something new, in unix µs.
SELECT file, max(imported_at) FROM batches
WHERE (file IN ('metar', 'nws') OR starts_with(file, 'openmeteo '))
  AND coalesce(receipt->>'$.forecasts', receipt->>'$.actuals', receipt->>'$.observations') IS NOT NULL -- a count of 0 is omitted
GROUP BY file

-- name: LastQuote
-- The time of the newest quote from the order book, in unix µs; NULL if there is none.
SELECT MAX(ts) FROM live_quote
