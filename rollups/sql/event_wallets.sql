-- Distinct wallets of events. Each wallet is counted at the first market of the event, by id,
-- that it traded. An event is identified by the first of its markets.

-- name: MarketEvents
-- The event of each market that belongs to one, as in rollups/serving: the event of its slug;
-- without a slug, that of the first slug, in alphabetical order, among the markets with the same
-- event id; otherwise that of the id. @which selects whole events.
WITH named AS (
  SELECT market, nullif(event_slug, '') AS slug, nullif(event_id, '') AS id FROM markets WHERE @which
),
carried AS (
  SELECT id, min(slug) AS slug
  FROM named
  WHERE slug IS NOT NULL AND id IN (SELECT id FROM named WHERE slug IS NULL)
  GROUP BY id
),
placed AS (
  SELECT n.market, coalesce(n.slug, c.slug) AS slug, coalesce(n.slug, c.slug, n.id) AS name
  FROM named AS n LEFT JOIN carried AS c ON n.slug IS NULL AND c.id = n.id
),
first AS (
  SELECT slug IS NULL AS loose, name, min(market) AS event FROM placed WHERE name IS NOT NULL GROUP BY loose, name
)
SELECT p.market, f.event FROM placed AS p JOIN first AS f ON f.name = p.name AND f.loose = (p.slug IS NULL)

-- name: EventMarkets
-- The event of each market, and how many markets it has, for the definition.
CREATE OR REPLACE TEMP TABLE event_market AS
SELECT *, count(*) OVER (PARTITION BY event) AS markets FROM (@events) AS e

-- name: EventFirstsEmpty
CREATE OR REPLACE TEMP TABLE event_first (market INTEGER, wallets BIGINT)

-- name: EventFirsts
-- For some events, which share no market with others. In an event of one market, each holding is
-- a wallet's first.
INSERT INTO event_first
SELECT market, COUNT(*) AS wallets
FROM (
  SELECT min(h.market) AS market
  FROM held_all AS h
  JOIN (FROM event_market WHERE markets > 1 AND @which) AS e ON e.market = h.market
  GROUP BY h.wallet, e.event
  UNION ALL
  SELECT h.market
  FROM held_all AS h
  JOIN (FROM event_market WHERE markets = 1 AND @which) AS e ON e.market = h.market
) AS first
GROUP BY market

-- name: RebuildEventWallets
SELECT market, wallets FROM event_first

-- name: DeltaEventWallets
SELECT market, SUM(wallets) AS wallets FROM n_event_wallets GROUP BY market

-- name: EventWalletsEmpty
CREATE OR REPLACE TEMP TABLE n_event_wallets (market INTEGER, wallets BIGINT)

-- name: EventSeeds
-- Markets that join or leave an event, and both markets of each token that moves from one to the
-- other (moved). Runs before the batch is added.
CREATE OR REPLACE TEMP TABLE event_seed AS
SELECT n.market, false AS moved
FROM n_market AS n LEFT JOIN markets AS o ON o.market = n.market
WHERE nullif(n.event_slug, '') IS DISTINCT FROM nullif(o.event_slug, '') OR nullif(n.event_id, '') IS DISTINCT FROM nullif(o.event_id, '')
UNION ALL
SELECT unnest([t.market, coalesce(n.market, t.market)]), true
FROM n_token AS n JOIN tokens AS t ON t.token = n.token
WHERE t.market IS NOT NULL AND t.market IS DISTINCT FROM n.market

-- name: EventSeedCount
SELECT count(*) FROM event_seed

-- name: EventScope
-- All markets of the events that those may come from or go to, before the batch or with it. A
-- market without a slug belongs to the event of a slug with its id. Texts are read once and
-- compared by hash, because a market too many does no harm.
CREATE OR REPLACE TEMP TABLE event_scope AS
WITH said AS MATERIALIZED (
  SELECT market, CASE WHEN event_slug <> '' THEN hash(event_slug) END AS slug, CASE WHEN event_id <> '' THEN hash(event_id) END AS id
  FROM (SELECT market, event_slug, event_id FROM markets UNION ALL SELECT market, event_slug, event_id FROM n_market) AS m
),
seed AS MATERIALIZED (
  SELECT slug, id FROM said WHERE market IN (SELECT market FROM event_seed)
),
slugs AS MATERIALIZED (
  SELECT slug FROM seed WHERE slug IS NOT NULL
  UNION
  SELECT slug FROM said WHERE slug IS NOT NULL AND id IN (SELECT id FROM seed)
),
ids AS MATERIALIZED (
  SELECT id FROM seed WHERE id IS NOT NULL
  UNION
  SELECT id FROM said WHERE id IS NOT NULL AND slug IN (SELECT slug FROM slugs)
)
SELECT market FROM said WHERE slug IN (SELECT slug FROM slugs)
UNION
SELECT market FROM said WHERE id IN (SELECT id FROM ids)

