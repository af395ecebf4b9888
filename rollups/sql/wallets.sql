-- What the files in wallet order are made from.

-- name: WalletBatch
-- The batch merged last: what is new, and -1 where a better source replaces a fill.
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee, sign FROM n_fill

-- name: WalletFacts
-- Facts of a span of time; literal bounds let zone maps prune.
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee, batch
FROM fills
WHERE ts >= @lo AND ts < @hi AND batch <= @batch AND (@which)

-- name: WalletHours
-- How many facts there are by hour, to read them span by span: a result is held in
-- memory as a whole.
SELECT ts // 3600000000 AS hour, count(*)
FROM fills
WHERE batch <= @batch AND (@which)
GROUP BY hour
ORDER BY hour

-- name: WalletCount
SELECT count(*) FROM fills WHERE batch > @after AND batch <= @batch

-- name: WalletLedger
-- A fingerprint of the imports up to a batch: their times to the microsecond tell
-- one history from another.
SELECT coalesce(bit_xor(hash(batch, imported_at, fills) >> 1), 0)::BIGINT FROM batches WHERE batch <= @batch
