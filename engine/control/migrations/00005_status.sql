-- +goose Up
-- How fresh the service was, a row a minute: the grades of serving tables, trades
-- and markets, and their lags in seconds, NULL where there is nothing to lag.
CREATE TABLE status_samples (
    at          INTEGER NOT NULL PRIMARY KEY,
    grades      TEXT    NOT NULL CHECK (length(grades) = 3),
    serving_lag INTEGER,
    trades_lag  INTEGER,
    markets_lag INTEGER
) STRICT;

-- +goose Down
DROP TABLE status_samples;