-- name: InEventScope
market IN (SELECT market FROM event_scope)

-- name: EventsBefore
CREATE OR REPLACE TEMP TABLE event_before AS
SELECT m.market, e.event FROM markets AS m LEFT JOIN (@events) AS e ON e.market = m.market WHERE m.market IN (SELECT market FROM event_scope)

-- name: EventsAfter
CREATE OR REPLACE TEMP TABLE event_after AS @events

-- name: NoneRegrouped
CREATE OR REPLACE TEMP TABLE event_regrouped (market INTEGER, event INTEGER)

-- name: EventsRegrouped
-- All markets of the events that lost or gained an existing market, or a token of another market,
-- with the event that each belongs to now. New markets alone do not regroup an event, because
-- nobody has traded them before.
CREATE OR REPLACE TEMP TABLE event_regrouped AS
WITH known AS (
  SELECT b.market, b.event AS was, CASE WHEN a.event IS NOT NULL THEN min(b.market) OVER (PARTITION BY a.event) END AS now
  FROM event_before AS b LEFT JOIN event_after AS a ON a.market = b.market
),
moved AS (
  SELECT market FROM known WHERE was IS DISTINCT FROM now
  UNION
  SELECT market FROM event_seed WHERE moved
),
torn AS (
  SELECT market FROM moved
  UNION
  SELECT market FROM event_before WHERE event IN (SELECT b.event FROM event_before AS b JOIN moved AS m ON m.market = b.market)
  UNION
  SELECT market FROM event_after WHERE event IN (SELECT a.event FROM event_after AS a JOIN moved AS m ON m.market = a.market)
)
SELECT t.market, a.event FROM torn AS t LEFT JOIN event_after AS a ON a.market = t.market

-- name: RegroupedMarkets
SELECT market FROM event_regrouped

-- name: RegroupedTokens
SELECT token FROM tokens WHERE market IN (SELECT market FROM event_regrouped)

-- name: CountRegrouped
-- Subtracts what the markets of @positions counted, and counts them again.
INSERT INTO n_event_wallets
SELECT market, -wallets
FROM (SELECT market, wallets FROM event_wallets UNION ALL SELECT market, wallets FROM event_wallets_delta) AS w
WHERE market IN (SELECT market FROM event_regrouped)
UNION ALL
SELECT market, COUNT(*)
FROM (
  SELECT min(r.market) AS market
  FROM @positions AS p
  JOIN tokens AS t ON t.token = p.token
  JOIN event_regrouped AS r ON r.market = t.market
  WHERE r.event IS NOT NULL
  GROUP BY p.wallet, r.event
) AS first
GROUP BY market

-- name: EventChanges
-- The event of each market that was not in it before; -1 is none.
SELECT coalesce(a.market, b.market) AS market, coalesce(a.event, -1) AS event
FROM event_after AS a
FULL JOIN (SELECT market, event FROM event_before WHERE event IS NOT NULL) AS b ON b.market = a.market
WHERE a.event IS DISTINCT FROM b.event

-- name: CountFirsts
-- Wallets that trade a market for the first time, if no event was regrouped: they are new to its
-- event, or have traded another market of it, which may have a greater id.
INSERT INTO n_event_wallets
WITH fresh AS (
  SELECT p.wallet, p.market, e.event
  FROM (
    SELECT wallet, market FROM d_pair
    UNION ALL
    (SELECT wallet, market FROM held_after EXCEPT SELECT wallet, market FROM held_before)
  ) AS p
  JOIN event_after AS e ON e.market = p.market
  WHERE p.market NOT IN (SELECT market FROM event_regrouped)
),
asked AS (
  SELECT DISTINCT wallet, event FROM fresh
),
sibling AS (
  SELECT t.token, e.market, e.event
  FROM event_after AS e
  JOIN tokens AS t ON t.market = e.market
  WHERE e.event IN (SELECT event FROM fresh) AND e.event IN (SELECT event FROM event_after WHERE market <> event)
),
held AS (
  SELECT DISTINCT s.event, h.wallet, s.market
  FROM (SELECT token, wallet FROM position UNION ALL SELECT token, wallet FROM position_delta) AS h
  JOIN sibling AS s ON s.token = h.token
  SEMI JOIN asked AS a ON a.wallet = h.wallet AND a.event = s.event -- an inner join may begin with these two: every wallet with every token of its events
),
first AS (
  SELECT min(market) AS now, min(market) FILTER (known) AS was
  FROM (
    SELECT event, wallet, market, false AS known FROM fresh
    UNION ALL
    SELECT event, wallet, market, true FROM held AS h ANTI JOIN fresh AS f ON f.wallet = h.wallet AND f.market = h.market
  ) AS traded
  GROUP BY event, wallet
)
SELECT now, 1 FROM first WHERE was IS NULL OR now < was
UNION ALL
SELECT was, -1 FROM first WHERE now < was
