-- Internal: the last price of each token and day.
-- Day: day
SELECT day, token, MAX(place) AS place FROM priced GROUP BY day, token
