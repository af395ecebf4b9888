-- The weather of cities: which forecasts are scored, and what one city's part of
-- the snapshot is read from. n_place lists the cities to read, each with its local
-- date and the days to come, and when they end, unix µs; every statement reads all of
-- them at once.

-- name: LeadIssued
SELECT city, min(issued_at) AS first_ts, max(issued_at) AS last_ts FROM @issue GROUP BY city

-- name: LeadCalendarEmpty
-- The start and the noon of the local days on which forecasts were given, in unix µs.
CREATE OR REPLACE TEMP TABLE n_calendar (city VARCHAR, day INTEGER, starts BIGINT, noon BIGINT)

-- name: Leads
SELECT city, source, metric, target, (target - day)::SMALLINT AS lead_day, arg_max(value, issued_at) AS value, max(issued_at) AS issued_at
FROM (
  SELECT i.city, i.source, i.metric, i.target, i.value, i.issued_at, c.day
  FROM @issue AS i
  ASOF JOIN n_calendar AS c ON i.city = c.city AND i.issued_at >= c.starts
  WHERE i.target > c.day OR i.target = c.day AND i.issued_at < c.noon
) AS given
GROUP BY city, source, metric, target, lead_day

-- name: LeadBatch
CREATE OR REPLACE TEMP TABLE n_lead AS @leads

-- name: LeadReplace
-- A forecast that was given at the same time is a correction of the same forecast.
DELETE FROM weather_lead WHERE rowid IN (
  SELECT w.rowid
  FROM weather_lead AS w
  JOIN n_lead AS n USING (city, source, metric, target, lead_day)
  WHERE w.issued_at <= n.issued_at)

-- name: LeadAdd
INSERT INTO weather_lead BY NAME
SELECT n.* FROM n_lead AS n
ANTI JOIN weather_lead AS w USING (city, source, metric, target, lead_day)
ORDER BY n.target, n.city, n.source, n.metric, n.lead_day

-- name: LeadForget
DELETE FROM weather_lead

-- name: LeadAll
INSERT INTO weather_lead BY NAME @leads ORDER BY target, city, source, metric, lead_day

-- name: LeadCheck
WITH fresh AS MATERIALIZED (SELECT city, source, metric, target, lead_day, value, issued_at FROM (@leads) AS l)
SELECT (SELECT count(*) FROM weather_lead),
  (SELECT coalesce(SUM(abs(surplus)), 0)::BIGINT FROM (
    SELECT * EXCLUDE (once), SUM(once) AS surplus
    FROM (SELECT *, 1 AS once FROM weather_lead UNION ALL SELECT *, -1 FROM fresh) AS both_sides
    GROUP BY ALL
  ) AS different)

-- name: AnyCityWeather
-- Whether there is a row in any table that the statements below read, directly or through a view.
SELECT EXISTS (FROM weather_issue) OR EXISTS (FROM weather_obs) OR EXISTS (FROM weather_report) OR EXISTS (FROM weather_normal)
  OR EXISTS (FROM weather_lead) OR EXISTS (FROM desk_market)

-- name: PlacesEmpty
CREATE OR REPLACE TEMP TABLE n_place (city VARCHAR, day INTEGER, ends BIGINT)

-- name: CityEvents
-- What the events of the days settle by, with the bracket that won if exactly one did. The event
-- that is used for its day comes first.
WITH event AS (
  SELECT event, city, metric, day, any_value(station) AS station, any_value(archived) AS archived, any_value(event_id) AS id
  FROM desk_market
  WHERE day >= @since AND city IN (SELECT city FROM n_place)
  GROUP BY event, city, metric, day
),
won AS (
  SELECT event, any_value(lo) AS lo, any_value(hi) AS hi, any_value(unit) AS unit, any_value(rounding) AS rounding
  FROM desk_settled
  WHERE tiled AND event IN (SELECT event FROM event)
  GROUP BY event
  HAVING count(*) = 1
)
SELECT e.city, e.metric, e.day, e.station, w.unit, w.rounding, w.lo, w.hi
FROM event AS e
LEFT JOIN won AS w ON w.event = e.event
ORDER BY e.city, e.metric, e.day, e.archived, length(e.id), e.id, e.event

