SELECT day, COUNT(*) AS markets
FROM (SELECT d.day, t.market FROM token_day AS d JOIN token AS t ON t.token = d.token WHERE t.market IS NOT NULL GROUP BY d.day, t.market) AS once
GROUP BY day
