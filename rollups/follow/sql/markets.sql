-- name: UnmappedTokens
-- Tokens that fills name and that are not mapped, the newest first.
SELECT token_id FROM tokens WHERE market IS NULL ORDER BY token DESC LIMIT ?

-- name: UndescribedMarkets
-- Markets that Gamma has not described; only fills, payouts, mappings or another source name
-- them. Those without any known field come first, then the newest.
SELECT condition FROM markets WHERE gamma_id IS NULL ORDER BY question IS NOT NULL, market DESC LIMIT ?

-- name: WaitingReferences
-- The references of waiting fills to their markets: by condition or by Gamma's id, with the
-- outcome.
SELECT DISTINCT token FROM waiting_fills LIMIT ?

-- name: NotSaidClosed
-- Markets that are open according to the database, or whose payouts are known but not the time at
-- which they closed.
SELECT condition FROM markets WHERE closed IS NOT TRUE AND (question IS NOT NULL OR gamma_id IS NOT NULL)

-- name: ClosedBetween
-- Markets whose time of closing, or of resolution, is in a range of time, the oldest first. All
-- markets of the last time are included, so there may be some more than the limit. Times are in
-- unix µs.
SELECT condition, ts FROM (SELECT condition, coalesce(resolved_at, closed_at) AS ts FROM markets)
WHERE ts > ? AND ts <= ?
QUALIFY rank() OVER (ORDER BY ts) <= ?
ORDER BY ts, condition

-- name: ClosedWithoutPayouts
-- Markets that have been closed for a while and whose payouts no source gives, the newest first.
SELECT condition FROM markets WHERE closed AND payouts IS NULL AND closed_at <= ? ORDER BY closed_at DESC, condition LIMIT ?

-- name: PayoutsNotOfTheChain
-- Markets that were resolved between two times according to sources other than the chain's logs,
-- the newest first.
SELECT condition FROM markets
WHERE payouts IS NOT NULL AND payout_source < 5 AND coalesce(resolved_at, closed_at) BETWEEN ? AND ?
ORDER BY coalesce(resolved_at, closed_at) DESC, condition LIMIT ?

-- name: DropSeen
DELETE FROM sync_cursor WHERE source = 'markets seen'
