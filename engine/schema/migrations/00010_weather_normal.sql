-- +goose Up
-- Normal values by calendar day (month × 100 + day), as files give them or, with a source of
-- 'derived:…', derived from a reanalysis; deviation is a standard deviation, p10 and p90 are
-- percentiles.
CREATE TABLE weather_normal (
  city VARCHAR NOT NULL, metric TINYINT NOT NULL, month_day SMALLINT NOT NULL, source VARCHAR NOT NULL, station VARCHAR NOT NULL,
  period VARCHAR NOT NULL, value INTEGER NOT NULL, deviation INTEGER, p10 INTEGER, p90 INTEGER, years INTEGER,
  batch INTEGER NOT NULL
);

-- Normals of 1991 to 2020 by each reanalysis: for every calendar day the mean of the values
-- within 15 days of it in 30 years, if at least 24 of them have values. 29 February is halfway
-- between its neighbours. rollups/weather.Climate is the same in plain Go.
CREATE VIEW weather_derived AS
WITH latest AS (
  SELECT city, metric, source, day, arg_max(value, seen_at) AS value
  FROM weather_report
  WHERE kind = 2 AND day BETWEEN 7670 AND 18627 -- 1991-01-01 to 2020-12-31
  GROUP BY city, metric, source, day
),
near AS (
  SELECT city, metric, source, value, DATE '1970-01-01' + (day + o.days) AS centre
  FROM latest, (SELECT unnest(range(-15, 16))::INTEGER AS days) AS o
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
