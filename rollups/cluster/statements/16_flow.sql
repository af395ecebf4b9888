-- Internal: what others than makers traded in five minutes.
SELECT bucket, token, side, COUNT(*) AS fills, CAST(SUM(usd) AS BIGINT) AS usd
FROM (SELECT CAST(FLOOR(CAST(us + 299999999 AS DOUBLE) / 300000000) AS INTEGER) AS bucket, token, side, usd FROM fill WHERE role <> 'maker') AS f
GROUP BY bucket, token, side
