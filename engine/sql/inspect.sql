-- Questions about a database that no process has open.

-- name: IsStale
-- Whether the rollups lack facts.
SELECT stale FROM rollup_state
