-- Whale moves: orders of at least whale_rule.min_usd. An order is the taker fills of one wallet,
-- token and side in one transaction. A transaction has one time, so its other fills are searched
-- only at that time.

-- name: WhaleRanges
-- Where fills of the batch's orders may already be, as reads of ranges of days without gaps; one
-- read of the whole span if there are many ranges. NULL if nowhere.
WITH island AS (
  SELECT min(lo) AS lo, max(hi) AS hi
  FROM (
    SELECT lo, hi, day - row_number() OVER (ORDER BY day) AS island
    FROM (
      SELECT ts // 86400000000 AS day, min(ts) AS lo, max(ts) AS hi FROM n_fill WHERE role <> 1 AND ts <= @from GROUP BY day
    ) AS d
  ) AS k
  GROUP BY island
),
span AS (
  SELECT lo, hi FROM island WHERE (SELECT count(*) FROM island) <= 32
  UNION ALL
  SELECT min(lo), max(hi) FROM island HAVING count(*) > 32
)
SELECT string_agg('SELECT ts, wallet, token, side, tx, shares, usd FROM fills WHERE role <> 1 AND seconds BETWEEN ' || lo // 1000000
  || ' AND ' || hi // 1000000 || ' AND ts BETWEEN ' || lo || ' AND ' || hi, ' UNION ALL ' ORDER BY lo)
FROM span

-- name: WhaleBeforeEmpty
CREATE OR REPLACE TEMP TABLE whale_before (ts BIGINT, wallet INTEGER, token INTEGER, side TINYINT, tx BLOB,
  fills BIGINT, shares BIGINT, usd BIGINT)

-- name: WhaleBefore
-- The orders of the batch as they were before it.
INSERT INTO whale_before
SELECT f.ts, f.wallet, f.token, f.side, f.tx, COUNT(*), SUM(f.shares), SUM(f.usd)
FROM (@ranges) AS f
SEMI JOIN (SELECT ts, wallet, token, side, tx FROM n_fill WHERE role <> 1) AS n
  ON n.ts = f.ts AND n.wallet = f.wallet AND n.token = f.token AND n.side = f.side AND n.tx IS NOT DISTINCT FROM f.tx
GROUP BY f.ts, f.wallet, f.token, f.side, f.tx

-- name: DeltaWhaleMove
-- An order that reaches the threshold is added as a whole; one that no longer does is removed.
WITH now AS (
  SELECT ts, wallet, token, side, tx, SUM(fills) AS fills, SUM(shares) AS shares, SUM(usd) AS usd
  FROM (
    SELECT ts, wallet, token, side, tx, sign AS fills, sign * shares AS shares, sign * usd AS usd FROM n_fill WHERE role <> 1
    UNION ALL
    FROM whale_before
  ) AS part
  GROUP BY ts, wallet, token, side, tx
)
SELECT ts, wallet, token, side, tx, SUM(fills) AS fills, SUM(shares) AS shares, SUM(usd) AS usd
FROM (
  SELECT ts, wallet, token, side, tx, fills, shares, usd FROM now WHERE usd >= (SELECT min_usd FROM whale_rule)
  UNION ALL
  SELECT ts, wallet, token, side, tx, -fills, -shares, -usd FROM whale_before WHERE usd >= (SELECT min_usd FROM whale_rule)
) AS part
GROUP BY ts, wallet, token, side, tx

-- name: WhaleChunks
-- Ranges of time with about @rows fills each: grouping all orders at once would need memory for
-- every one of them.
SELECT min(hour) * 3600000000 AS lo, (max(hour) + 1) * 3600000000 AS hi
FROM (
  SELECT hour, SUM(taker_fills + maker_fills) OVER (ORDER BY hour) // @rows AS chunk FROM platform_hour@suffix
) AS h
GROUP BY chunk
ORDER BY chunk

-- name: WhaleAllEmpty
CREATE OR REPLACE TEMP TABLE whale_all (ts BIGINT, wallet INTEGER, token INTEGER, side TINYINT, tx BLOB,
  fills BIGINT, shares BIGINT, usd BIGINT)

-- name: WhaleAll
-- An order is at most what its wallet traded of the token at its time, so few fills have to be
-- grouped by transaction.
INSERT INTO whale_all
SELECT f.ts, f.wallet, f.token, f.side, f.tx, COUNT(*), SUM(f.shares), SUM(f.usd)
FROM fills AS f
SEMI JOIN (
  SELECT ts, wallet, token FROM fills
  WHERE role <> 1 AND seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts >= @lo AND ts < @hi
  GROUP BY ts, wallet, token
  HAVING SUM(usd) >= (SELECT min_usd FROM whale_rule)
) AS large ON large.ts = f.ts AND large.wallet = f.wallet AND large.token = f.token
WHERE f.role <> 1 AND f.seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND f.ts >= @lo AND f.ts < @hi
GROUP BY f.ts, f.wallet, f.token, f.side, f.tx
HAVING SUM(f.usd) >= (SELECT min_usd FROM whale_rule)

-- name: RebuildWhaleMove
SELECT ts, wallet, token, side, tx, fills, shares, usd FROM whale_all

-- name: WhaleRule
SELECT min_usd FROM whale_rule

-- name: SetWhaleRule
UPDATE whale_rule SET min_usd = @min

-- name: FollowWhaleMoves
SELECT ts, wallet, token, side, tx, fills, shares, usd FROM (@moves) AS m WHERE ts > @since
