-- +goose Up
CREATE TABLE api_keys (
    id           TEXT    NOT NULL PRIMARY KEY CHECK (length(id) = 8),
    hash         BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    label        TEXT    NOT NULL,
    tier         TEXT    NOT NULL CHECK (tier IN ('free', 'explorer', 'trader', 'alpha')),
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE TABLE usage (
    key_id   TEXT    NOT NULL REFERENCES api_keys (id),
    day      TEXT    NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE waitlist (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    contact    TEXT    NOT NULL,
    use_case   TEXT    NOT NULL,
    state      TEXT    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'declined')),
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    key_id     TEXT REFERENCES api_keys (id)
) STRICT;

-- One row: how often the keys changed. The server polls it to notice what the
-- command line did; usage counters leave it alone.
CREATE TABLE key_revision (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 1),
    revision INTEGER NOT NULL
) STRICT;
INSERT INTO key_revision VALUES (1, 0);

-- +goose StatementBegin
CREATE TRIGGER api_keys_added AFTER INSERT ON api_keys
BEGIN
    UPDATE key_revision SET revision = revision + 1;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER api_keys_changed AFTER UPDATE OF hash, tier, revoked_at ON api_keys
BEGIN
    UPDATE key_revision SET revision = revision + 1;
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE key_revision;
DROP TABLE waitlist;
DROP TABLE usage;
DROP TABLE api_keys;
