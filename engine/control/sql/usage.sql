-- Requests by key, day and endpoint.

-- name: AddUse
INSERT INTO usage (key_id, day, endpoint, requests) SELECT id, ?, ?, ? FROM api_keys WHERE hash = ?
ON CONFLICT (key_id, day, endpoint) DO UPDATE SET requests = requests + excluded.requests

-- name: LastUse
UPDATE api_keys SET last_used_from = CASE WHEN ?1 >= COALESCE(last_used_at, 0) THEN COALESCE(NULLIF(?2, ''), last_used_from) ELSE last_used_from END,
  last_used_at = MAX(COALESCE(last_used_at, 0), ?1)
WHERE hash = ?3

-- name: FoldUsage
-- One sum of all endpoints for each day before another.
INSERT INTO usage (key_id, day, endpoint, requests)
SELECT key_id, day, '', SUM(requests) FROM usage WHERE day < ? AND endpoint <> '' GROUP BY key_id, day
ON CONFLICT (key_id, day, endpoint) DO UPDATE SET requests = requests + excluded.requests

-- name: ForgetUsage
DELETE FROM usage WHERE day < ? AND endpoint <> ''

-- name: Account
SELECT label, created_at, expires_at FROM api_keys WHERE hash = ?

-- name: UsageOfKey
SELECT u.day, u.endpoint, u.requests FROM usage u JOIN api_keys k ON k.id = u.key_id
WHERE k.hash = ? AND u.day >= ?
ORDER BY u.day DESC, u.requests DESC, u.endpoint
