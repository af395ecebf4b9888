-- A limit of a key's own, in requests a minute, NULL: that of its tier; and which address it was
-- used from last.
-- +goose Up
ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER CHECK (requests_per_minute BETWEEN 1 AND 1000000);
ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;

-- SQLite keeps no checksums. What decides about a key is here twice, and a check of the whole
-- file compares the two.
CREATE INDEX api_keys_twice ON api_keys (tier, revoked_at, expires_at, requests_per_minute, label, created_at, replaces);

-- +goose StatementBegin
CREATE TRIGGER api_keys_limit_changed AFTER UPDATE OF requests_per_minute ON api_keys
BEGIN
    UPDATE key_revision SET revision = revision + 1;
END;
-- +goose StatementEnd
