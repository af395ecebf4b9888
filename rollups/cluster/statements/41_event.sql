-- Internal: the event of each market that belongs to one, known by the first of its markets.
SELECT p.market, f.event
FROM placed AS p
JOIN (SELECT loose, name, MIN(market) AS event FROM placed WHERE name IS NOT NULL GROUP BY loose, name) AS f
  ON f.name = p.name AND f.loose = p.loose
