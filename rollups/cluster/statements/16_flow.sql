-- Internal: what others than makers traded in five minutes. The last five minutes of a day end on the next.
-- Day: day
SELECT day, bucket, token, side, COUNT(*) AS fills, CAST(SUM(usd) AS BIGINT) AS usd
FROM (SELECT CAST(FLOOR(CAST(us + 299999999 AS DOUBLE) / 300000000) AS INTEGER) AS bucket, day, token, side, usd FROM fill WHERE role <> 'maker') AS f
GROUP BY day, bucket, token, side
