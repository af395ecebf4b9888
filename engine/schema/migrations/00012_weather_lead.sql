-- +goose Up
-- For every source, day and lead day, the forecast by which the source is scored: the newest one
-- that was given on that local date, for the day itself before noon. lead_day is the target minus
-- the city's local date when it was given.
CREATE TABLE weather_lead (
  city VARCHAR NOT NULL, source VARCHAR NOT NULL, metric TINYINT NOT NULL, target INTEGER NOT NULL, lead_day SMALLINT NOT NULL,
  value INTEGER NOT NULL, issued_at BIGINT NOT NULL
);
-- Local dates depend on the time zones of the cities, which only the program knows: it makes the
-- table if the weather desk says that it must be made again.
DELETE FROM desk_state;

-- The latest value of each source for past days, the part of weather_actual that is not computed
-- from single temperatures.
CREATE VIEW weather_reported AS
WITH step AS (
  SELECT *, (value IS DISTINCT FROM lag(value) OVER series)::INTEGER AS changed
  FROM weather_report
  WINDOW series AS (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at)
),
run AS (
  SELECT *, SUM(changed) OVER (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at) AS nth FROM step
)
SELECT city, day, metric, kind, source, station, arg_max(value, seen_at) AS value, arg_min(value, seen_at) AS first_value,
  CASE WHEN max(nth) > 1 THEN arg_max(since, nth) END AS revised_at, max(nth)::BIGINT - 1 AS revisions,
  arg_max(provisional, seen_at) AS provisional, arg_max(shift, seen_at) AS shift, max(seen_at) AS seen_at
FROM (SELECT *, min(seen_at) OVER (PARTITION BY city, day, metric, kind, source, station, nth) AS since FROM run) AS r
GROUP BY city, day, metric, kind, source, station;

CREATE OR REPLACE VIEW weather_actual AS
SELECT *, NULL::BIGINT AS observations, NULL::INTEGER AS whole, NULL::INTEGER AS routine FROM weather_reported
UNION ALL
SELECT city, day, m.metric, 1, source, station, CASE m.metric WHEN 0 THEN tmax ELSE tmin END, NULL, NULL, 0,
  running, 0, greatest(last_ts, seen_at), observations, CASE m.metric WHEN 0 THEN whole_max ELSE whole_min END,
  CASE m.metric WHEN 0 THEN routine_max ELSE routine_min END
FROM weather_station_day, (VALUES (0::TINYINT), (1::TINYINT)) AS m(metric);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
