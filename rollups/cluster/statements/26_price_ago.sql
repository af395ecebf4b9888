-- Internal: the last price of each token on the day on which 24 hours before the newest fill is, up to that moment.
SELECT p.token, MAX(p.place) AS place
FROM priced AS p
JOIN spans AS s ON s.first_day = p.day AND p.us <= s.lo
WHERE s.span = 0
GROUP BY p.token
