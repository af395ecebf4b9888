-- The last price of each token, and the last one 24 hours before the newest fill.
SELECT token, MAX(last) AS last, MAX(day_ago) AS day_ago
FROM (
  SELECT d.token, d.place AS last,
    CASE WHEN d.day < CAST(FLOOR(CAST(a.ago AS DOUBLE) / 86400000000) AS INTEGER) THEN d.place END AS day_ago
  FROM price_day AS d
  CROSS JOIN (SELECT MAX(last_ts) - 86400000000 AS ago FROM token_day) AS a
  UNION ALL
  SELECT token, NULL, place FROM price_ago
) AS part
GROUP BY token
