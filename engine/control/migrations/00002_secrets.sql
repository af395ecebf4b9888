-- +goose Up
-- What the service signs with and must still know after a restart.
CREATE TABLE secrets (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL CHECK (length(value) = 32)
) STRICT;

-- +goose Down
DROP TABLE secrets;
