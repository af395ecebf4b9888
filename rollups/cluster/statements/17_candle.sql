-- What takers traded of each token in each hour: sums, and the prices of the first, the highest, the lowest and the last trade. The first and
-- the last are those of priced; the first and the lowest have their sign turned.
-- Day: hour / 24
SELECT f.token, f.hour, f.fills, f.usd, f.shares, p.opened, p.highest, p.lowest, p.closed
FROM (
  SELECT token, hour, COUNT(*) AS fills, CAST(SUM(usd) AS BIGINT) AS usd, CAST(SUM(shares) AS BIGINT) AS shares
  FROM (SELECT token, CAST(FLOOR(CAST(us AS DOUBLE) / 3600000000) AS INTEGER) AS hour, usd, shares FROM fill WHERE role <> 'maker') AS t
  GROUP BY token, hour
) AS f
LEFT JOIN (
  SELECT token, hour, MAX(-place) AS opened, MAX(price) AS highest, MAX(-price) AS lowest, MAX(place) AS closed
  FROM (SELECT token, CAST(FLOOR(CAST(us AS DOUBLE) / 3600000000) AS INTEGER) AS hour, price, place FROM priced WHERE role <> 'maker') AS t
  GROUP BY token, hour
) AS p ON p.token = f.token AND p.hour = f.hour