-- name: CityReadings
-- The newest value of each source before the day ends, the time since which it gives this value,
-- and when it last gave it.
WITH said AS (
  SELECT i.city, i.target, i.metric, i.source, i.issued_at, i.run_at, i.value, i.members
  FROM weather_issue AS i
  JOIN n_place AS p ON p.city = i.city AND p.day = i.target
  WHERE i.target >= @today AND i.issued_at < p.ends
),
newest AS (
  SELECT city, target, metric, source, max(issued_at) AS confirmed_at, arg_max(value, issued_at) AS value,
    arg_max(coalesce(members, []), issued_at) AS members
  FROM said
  GROUP BY city, target, metric, source
),
other AS (
  SELECT s.city, s.target, s.metric, s.source, max(s.issued_at) AS until
  FROM said AS s
  JOIN newest AS n USING (city, target, metric, source)
  WHERE s.value <> n.value OR coalesce(s.members, []) IS DISTINCT FROM n.members
  GROUP BY s.city, s.target, s.metric, s.source
),
first AS (
  SELECT s.city, s.target, s.metric, s.source, min(s.issued_at) AS issued_at, arg_min(s.run_at, s.issued_at) AS run_at
  FROM said AS s
  LEFT JOIN other AS o USING (city, target, metric, source)
  WHERE s.issued_at > coalesce(o.until, 0)
  GROUP BY s.city, s.target, s.metric, s.source
)
SELECT city, target, metric, source, f.issued_at, n.confirmed_at, f.run_at, n.value, n.members
FROM newest AS n
JOIN first AS f USING (city, target, metric, source)
ORDER BY city, target, metric, source

-- name: CityMeasured
-- As the view weather_station_day, which cannot be read for some days only; and the bound that
-- the true reading has reached, given the precision of the reports, as in rollups/weather.Slack.
SELECT city, station, source, day, max(value) AS max, min(value) AS min,
  CASE WHEN count(whole) > 0 THEN max(coalesce(whole, value)) END AS whole_max,
  CASE WHEN count(whole) > 0 THEN min(coalesce(whole, value)) END AS whole_min,
  count(DISTINCT ts) AS observations, min(ts) AS first_ts, max(ts) AS last_ts, greatest(max(ts), max(seen_at)) AS seen_at,
  day >= max(day) OVER (PARTITION BY station, source) AS running,
  max(value - slack) AS bound_max, min(value + slack - 1) AS bound_min,
  CASE WHEN count(whole) > 0 THEN max(coalesce(whole, value - slack)) END AS whole_bound_max,
  CASE WHEN count(whole) > 0 THEN min(coalesce(whole, value + slack - 1)) END AS whole_bound_min
FROM (
  SELECT *, CASE WHEN value % 900 = 0 THEN 450 WHEN value % 500 = 0 THEN 250 WHEN value % 90 = 0 THEN 45 WHEN value % 50 = 0 THEN 25 ELSE 4 END AS slack
  FROM weather_obs
  WHERE value IS NOT NULL AND day >= @since AND city IN (SELECT city FROM n_place)
) AS o
GROUP BY city, station, source, day
ORDER BY city, day, source, station

-- name: CityReported
SELECT city, day, metric, kind, source, station, value, first_value, revised_at, revisions, provisional, shift, seen_at
FROM weather_reported
WHERE day >= @since AND city IN (SELECT city FROM n_place)
ORDER BY city, day, metric, kind, source, station

-- name: CityNormals
SELECT city, metric, month_day, source, station, period, value, deviation, p10, p90, years
FROM weather_usual
WHERE month_day IN (@days) AND city IN (SELECT city FROM n_place)
ORDER BY city, metric, month_day, source, station, period

-- name: TruthsEmpty
CREATE OR REPLACE TEMP TABLE n_truth (city VARCHAR, metric TINYINT, day INTEGER, value INTEGER, settled BOOLEAN, won_from INTEGER, won_to INTEGER)

-- name: CitySkills
-- Exact sums of the errors of every source, and of the mean of all sources of a day and lead, as
-- in rollups/weather.Score; and how many of them fell into the bracket that won, if one did. A
-- bound of the bracket that is NULL is open.
WITH pair AS (
  SELECT l.city, l.source, l.metric, l.target, l.lead_day, l.value::BIGINT AS value, t.value::BIGINT AS truth,
    t.settled, coalesce(t.won_from, -1000000000) AS won_from, coalesce(t.won_to, 1000000000) AS won_to
  FROM weather_lead AS l
  JOIN n_truth AS t ON t.city = l.city AND t.metric = l.metric AND t.day = l.target
  WHERE l.target >= @since
),
mean AS (
  SELECT city, metric, lead_day, truth, settled, won_from, won_to, SUM(value)::BIGINT AS total, count(*) AS n
  FROM pair
  GROUP BY city, metric, target, lead_day, truth, settled, won_from, won_to
),
foretold AS (
  SELECT city, source, metric, lead_day, value, truth, settled, won_from, won_to FROM pair
  UNION ALL
  SELECT city, '@consensus', metric, lead_day, (2 * total + n * sign(total)) // (2 * n), truth, settled, won_from, won_to FROM mean
),
error AS (
  SELECT city, source, metric, lead_day, value - truth AS e, settled, settled AND value >= won_from AND value < won_to AS hit FROM foretold
)
SELECT city, source, metric, lead_day, count(*) AS n, SUM(e)::BIGINT AS sum, SUM(abs(e))::BIGINT AS absolute, SUM(e * e)::BIGINT AS square_errors,
  count(*) FILTER (settled) AS settled, count(*) FILTER (hit) AS hits
FROM error
GROUP BY city, source, metric, lead_day
