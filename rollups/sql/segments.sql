-- What segments are built from.

-- name: SegmentBatch
-- The batch that was merged last: new fills, and with the sign -1 those that a better source
-- replaces.
SELECT wallet, ts, tx, coalesce(log_index, -1) AS log_index, token, side, role, repeat, shares, usd, fee, sign FROM n_fill

-- name: FactRange
-- Facts of a range of time; literal bounds let zone maps prune.
SELECT wallet, ts, tx, coalesce(log_index, -1) AS log_index, token, side, role, repeat, shares, usd, fee, batch
FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts >= @lo AND ts < @hi AND batch <= @batch AND (@which)

-- name: FactHours
-- The number of facts by hour, to read them range by range, because a result is held in memory as
-- a whole.
SELECT seconds // 3600 AS hour, count(*) AS facts
FROM fills
WHERE batch <= @batch AND (@which)
GROUP BY hour
ORDER BY hour DESC

-- name: FactCount
SELECT count(*) FROM fills WHERE batch > @after AND batch <= @batch

-- name: MissedImport
SELECT count(*) > 0
FROM batches
WHERE batch > @after AND batch < (SELECT max(batch) FROM batches WHERE batch >= @after) AND (fills > 0 OR markets > 0)

-- name: ImportLogHash
-- A fingerprint of the imports up to a batch: their times, in microseconds, distinguish one
-- history from another.
SELECT coalesce(bit_xor(hash(batch, imported_at, fills) >> 1), 0)::BIGINT FROM batches WHERE batch <= @batch

-- name: TextRange
-- The long texts of some markets, range by range, because a result is held in memory as a whole.
SELECT market, description, resolution_source, group_item_title, payout_source
FROM markets
WHERE market >= @lo AND market < @hi
ORDER BY market

-- name: ChangedTexts
SELECT market, description, resolution_source, group_item_title, payout_source FROM n_market

-- name: MarketCount
-- The number of markets, and the last one's id plus 1.
SELECT count(*), coalesce(max(market) + 1, 0)::BIGINT FROM markets

-- name: MarketsSince
-- How many markets the imports after a batch changed; a market counts each time.
SELECT coalesce(SUM(markets), 0)::BIGINT FROM batches WHERE batch > @batch
