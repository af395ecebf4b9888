-- When a key ends by itself, in unix seconds, NULL: it does not; and which key it was issued
-- instead of.
-- +goose Up
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN replaces TEXT REFERENCES api_keys (id);

-- +goose StatementBegin
CREATE TRIGGER api_keys_expiry_changed AFTER UPDATE OF expires_at ON api_keys
BEGIN
    UPDATE key_revision SET revision = revision + 1;
END;
-- +goose StatementEnd
