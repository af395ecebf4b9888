-- +goose Up
-- Weather. Temperatures are whole 1/900 °C (data.Temp), days are days since 1970-01-01 on the
-- city's own calendar, times µs since 1970 UTC; metric 0 is a day's highest temperature, 1 its
-- lowest; shift is how many seconds after the city's day the source's day begins.

-- Every value that every source ever gave. Changes follow from these, no matter in which order
-- the files were imported.
CREATE TABLE weather_issue (
  city VARCHAR NOT NULL, target INTEGER NOT NULL, metric TINYINT NOT NULL, source VARCHAR NOT NULL,
  issued_at BIGINT NOT NULL, run_at BIGINT, value INTEGER NOT NULL, members INTEGER[], shift INTEGER NOT NULL,
  batch INTEGER NOT NULL
);

-- The changes of each source's forecast: issued_at is when the value was first given,
-- confirmed_at when it was last given before the next change.
CREATE VIEW weather_forecast AS
WITH step AS (
  SELECT *,
    (value IS DISTINCT FROM lag(value) OVER series OR members IS DISTINCT FROM lag(members) OVER series)::INTEGER AS changed
  FROM weather_issue
  WINDOW series AS (PARTITION BY city, target, metric, source ORDER BY issued_at)
),
run AS (
  SELECT *, SUM(changed) OVER (PARTITION BY city, target, metric, source ORDER BY issued_at) AS nth FROM step
)
SELECT city, target, metric, source, min(issued_at) AS issued_at, max(issued_at) AS confirmed_at,
  arg_min(run_at, issued_at) AS run_at, arg_min(value, issued_at) AS value, arg_min(members, issued_at) AS members,
  arg_min(shift, issued_at) AS shift, count(*) AS issues
FROM run
GROUP BY city, target, metric, source, nth;

-- What sources reported for past days, each time; kind 1 is a station, 2 a reanalysis; seen_at is
-- 0 if the file does not give the time.
CREATE TABLE weather_report (
  city VARCHAR NOT NULL, day INTEGER NOT NULL, metric TINYINT NOT NULL, kind TINYINT NOT NULL, source VARCHAR NOT NULL,
  station VARCHAR NOT NULL, seen_at BIGINT NOT NULL, value INTEGER NOT NULL, provisional BOOLEAN, shift INTEGER NOT NULL,
  batch INTEGER NOT NULL
);

-- Single temperatures of stations; report 1 is a routine one, 2 a special one; whole is the group
-- of whole degrees Celsius that a report has in addition to the finer value.
CREATE TABLE weather_obs (
  city VARCHAR NOT NULL, station VARCHAR NOT NULL, source VARCHAR NOT NULL, ts BIGINT NOT NULL, report TINYINT NOT NULL,
  day INTEGER NOT NULL, value INTEGER NOT NULL, whole INTEGER, seen_at BIGINT NOT NULL, batch INTEGER NOT NULL
);

-- What a station measured in a day so far. A day is over when the station has reported for a
-- later one.
CREATE VIEW weather_station_day AS
SELECT city, station, source, day, max(value) AS tmax, min(value) AS tmin, max(whole) AS whole_max, min(whole) AS whole_min,
  max(whole) FILTER (report = 1) AS routine_max, min(whole) FILTER (report = 1) AS routine_min,
  count(DISTINCT ts) AS observations, min(ts) AS first_ts, max(ts) AS last_ts, max(seen_at) AS seen_at,
  day >= max(day) OVER (PARTITION BY station, source) AS running
FROM weather_obs
GROUP BY city, station, source, day;

-- What is now known of past days: the latest value of each source, and since when it differs from
-- the source's previous value.
CREATE VIEW weather_actual AS
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
  arg_max(provisional, seen_at) AS provisional, arg_max(shift, seen_at) AS shift, max(seen_at) AS seen_at,
  NULL::BIGINT AS observations, NULL::INTEGER AS whole, NULL::INTEGER AS routine
FROM (SELECT *, min(seen_at) OVER (PARTITION BY city, day, metric, kind, source, station, nth) AS since FROM run) AS r
GROUP BY city, day, metric, kind, source, station
UNION ALL
SELECT city, day, m.metric, 1, source, station, CASE m.metric WHEN 0 THEN tmax ELSE tmin END, NULL, NULL, 0,
  running, 0, greatest(last_ts, seen_at), observations, CASE m.metric WHEN 0 THEN whole_max ELSE whole_min END,
  CASE m.metric WHEN 0 THEN routine_max ELSE routine_min END
FROM weather_station_day, (VALUES (0::TINYINT), (1::TINYINT)) AS m(metric);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
