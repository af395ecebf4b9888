-- +goose Up
-- Usage by endpoint as well. What was counted before has none.
CREATE TABLE usage_by_endpoint (
    key_id   TEXT    NOT NULL REFERENCES api_keys (id),
    day      TEXT    NOT NULL,
    endpoint TEXT    NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (key_id, day, endpoint)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_by_endpoint SELECT key_id, day, '', requests FROM usage;
DROP TABLE usage;
ALTER TABLE usage_by_endpoint RENAME TO usage;

-- +goose Down
CREATE TABLE usage_by_day (
    key_id   TEXT    NOT NULL REFERENCES api_keys (id),
    day      TEXT    NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (key_id, day)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_by_day SELECT key_id, day, SUM(requests) FROM usage GROUP BY key_id, day;
DROP TABLE usage;
ALTER TABLE usage_by_day RENAME TO usage;
