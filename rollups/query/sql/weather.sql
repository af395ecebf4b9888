-- One city's forecasts and measurements for a range of days.

-- name: ForecastChanges
SELECT target, metric, source, issued_at, confirmed_at, run_at, value, members, shift
FROM weather_forecast
WHERE city = '@city' AND target BETWEEN @first AND @last AND metric IN (@metrics)
ORDER BY target, metric, issued_at, source
LIMIT 1000000

-- name: DayReports
-- All values that sources gave for whole days, each with the time at which it was given. Reading
-- the view weather_reported for a few days costs ten times as much as merging them in the reader.
SELECT day, metric, kind, source, station, seen_at, value, provisional, shift
FROM weather_report
WHERE city = '@city' AND day BETWEEN @first AND @last
ORDER BY day, metric, kind, source, station, seen_at
LIMIT 1000000

-- name: StationDays
-- The extremes of single temperatures, as in weather_station_day. That view cannot be read for
-- some days only: a day is over when the station has reported for a later one, which may not be
-- among the requested days.
WITH newest AS (
  SELECT station, source, max(day) AS day FROM weather_obs WHERE city = '@city' AND value IS NOT NULL GROUP BY station, source
)
SELECT o.day, o.source, o.station, max(o.value) AS tmax, min(o.value) AS tmin, count(DISTINCT o.ts) AS observations, min(o.ts) AS first_ts,
  max(o.ts) AS last_ts, greatest(max(o.ts), max(o.seen_at)) AS seen_at, o.day >= any_value(n.day) AS running
FROM weather_obs AS o
JOIN newest AS n ON n.station = o.station AND n.source = o.source
WHERE o.city = '@city' AND o.day BETWEEN @first AND @last AND o.value IS NOT NULL
GROUP BY o.day, o.source, o.station
ORDER BY o.day, o.source, o.station
LIMIT 1000000

-- name: ActualDays
-- The newest days up to @last with a report or an observation that its source has not withdrawn.
SELECT DISTINCT day
FROM (
  SELECT day FROM weather_report WHERE city = '@city' AND day BETWEEN @first AND @last AND metric IN (@metrics) AND kind IN (@kinds)
    AND decode(unhex('@source')) IN ('', source)
  GROUP BY day, metric, kind, source, station
  HAVING arg_max_null(value, seen_at) IS NOT NULL
  UNION ALL
  SELECT day FROM weather_obs WHERE city = '@city' AND day BETWEEN @first AND @last AND 1 IN (@kinds) AND value IS NOT NULL
    AND decode(unhex('@source')) IN ('', source)
) AS d
ORDER BY day DESC
LIMIT @limit

-- name: DayNormals
SELECT month_day, metric, source, station, period, value, deviation, p10, p90, years
FROM weather_usual
WHERE city = '@city' AND month_day IN (@days)
ORDER BY month_day, metric, source, station, period
LIMIT 100000

-- name: DayObservations
-- The single temperatures of a day, in order of time.
SELECT ts, source, station, report, value
FROM weather_obs
WHERE city = '@city' AND day BETWEEN @first AND @last AND value IS NOT NULL
ORDER BY ts, source, station, report
LIMIT 100000
