-- Internal: the last price of each token on the day on which 24 hours before the newest fill is, up to that moment.
SELECT p.token, MAX(p.place) AS place
FROM priced AS p
CROSS JOIN (SELECT MAX(last_ts) - 86400000000 AS ago FROM token_day) AS a
WHERE p.us <= a.ago AND p.day = CAST(FLOOR(CAST(a.ago AS DOUBLE) / 86400000000) AS INTEGER)
GROUP BY p.token
