-- +goose Up
-- Distinct wallets of events: each counts once, at the first market of the event, by
-- id, that it traded. So an event's traders are the sum over its markets.
CREATE TABLE event_wallets (market INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE event_wallets_tail AS FROM event_wallets;
-- Positions have everything that this needs, so existing data needs no rebuild.
INSERT INTO event_wallets
WITH named AS (
  SELECT market, nullif(event_slug, '') AS slug, nullif(event_id, '') AS id FROM markets
),
carried AS (
  SELECT id, min(slug) AS slug FROM named WHERE slug IS NOT NULL GROUP BY id
),
placed AS (
  SELECT n.market, coalesce(n.slug, c.slug) AS slug, coalesce(n.slug, c.slug, n.id) AS name
  FROM named AS n LEFT JOIN carried AS c ON n.slug IS NULL AND c.id = n.id
),
grouped AS (
  SELECT market, min(market) OVER (PARTITION BY slug IS NULL, name) AS event FROM placed WHERE name IS NOT NULL
)
SELECT market, count(*)
FROM (
  SELECT min(t.market) AS market
  FROM (SELECT token, wallet FROM position UNION ALL SELECT token, wallet FROM position_tail) AS p
  JOIN tokens AS t ON t.token = p.token
  JOIN grouped AS e ON e.market = t.market
  GROUP BY p.wallet, e.event
) AS first
GROUP BY market
ORDER BY market;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
