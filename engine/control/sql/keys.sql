-- API keys. Times are in seconds.

-- name: KeyColumns
k.id, k.label, k.tier, k.created_at, k.last_used_at, k.revoked_at, k.expires_at, k.replaces, k.last_used_from, k.requests_per_minute,
COALESCE((SELECT SUM(u.requests) FROM usage u WHERE u.key_id = k.id), 0)

-- name: KeyList
SELECT @columns FROM api_keys k ORDER BY k.created_at, k.id

-- name: KeyByID
SELECT @columns FROM api_keys k WHERE k.id = ?

-- name: AddKey
INSERT INTO api_keys (id, hash, label, tier, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING

-- name: NeverExpires
UPDATE api_keys SET expires_at = NULL WHERE id = ?

-- name: ExpiresAt
UPDATE api_keys SET expires_at = ? WHERE id = ?

-- name: ReplacedBy
SELECT id FROM api_keys WHERE replaces = ? AND revoked_at IS NULL LIMIT 1

-- name: Replaces
-- A key that replaces another has the same limit.
UPDATE api_keys SET replaces = ?1, requests_per_minute = (SELECT requests_per_minute FROM api_keys WHERE id = ?1) WHERE id = ?2

-- name: ExpiresBy
UPDATE api_keys SET expires_at = MIN(COALESCE(expires_at, ?1), ?1) WHERE id = ?2

-- name: SetTier
UPDATE api_keys SET tier = ? WHERE id = ?

-- name: SetRate
UPDATE api_keys SET requests_per_minute = NULLIF(?, 0) WHERE id = ?

-- name: Revoke
UPDATE api_keys SET revoked_at = ? WHERE id = ?

-- name: KeyRevision
SELECT revision FROM key_revision

-- name: KeyRecords
SELECT hash, tier, revoked_at IS NOT NULL, COALESCE(expires_at, 0), COALESCE(requests_per_minute, 0) FROM api_keys
