-- What segments are built from.

-- name: SegmentBatch
-- The batch merged last: what is new, and -1 where a better source replaces a fill.
SELECT wallet, ts, tx, coalesce(log_index, -1) AS log_index, token, side, role, repeat, shares, usd, fee, sign FROM n_fill

-- name: FactRange
-- Facts of a span of time; literal bounds let zone maps prune.
SELECT wallet, ts, tx, coalesce(log_index, -1) AS log_index, token, side, role, repeat, shares, usd, fee, batch
FROM fills
WHERE ts >= @lo AND ts < @hi AND batch <= @batch AND (@which)

-- name: FactHours
-- How many facts there are by hour, to read them span by span: a result is held in
-- memory as a whole.
SELECT ts // 3600000000 AS hour, count(*)
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
-- A fingerprint of the imports up to a batch: their times to the microsecond tell
-- one history from another.
SELECT coalesce(bit_xor(hash(batch, imported_at, fills) >> 1), 0)::BIGINT FROM batches WHERE batch <= @batch

-- name: TextRange
-- The long texts of some markets, span by span: a result is held in memory as a whole.
SELECT market, description, resolution_source, group_item_title, payout_source
FROM markets
WHERE market >= @lo AND market < @hi
ORDER BY market

-- name: ChangedTexts
SELECT market, description, resolution_source, group_item_title, payout_source FROM n_market

-- name: MarketCount
-- How many markets there are, and one more than the last one's id.
SELECT count(*), coalesce(max(market) + 1, 0)::BIGINT FROM markets

-- name: MarketsSince
-- How many markets the imports after one changed, each time counted.
SELECT coalesce(SUM(markets), 0)::BIGINT FROM batches WHERE batch > @batch
