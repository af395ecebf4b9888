-- Queries of audits on the facts. Times of fills are in unix seconds, which zone maps know; those of markets in unix µs.

-- name: BusiestEvents
-- The events with the most dollars traded in a range of time. They are followed by those without
-- a known trade, since all their trades may be missing, in order of the volume that the venue
-- reports.
WITH traded AS (
  SELECT t.market, sum(f.usd) AS usd FROM fills AS f JOIN tokens AS t ON t.token = f.token
  WHERE f.seconds >= ? AND f.seconds < ? AND t.market IS NOT NULL
  GROUP BY t.market
)
SELECT m.event_id
FROM markets AS m LEFT JOIN traded AS k ON k.market = m.market
WHERE m.event_id IS NOT NULL AND m.event_id <> '' AND coalesce(m.created_at, m.start_at, 0) < ?
  AND (k.usd IS NOT NULL OR coalesce(m.closed_at, m.resolved_at) >= ? OR coalesce(m.closed_at, m.resolved_at) IS NULL AND m.closed IS NOT TRUE)
GROUP BY m.event_id
ORDER BY sum(coalesce(k.usd, 0)) DESC, max(coalesce(m.reported_volume, 0)) DESC, m.event_id LIMIT ?

-- name: TakerShares
-- What takers traded of an event's conditions: least is the volume of an inner range of time
-- without dust, most that of an outer range.
SELECT m.condition,
  CAST(coalesce(sum(f.shares) FILTER (WHERE f.seconds >= ? AND f.seconds < ? AND f.shares >= 10000), 0) AS BIGINT) AS least,
  CAST(sum(f.shares) AS BIGINT) AS most
FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
WHERE m.event_id = ? AND f.role <> 1 AND f.seconds >= ? AND f.seconds < ?
GROUP BY m.condition ORDER BY m.condition

-- name: TransactionsOf
-- The fills of a condition by transaction, without dust.
SELECT f.tx, count(*) AS fills, CAST(sum(f.shares) AS BIGINT) AS shares, min(f.seconds) AS at
FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
WHERE m.condition = ? AND f.seconds >= ? AND f.seconds < ? AND f.shares >= 10000 AND f.tx IS NOT NULL
GROUP BY f.tx

-- name: Transactions
-- The number of fills of each transaction, without dust. The transactions are given in
-- hexadecimal digits, separated by commas.
SELECT tx, count(*) AS fills FROM fills
WHERE seconds >= ? AND seconds < ? AND shares >= 10000 AND tx IN (SELECT unhex(unnest(string_split(?, ','))))
GROUP BY tx

-- name: UnmappedSince
-- Tokens that are not mapped, of those that were known before.
SELECT token_id FROM tokens WHERE market IS NULL AND token < ? ORDER BY token

-- name: NextToken
SELECT CAST(coalesce(max(token) + 1, 0) AS BIGINT) FROM tokens

-- name: ResolvedAndOpen
-- Markets that the chain resolved before a time, and that the venue's catalogue reports as open.
SELECT condition FROM markets
WHERE payouts IS NOT NULL AND payout_source = 6 AND resolved_at_source = 4 AND resolved_at <= ? AND closed IS FALSE
ORDER BY resolved_at DESC, condition
