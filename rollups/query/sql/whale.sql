-- Whale moves, the sums of base and delta.

-- name: WhaleMoves
-- The newest @limit before a position in the order, newest first. Names are looked up only for
-- rows that can be in the result: all rows with the time of the position, and as many as are
-- requested of those before it.
WITH move AS (@moves),
near AS (
  FROM move WHERE ts >= (SELECT coalesce(min(ts), @ts) FROM (SELECT ts FROM move WHERE ts < @ts ORDER BY ts DESC LIMIT @limit) AS n)
),
named AS (
  SELECT m.ts, m.tx, coalesce(m.tx, ''::BLOB) AS hash, w.address, t.token_id, m.side, m.wallet, m.token, m.fills, m.shares, m.usd
  FROM near AS m
  JOIN wallets AS w ON w.wallet = m.wallet
  JOIN tokens AS t ON t.token = m.token
)
SELECT ts, tx, address, token_id, side, wallet, token, fills, shares, usd
FROM named
WHERE (ts, hash, address, token_id, side) < (@ts, unhex('@tx'), unhex('@address'), '@token_id', @side)
ORDER BY ts DESC, hash DESC, address DESC, token_id DESC, side DESC
LIMIT @limit

-- name: WhaleMovesOf
SELECT ts, wallet, token, side, tx, SUM(fills)::BIGINT AS fills, SUM(shares)::BIGINT AS shares, SUM(usd)::BIGINT AS usd
FROM (
  SELECT ts, wallet, token, side, tx, fills, shares, usd FROM whale_move WHERE @which
  UNION ALL
  SELECT ts, wallet, token, side, tx, fills, shares, usd FROM whale_move_delta WHERE @which
) AS part
GROUP BY ts, wallet, token, side, tx
HAVING SUM(usd) >= @min AND SUM(fills) > 0

-- name: WhaleCategory
token IN (SELECT t.token FROM tokens AS t JOIN markets AS m ON m.market = t.market WHERE m.category IN (@categories))
