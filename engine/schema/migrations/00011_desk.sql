-- +goose Up
-- The weather desk: the brackets of its events, as rollups/weather reads them from the markets.
-- One row per bracket; lo and hi are whole degrees of unit that both belong to it, NULL on the
-- side that is open; metric and day as in weather_report; rounding 0 half up, 1 floor; tiled: the
-- event's brackets cover all temperatures exactly once.
CREATE TABLE desk_market (
  market INTEGER NOT NULL, event VARCHAR NOT NULL, event_id VARCHAR NOT NULL, city VARCHAR NOT NULL, metric TINYINT NOT NULL,
  day INTEGER NOT NULL, lo SMALLINT, hi SMALLINT, unit VARCHAR NOT NULL, tiled BOOLEAN NOT NULL, archived BOOLEAN NOT NULL,
  station VARCHAR NOT NULL, source VARCHAR NOT NULL, fallback VARCHAR NOT NULL, rounding TINYINT NOT NULL,
  revisable BOOLEAN NOT NULL, stated BOOLEAN NOT NULL
);
-- The cities and the grammar that the table was made with; without a row it must be made again.
CREATE TABLE desk_state (made_by VARCHAR NOT NULL);

-- The brackets that won: there are payouts, and they name one outcome.
CREATE VIEW desk_settled AS
SELECT d.*, m.resolved_at
FROM desk_market AS d
JOIN markets AS m ON m.market = d.market
WHERE m.payouts[1] = 1000000;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
