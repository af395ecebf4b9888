-- Internal: the slug and the name of the event of each market: without a slug, of the markets that share its
-- event id, the first slug in the alphabet; else the id.
SELECT n.market, CASE WHEN COALESCE(n.slug, c.slug) IS NULL THEN 1 ELSE 0 END AS loose, COALESCE(n.slug, c.slug, n.id) AS name
FROM (SELECT condition_id AS market, NULLIF(event_slug, '') AS slug, NULLIF(event_id, '') AS id FROM lake_conditions) AS n
LEFT JOIN (
  SELECT NULLIF(event_id, '') AS id, MIN(NULLIF(event_slug, '')) AS slug FROM lake_conditions GROUP BY NULLIF(event_id, '')
) AS c ON n.slug IS NULL AND c.id = n.id
