-- name: UnmappedTokens
-- Tokens that fills name and nobody has mapped, the newest first.
SELECT token_id FROM tokens WHERE market IS NULL ORDER BY token DESC LIMIT ?

-- name: UndescribedMarkets
-- Markets that Gamma has not described, as only fills, payouts, mappings or another source name
-- them. Those of which nothing is known come first, then the newest.
SELECT condition FROM markets WHERE gamma_id IS NULL ORDER BY question IS NOT NULL, market DESC LIMIT ?

-- name: WaitingReferences
-- How fills that wait name their markets: by condition or by Gamma's id, with the outcome.
SELECT DISTINCT token FROM waiting_fills LIMIT ?

-- name: NotSaidClosed
-- Markets that the database has for open, or that it knows the payouts of and not the end.
SELECT condition FROM markets WHERE closed IS NOT TRUE AND (question IS NOT NULL OR gamma_id IS NOT NULL)

-- name: ClosedBetween
-- Markets whose time of closing, or of resolution, lies in a stretch of time, the oldest
-- first; all of one time, and about as many as are wanted. Times are in unix µs.
SELECT condition, ts FROM (SELECT condition, coalesce(resolved_at, closed_at) AS ts FROM markets)
WHERE ts > ? AND ts <= ?
QUALIFY rank() OVER (ORDER BY ts) <= ?
ORDER BY ts, condition

-- name: ClosedWithoutPayouts
-- Markets that are closed since a while and whose payouts nobody has told, the newest first.
SELECT condition FROM markets WHERE closed AND payouts IS NULL AND closed_at <= ? ORDER BY closed_at DESC, condition LIMIT ?

-- name: PayoutsNotOfTheChain
-- Markets that are resolved, as others than the chain's logs say, between two times, the newest
-- first.
SELECT condition FROM markets
WHERE payouts IS NOT NULL AND payout_source < 5 AND coalesce(resolved_at, closed_at) BETWEEN ? AND ?
ORDER BY coalesce(resolved_at, closed_at) DESC, condition LIMIT ?

-- name: DropSeen
DELETE FROM sync_cursor WHERE source = 'markets seen'
