-- One wallet's fills, as of a batch. Facts lie in order of time, so each of these
-- reads the wallet's column through: they are the way around the files in wallet
-- order while those are not there.

-- name: WalletFills
-- The newest first, in the order of serving.Fill.Compare, behind a place in it.
SELECT ts, tx, log_index, token, side, role, repeat, shares, usd, fee
FROM fills
WHERE wallet = @wallet AND batch <= @batch AND ts <= @ts
  AND (ts, coalesce(tx, ''::BLOB), side, shares, usd, token, repeat, coalesce(log_index, -1)) <
    (@ts, unhex('@tx'), @side, @shares, @usd, @token, @repeat, @log_index)
ORDER BY ts DESC, coalesce(tx, ''::BLOB) DESC, side DESC, shares DESC, usd DESC, token DESC, repeat DESC,
  coalesce(log_index, -1) DESC
LIMIT @limit

-- name: WalletTokens
-- No wallet holds more tokens than there are: the limit is out of reach.
SELECT token, count(*), coalesce(SUM(shares) FILTER (side = 0), 0)::BIGINT, coalesce(SUM(shares) FILTER (side = 1), 0)::BIGINT,
  coalesce(SUM(fee) FILTER (side = 0), 0)::BIGINT, coalesce(SUM(usd) FILTER (side = 0), 0)::BIGINT,
  coalesce(SUM(usd) FILTER (side = 1), 0)::BIGINT, coalesce(SUM(fee) FILTER (side = 1), 0)::BIGINT, min(ts), max(ts)
FROM fills
WHERE wallet = @wallet AND batch <= @batch
GROUP BY token
ORDER BY token
LIMIT 100000000

-- name: WalletDays
SELECT (ts // 86400000000)::INTEGER AS day, count(*), coalesce(SUM(usd) FILTER (side = 0), 0)::BIGINT,
  coalesce(SUM(usd) FILTER (side = 1), 0)::BIGINT, coalesce(SUM(fee) FILTER (side = 1), 0)::BIGINT
FROM fills
WHERE wallet = @wallet AND batch <= @batch
GROUP BY day
ORDER BY day
LIMIT 100000
