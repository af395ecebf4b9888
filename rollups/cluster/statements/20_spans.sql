-- Internal: windows of 24, 168 and 720 hours up to the newest fill: they begin after lo, and the days behind the first are whole.
SELECT span, hi, lo, CAST(FLOOR(CAST(lo AS DOUBLE) / 86400000000) AS INTEGER) AS first_day
FROM (
  SELECT s.span, a.hi, a.hi - s.length AS lo
  FROM (
    SELECT 0 AS span, CAST(86400000000 AS BIGINT) AS length
    UNION ALL SELECT 1, CAST(604800000000 AS BIGINT)
    UNION ALL SELECT 2, CAST(2592000000000 AS BIGINT)
  ) AS s
  CROSS JOIN (SELECT MAX(last_ts) AS hi FROM token_day) AS a
) AS w
