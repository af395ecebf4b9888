-- The inputs of the PMX index. A token counts under the market, outcome and category that it has
-- now; if one of them changes, its history moves.

-- name: IndexMovedEmpty
CREATE OR REPLACE TEMP TABLE index_moved (token INTEGER, outcome TINYINT, category VARCHAR)

-- name: IndexMovedFlowEmpty
CREATE OR REPLACE TEMP TABLE index_moved_flow (token INTEGER, bucket INTEGER, side TINYINT, usd BIGINT)

-- name: IndexMoved
-- Tokens that the batch maps, maps elsewhere, or gives another category, with their previous
-- values.
INSERT INTO index_moved
SELECT t.token, CASE WHEN t.market IS NOT NULL THEN t.outcome END, m.category
FROM tokens AS t
LEFT JOIN markets AS m ON m.market = t.market
WHERE t.token IN (SELECT token FROM n_token)
  OR t.market IN (
    SELECT n.market FROM n_market AS n JOIN markets AS o ON o.market = n.market
    WHERE n.category IS DISTINCT FROM o.category)

-- name: IndexMovedSpan
-- The range of time in which they were traded; NULL if never.
SELECT min(first_ts), max(last_ts)
FROM (
  SELECT token, first_ts, last_ts FROM token_total UNION ALL SELECT token, first_ts, last_ts FROM token_total_delta
) AS t
WHERE token IN (SELECT token FROM index_moved)

-- name: IndexMovedFlow
INSERT INTO index_moved_flow
SELECT token, ((ts + 299999999) // 300000000)::INTEGER AS bucket, side, SUM(usd)
FROM fills
WHERE role <> 1 AND seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts BETWEEN @lo AND @hi
  AND token IN (SELECT token FROM index_moved)
GROUP BY token, bucket, side

-- name: DeltaIndexFlow
WITH mapped AS (
  SELECT token, CASE WHEN market IS NOT NULL THEN outcome END AS outcome, category FROM n_traded
  @movedtokens
),
part AS (
  SELECT ((f.ts + 299999999) // 300000000)::INTEGER AS bucket, f.sign AS fills, f.sign * f.usd AS taker_usd, 0 AS whale_usd,
    f.sign * f.usd AS usd, f.side, k.outcome, k.category
  FROM n_fill AS f
  JOIN mapped AS k ON k.token = f.token
  WHERE f.role <> 1
  @movedflow
  UNION ALL
  SELECT ((ts + 299999999) // 300000000)::INTEGER, 0, 0, usd, 0, side, NULL, NULL FROM d_whale_move
)
SELECT bucket, SUM(fills) AS fills, SUM(taker_usd) AS taker_usd, SUM(whale_usd) AS whale_usd,
  SUM(CASE category WHEN 'politics' THEN usd ELSE 0 END) AS politics_usd,
  SUM(CASE category WHEN 'crypto' THEN usd ELSE 0 END) AS crypto_usd,
  SUM(CASE WHEN outcome IS NOT NULL AND (outcome = 0) = (side = 0) THEN usd ELSE 0 END) AS first_usd,
  SUM(CASE WHEN outcome IS NOT NULL THEN usd ELSE 0 END) AS mapped_usd
FROM part
GROUP BY bucket

-- name: IndexMovedTokens
-- Those that were traded, with their present values, in addition to the ones that the batch
-- trades.
UNION
  SELECT t.token, CASE WHEN t.market IS NOT NULL THEN t.outcome END, m.category
  FROM (SELECT token, market, outcome FROM tokens WHERE token IN (SELECT token FROM index_moved_flow)) AS t
  LEFT JOIN markets AS m ON m.market = t.market

-- name: IndexMovedSums
UNION ALL
  SELECT f.bucket, 0, 0, 0, f.usd, f.side, k.outcome, k.category
  FROM index_moved_flow AS f JOIN mapped AS k ON k.token = f.token
  UNION ALL
  SELECT f.bucket, 0, 0, 0, -f.usd, f.side, k.outcome, k.category
  FROM index_moved_flow AS f JOIN index_moved AS k ON k.token = f.token

-- name: RebuildIndexFlow
SELECT bucket, SUM(fills) AS fills, SUM(taker_usd) AS taker_usd, SUM(whale_usd) AS whale_usd, SUM(politics_usd) AS politics_usd,
  SUM(crypto_usd) AS crypto_usd, SUM(first_usd) AS first_usd, SUM(mapped_usd) AS mapped_usd
FROM (
  SELECT ((f.ts + 299999999) // 300000000)::INTEGER AS bucket, COUNT(*) AS fills, SUM(f.usd) AS taker_usd, 0 AS whale_usd,
    coalesce(SUM(f.usd) FILTER (m.category = 'politics'), 0) AS politics_usd,
    coalesce(SUM(f.usd) FILTER (m.category = 'crypto'), 0) AS crypto_usd,
    coalesce(SUM(f.usd) FILTER (t.market IS NOT NULL AND (t.outcome = 0) = (f.side = 0)), 0) AS first_usd,
    coalesce(SUM(f.usd) FILTER (t.market IS NOT NULL), 0) AS mapped_usd
  FROM fills AS f
  JOIN tokens AS t ON t.token = f.token
  LEFT JOIN markets AS m ON m.market = t.market
  WHERE f.role <> 1
  GROUP BY bucket
  UNION ALL
  SELECT ((ts + 299999999) // 300000000)::INTEGER AS bucket, 0, 0, SUM(usd), 0, 0, 0, 0 FROM whale_move@suffix GROUP BY bucket
) AS part
GROUP BY bucket

-- name: IndexLate
-- Stored days that the batch changes.
INSERT INTO index_late
SELECT DISTINCT bucket // 288 AS day
FROM (
  SELECT (ts + 299999999) // 300000000 AS bucket FROM n_fill WHERE role <> 1
  @moved
) AS b
WHERE bucket <= (SELECT bucket FROM index_stored) AND bucket // 288 NOT IN (SELECT day FROM index_late)

-- name: IndexLateMoved
UNION ALL SELECT bucket FROM index_moved_flow

-- name: IndexToStore
SELECT (SELECT bucket FROM index_stored), (SELECT count(*) FROM index_late)

-- name: IndexLateDays
SELECT day FROM index_late ORDER BY day

-- name: IndexEnds
-- The first bucket with a fill, and the first snapshot.
SELECT coalesce((SELECT min(bucket) FROM (@flow) AS f), 2147483647), coalesce((SELECT min(bucket) FROM index_snapshot), 2147483647)

-- name: IndexNewEmpty
CREATE OR REPLACE TEMP TABLE index_new AS FROM index_snapshot WHERE false

-- name: IndexReplace
DELETE FROM index_snapshot WHERE bucket BETWEEN @lo AND @hi

-- name: IndexAdd
INSERT INTO index_snapshot FROM index_new ORDER BY bucket

-- name: IndexThin
-- Nothing is older than the first fill; before @fine, only full hours are kept.
DELETE FROM index_snapshot WHERE bucket < @first OR (bucket <= @fine AND bucket % 12 <> 0)

-- name: IndexStored
UPDATE index_stored SET bucket = @to

-- name: IndexLateDone
DELETE FROM index_late

-- name: IndexForget
DELETE FROM index_snapshot

-- name: IndexSnapshots
SELECT bucket, composite, volume, whale, politics, crypto, sentiment, windows, volume_24h, volume_base, whale_24h, whale_base,
  politics_24h, politics_base, crypto_24h, crypto_base, first_24h, mapped_24h
FROM index_snapshot
ORDER BY bucket
