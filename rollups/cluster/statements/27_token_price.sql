-- The last price of each token, and the last one 24 hours before the newest fill.
SELECT token, MAX(last) AS last, MAX(day_ago) AS day_ago
FROM (
  SELECT d.token, d.place AS last, CASE WHEN d.day < s.first_day THEN d.place END AS day_ago
  FROM price_day AS d
  CROSS JOIN spans AS s
  WHERE s.span = 0
  UNION ALL
  SELECT token, NULL, place FROM price_ago
) AS part
GROUP BY token
