-- Random bytes by name.

-- name: AddSecret
INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING

-- name: Secret
SELECT value FROM secrets WHERE name = ?
