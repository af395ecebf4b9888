-- Definitions that are computed one range of keys after another, so that the memory of a
-- statement does not grow with the size of the data. @weights has keys, each with the number of
-- its rows.

-- name: MemoryLimit
SELECT current_setting('memory_limit')

-- name: LargestFacts
SELECT greatest((SELECT count(*) FROM fills), (SELECT count(*) FROM wallets), (SELECT count(*) FROM tokens), (SELECT count(*) FROM markets))

-- name: FillCount
SELECT count(*) FROM fills

-- name: LogCount
SELECT count(*) FROM fills WHERE log_index IS NOT NULL

-- name: KeyEnds
SELECT coalesce(min(key), 0)::BIGINT, coalesce(max(key), 0)::BIGINT, coalesce(SUM(n), 0)::BIGINT FROM (@weights) AS w

-- name: KeyWeights
-- By ranges of @width keys, from @lo on; @count counts what is processed.
SELECT (key - @lo) // @width AS stretch, (@count)::BIGINT
FROM (@weights) AS w
WHERE key BETWEEN @lo AND @hi
GROUP BY stretch
ORDER BY stretch

-- name: KeysOf
SELECT (@key)::BIGINT AS key, 1 AS n FROM @table

-- name: DaysOf
-- KeysOf for a key that follows from the day of a row.
SELECT (@key)::BIGINT AS key, n FROM (SELECT day, count(*) AS n FROM @table GROUP BY day) AS of_day

-- name: PairsOf
-- Every eighth pair of a key and @second, with all its rows, each of which stands for eight.
FROM (SELECT (@key)::BIGINT AS key, hash(@key, @second) AS pair, 8 AS n FROM @table) AS p
WHERE pair % 8 = 0

-- name: MarketsOfPositions
-- Unmapped tokens have no market.
SELECT t.market AS key, p.n
FROM (SELECT token, count(*) AS n FROM @positions GROUP BY token) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL

-- name: EventsOfHoldings
SELECT e.event AS key, h.n
FROM (SELECT market, count(*) AS n FROM held_all GROUP BY market) AS h
JOIN event_market AS e ON e.market = h.market

-- name: MarketsUndated
SELECT market AS key, 1 AS n FROM held_all WHERE resolved AND resolved_at IS NULL

-- name: RowsInRange
SELECT * FROM (@rows) AS r WHERE @which

-- name: IntoTable
INSERT INTO @table @rows
