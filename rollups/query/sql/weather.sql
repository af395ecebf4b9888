-- One city's forecasts and what was measured, of a range of days.

-- name: ForecastChanges
SELECT target, metric, source, issued_at, confirmed_at, run_at, value, members, shift
FROM weather_forecast
WHERE city = '@city' AND target BETWEEN @first AND @last AND metric IN (@metrics)
ORDER BY target, metric, issued_at, source
LIMIT 1000000

-- name: DayReports
-- All that sources said of whole days, each time they said it: the view
-- weather_reported of a few days costs ten times what folding them costs the reader.
SELECT day, metric, kind, source, station, seen_at, value, provisional, shift
FROM weather_report
WHERE city = '@city' AND day BETWEEN @first AND @last
ORDER BY day, metric, kind, source, station, seen_at
LIMIT 1000000

-- name: StationDays
-- What single temperatures come to, as weather_station_day has it, which cannot be
-- read of some days alone: a day is over when the station has reported of a later
-- one, which need not be among those asked for.
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
-- The newest days up to @last of which a report or an observation is known: one that its
-- source has not withdrawn.
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
