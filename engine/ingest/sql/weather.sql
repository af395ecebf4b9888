-- Weather. s_issue, s_report, s_obs and s_normal hold the rows of one file; n_issue, n_report,
-- n_obs and n_normal hold the new ones. A row replaces a stored one with the same key if it comes
-- later in a fixed order of values, so the order of files does not matter.

-- name: StageIssue
CREATE OR REPLACE TEMP TABLE s_issue AS SELECT * EXCLUDE (batch) FROM weather_issue WHERE false

-- name: StageReport
CREATE OR REPLACE TEMP TABLE s_report AS SELECT * EXCLUDE (batch) FROM weather_report WHERE false

-- name: StageObs
CREATE OR REPLACE TEMP TABLE s_obs AS SELECT * EXCLUDE (batch) FROM weather_obs WHERE false

-- name: StageNormal
CREATE OR REPLACE TEMP TABLE s_normal AS SELECT * EXCLUDE (batch) FROM weather_normal WHERE false

-- name: NoIssue
CREATE OR REPLACE TEMP TABLE n_issue AS SELECT *, NULL::BIGINT AS rid FROM weather_issue WHERE false

-- name: NoReport
CREATE OR REPLACE TEMP TABLE n_report AS SELECT *, NULL::BIGINT AS rid FROM weather_report WHERE false

-- name: NoObs
CREATE OR REPLACE TEMP TABLE n_obs AS SELECT *, NULL::BIGINT AS rid FROM weather_obs WHERE false

-- name: NoNormal
CREATE OR REPLACE TEMP TABLE n_normal AS SELECT *, NULL::BIGINT AS rid FROM weather_normal WHERE false

-- name: IssueOrder
(value, members, coalesce(run_at, 0), -shift)

-- name: ReportOrder
-- A value that the source withdraws is removed. A final value comes after one that may change,
-- and a day's extreme only grows as more of the day is known.
(value IS NULL, NOT coalesce(provisional, true), coalesce(CASE metric WHEN 0 THEN value ELSE -value END, 0), provisional IS NOT NULL, -shift)

-- name: ObsOrder
-- A correction comes later, no matter when it was given. A value that the source withdraws is
-- removed.
(coalesce(correction, 0), seen_at, value IS NULL, coalesce(value, 0), coalesce(whole, -2147483648))

-- name: NormalOrder
(value, coalesce(deviation, -1), coalesce(p10, -2147483648), coalesce(p90, -2147483648), coalesce(years, 0))

-- name: IssueKey
city, target, metric, source, issued_at

-- name: ReportKey
city, day, metric, kind, source, station, seen_at

-- name: ObsKey
city, station, source, ts, report

-- name: NormalKey
city, metric, month_day, source, station, period

-- name: WeatherNew
-- Of staged rows with the same key, the last one is used; it replaces the stored one if it comes
-- later.
CREATE OR REPLACE TEMP TABLE n_@short AS
WITH best AS (
  SELECT *, @order AS rank FROM s_@short
  QUALIFY row_number() OVER (PARTITION BY @key ORDER BY @order DESC) = 1
),
known AS (
  SELECT w.rid, w.rank, @key
  FROM (SELECT *, rowid AS rid, @order AS rank FROM @table) AS w
  SEMI JOIN best USING (@key)
)
SELECT b.* EXCLUDE (rank), @batch::INTEGER AS batch, k.rid
FROM best AS b
LEFT JOIN known AS k USING (@key)
WHERE k.rid IS NULL OR b.rank > k.rank

-- name: WeatherFigures
SELECT (SELECT count(*) FROM s_@short), count(*), count(rid), count(*) FILTER (value IS NULL)
FROM n_@short

-- name: WeatherKnown
-- The number of distinct rows of the file, and how many of them are stored with the same values.
WITH said AS (SELECT DISTINCT @key, @order AS rank FROM s_@short)
SELECT (SELECT count(*) FROM said),
  (SELECT count(*) FROM said SEMI JOIN (SELECT @key, @order AS rank FROM @table) AS known USING (@key, rank))

-- name: DropWeather
DELETE FROM @table WHERE rowid IN (SELECT rid FROM n_@short WHERE rid IS NOT NULL)

-- name: AddWeather
INSERT INTO @table BY NAME SELECT * EXCLUDE (rid) FROM n_@short ORDER BY @key

-- name: Climates
-- Cities whose reanalysis of 1991 to 2020 has changed.
CREATE OR REPLACE TEMP TABLE n_climate AS
SELECT DISTINCT city FROM n_report WHERE kind = 2 AND day BETWEEN 7670 AND 18627

-- name: DropDerived
DELETE FROM weather_normal WHERE starts_with(source, 'derived:') AND city IN (SELECT city FROM n_climate)

-- name: AddDerived
INSERT INTO weather_normal
SELECT *, @batch FROM weather_derived WHERE city IN (SELECT city FROM n_climate)
