-- +goose Up
-- Export jobs and the files that came of them. Times are in unix µs.
CREATE TABLE export_jobs (
    seq             INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id              TEXT    NOT NULL UNIQUE,
    key_id          TEXT    NOT NULL REFERENCES api_keys (id),
    idempotency_key TEXT,
    kind            TEXT    NOT NULL CHECK (kind IN ('research', 'trader')),
    dataset         TEXT    NOT NULL,
    address         TEXT    NOT NULL,
    format          TEXT    NOT NULL,
    period          TEXT    NOT NULL,
    history_days    INTEGER NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'canceled', 'expired')),
    attempts        INTEGER NOT NULL DEFAULT 0,
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,
    finished_at     INTEGER,
    expires_at      INTEGER,
    file            TEXT    NOT NULL DEFAULT '',
    rows            INTEGER NOT NULL DEFAULT 0,
    bytes           INTEGER NOT NULL DEFAULT 0,
    sha256          TEXT    NOT NULL DEFAULT '',
    as_of           INTEGER,
    version         TEXT    NOT NULL DEFAULT '',
    truncated       INTEGER NOT NULL DEFAULT 0,
    error_code      TEXT    NOT NULL DEFAULT '',
    error_detail    TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX export_jobs_idempotency ON export_jobs (key_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX export_jobs_status ON export_jobs (status, key_id);

-- +goose Down
DROP TABLE export_jobs;
