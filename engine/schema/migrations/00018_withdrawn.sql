-- +goose Up
-- A NULL value means that the source has no valid one: it marks the value as invalid, or gives a
-- correction without it. Of values with equal times, NULL is used.
ALTER TABLE weather_report ALTER COLUMN value DROP NOT NULL;
ALTER TABLE weather_obs ALTER COLUMN value DROP NOT NULL;
-- The number of the correction; 0 for the original report.
ALTER TABLE weather_obs ADD COLUMN correction TINYINT DEFAULT 0;

-- The newest version of a record from a page that never has bids and asks: it says nothing about
-- the quote.
ALTER TABLE markets ADD COLUMN unquoted_at BIGINT;

CREATE OR REPLACE VIEW weather_station_day AS
SELECT city, station, source, day, max(value) AS tmax, min(value) AS tmin, max(whole) AS whole_max, min(whole) AS whole_min,
  max(whole) FILTER (report = 1) AS routine_max, min(whole) FILTER (report = 1) AS routine_min,
  count(DISTINCT ts) AS observations, min(ts) AS first_ts, max(ts) AS last_ts, max(seen_at) AS seen_at,
  day >= max(day) OVER (PARTITION BY station, source) AS running
FROM weather_obs
WHERE value IS NOT NULL
GROUP BY city, station, source, day;

-- The latest value of each source for past days. A withdrawn value is unknown.
CREATE OR REPLACE VIEW weather_reported AS
WITH step AS (
  SELECT *, (value IS DISTINCT FROM lag(value) OVER series)::INTEGER AS changed
  FROM weather_report
  WINDOW series AS (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at)
),
run AS (
  SELECT *, SUM(changed) OVER (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at) AS nth FROM step
)
SELECT city, day, metric, kind, source, station, arg_max(value, seen_at) AS value, arg_min(value, seen_at) AS first_value,
  CASE WHEN max(nth) > min(nth) FILTER (value IS NOT NULL) THEN arg_max(since, nth) END AS revised_at,
  max(nth)::BIGINT - min(nth) FILTER (value IS NOT NULL)::BIGINT AS revisions,
  arg_max(provisional, seen_at) AS provisional, arg_max(shift, seen_at) AS shift, max(seen_at) AS seen_at
FROM (SELECT *, min(seen_at) OVER (PARTITION BY city, day, metric, kind, source, station, nth) AS since FROM run) AS r
GROUP BY city, day, metric, kind, source, station
HAVING arg_max_null(value, seen_at) IS NOT NULL;

-- Normals as they are given, and 29 February halfway between its neighbours for every source that
-- gives both of these and not the day.
CREATE VIEW weather_usual AS
SELECT * EXCLUDE (batch) FROM weather_normal
UNION ALL
SELECT city, metric, 229::SMALLINT, source, station, period, (a.value + b.value) // 2, (a.deviation + b.deviation) // 2,
  (a.p10 + b.p10) // 2, (a.p90 + b.p90) // 2, CASE WHEN a.years IS NOT NULL AND b.years IS NOT NULL THEN least(a.years, b.years) END
FROM (SELECT * FROM weather_normal WHERE month_day = 228) AS a
JOIN (SELECT * FROM weather_normal WHERE month_day = 301) AS b USING (city, metric, source, station, period)
ANTI JOIN (SELECT * FROM weather_normal WHERE month_day = 229) AS given USING (city, metric, source, station, period);
-- What an earlier version computed from the neighbours is now computed when it is read.
DELETE FROM weather_normal WHERE rowid IN (
  SELECT n.rowid
  FROM weather_normal AS n
  JOIN weather_normal AS a ON a.month_day = 228 AND (a.city, a.metric, a.source, a.station, a.period) = (n.city, n.metric, n.source, n.station, n.period)
  JOIN weather_normal AS b ON b.month_day = 301 AND (b.city, b.metric, b.source, b.station, b.period) = (n.city, n.metric, n.source, n.station, n.period)
  WHERE n.month_day = 229 AND n.source = 'ncei' AND n.value = (a.value + b.value) // 2
    AND n.deviation IS NOT DISTINCT FROM (a.deviation + b.deviation) // 2);

-- The latest value of a reanalysis, for days that it has not withdrawn.
CREATE OR REPLACE VIEW weather_derived AS
WITH latest AS (
  SELECT city, metric, source, day, arg_max_null(value, seen_at) AS value
  FROM weather_report
  WHERE kind = 2 AND day BETWEEN 7670 AND 18627 -- 1991-01-01 to 2020-12-31
  GROUP BY city, metric, source, day
),
near AS (
  SELECT city, metric, source, value, DATE '1970-01-01' + (day + o.days) AS centre
  FROM (FROM latest WHERE value IS NOT NULL), (SELECT unnest(range(-15, 16))::INTEGER AS days) AS o
),
pooled AS (
  SELECT city, metric, source, (month(centre) * 100 + day(centre))::SMALLINT AS month_day,
    SUM(value)::HUGEINT AS total, SUM(value::HUGEINT * value) AS squares, count(*)::HUGEINT AS n,
    count(DISTINCT year(centre))::INTEGER AS years, list_sort(list(value)) AS sorted
  FROM near
  WHERE year(centre) BETWEEN 1991 AND 2020
  GROUP BY city, metric, source, month_day
),
figure AS (
  SELECT city, metric, source, month_day, years,
    ((2 * total + n * sign(total)) // (2 * n))::INTEGER AS value, -- half away from zero: // cuts towards zero
    round(sqrt((n * squares - total * total)::DOUBLE / (n * (n - 1))::DOUBLE))::INTEGER AS deviation,
    sorted[((n + 9) // 10)::BIGINT] AS p10, sorted[((9 * n + 9) // 10)::BIGINT] AS p90
  FROM pooled
  WHERE years >= 24 AND month_day <> 229
)
SELECT city, metric, month_day, 'derived:' || source AS source, '' AS station, '1991-2020' AS period,
  value, deviation, p10, p90, years
FROM figure
UNION ALL
SELECT a.city, a.metric, 229, 'derived:' || a.source, '', '1991-2020', (a.value + b.value) // 2, (a.deviation + b.deviation) // 2,
  (a.p10 + b.p10) // 2, (a.p90 + b.p90) // 2, least(a.years, b.years)
FROM figure AS a
JOIN figure AS b ON b.city = a.city AND b.metric = a.metric AND b.source = a.source AND b.month_day = 301
WHERE a.month_day = 228;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
