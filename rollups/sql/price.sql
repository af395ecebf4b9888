-- The last traded price of each token, now and 24 hours before as_of. A trade is one number that
-- grows with time: ts · 2^52 + (log index + 1) · 2^20 + price. The log index orders the fills of
-- a block. Fills without one come before those with one, and of equal ones the higher price is
-- used, so the order of imports does not matter. If a fill is replaced by an equal one with a log
-- index, the number only grows, so nothing ever has to be subtracted.

-- name: Price
-- Dollars ÷ tokens in millionths, halves rounded up, at most 1. Products that fit into 64 bits
-- are not computed in 128, which costs several times as much.
CASE WHEN @usd < 2000000000000 AND @shares < 4000000000000000000
  THEN least((@usd * 2000000 + @shares) // (2 * @shares), 1000000)
  ELSE least((@usd::HUGEINT * 2000000 + @shares) // (2 * @shares::HUGEINT), 1000000)::BIGINT END

-- name: PriceKey
-- @of is the price of the fill, from the statement Price. Only the last sum needs 128 bits.
ts::HUGEINT * 4503599627370496 + ((coalesce(log_index, -1) + 1)::BIGINT * 1048576 + @of)

-- name: AgedPrices
-- Trades that become 24 hours old as as_of moves on. Runs before the batch is added.
CREATE OR REPLACE TEMP TABLE aged_price AS
SELECT token, max(@price) AS last FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts > @lo AND ts <= @hi AND shares > 0
GROUP BY token

-- name: DeltaTokenPrice
SELECT token, max(last) AS last, max(day_ago) AS day_ago
FROM (
  SELECT token, last, CASE WHEN ts <= @ago THEN last END AS day_ago
  FROM (SELECT token, ts, @price AS last FROM n_fill WHERE sign > 0 AND shares > 0) AS traded
  UNION ALL
  SELECT token, NULL, last FROM aged_price
) AS part
GROUP BY token

-- name: RebuildTokenPrice
SELECT token, max(last) AS last, max(last) FILTER (ts <= @ago) AS day_ago
FROM (SELECT token, ts, @price AS last FROM fills WHERE shares > 0) AS traded
GROUP BY token

-- name: LoadPrices
-- Split by shifts: a division of 128 bits costs forty times as much.
SELECT token, (last >> 52)::BIGINT AS ts, ((last >> 20) & 4294967295)::BIGINT - 1 AS log_index, (last & 1048575)::BIGINT AS price,
  (day_ago >> 52)::BIGINT AS ago_ts, ((day_ago >> 20) & 4294967295)::BIGINT - 1 AS ago_log_index, (day_ago & 1048575)::BIGINT AS ago_price
FROM (@rows) AS r

-- name: LoadDayHolders
SELECT token, wallet, count(*) AS fills FROM @fills AS f WHERE ts > @lo AND ts <= @hi GROUP BY token, wallet

-- name: BatchDayHolders
SELECT token, wallet, SUM(sign)::BIGINT AS fills FROM w_fill WHERE span = 0 GROUP BY token, wallet

-- name: LoadHeldBy
SELECT DISTINCT token, wallet FROM (@rows) AS r WHERE wallet IN (@wallets)
