-- The weather desk: which markets are brackets of a city's day. Titles are read by
-- rollups/weather; SQL only selects those that may be of the desk.

-- name: DeskEvents
-- Events with a new or changed market, and the events that these markets had on the desk.
CREATE OR REPLACE TEMP TABLE n_desk_event AS
SELECT event FROM desk_market WHERE market IN (SELECT market FROM n_market)
UNION
SELECT coalesce(event_slug, event_id) FROM n_market
WHERE coalesce(event_slug, event_id) IS NOT NULL AND @like

-- name: DeskAllEvents
CREATE OR REPLACE TEMP TABLE n_desk_event AS
SELECT event FROM desk_market
UNION
SELECT coalesce(event_slug, event_id) FROM markets WHERE coalesce(event_slug, event_id) IS NOT NULL AND @like

-- name: DeskLike
-- Every title that the desk's grammar accepts begins like this.
regexp_matches(event_title, '^\s*(highest|lowest) temperature in ', 'i')

-- name: DeskChangedEvents
SELECT event FROM n_desk_event

-- name: DeskEventCount
SELECT count(*) FROM n_desk_event

-- name: DeskListings
-- The markets of these events, with each event's long text once. Numbers of markets depend on the
-- order of imports; condition ids do not.
SELECT event, market, coalesce(event_id, '') AS event_id, coalesce(event_title, '') AS event_title, coalesce(event_slug, '') AS event_slug,
  coalesce(series_slug, '') AS series_slug, coalesce(tags, '') AS tags, coalesce(question, '') AS question,
  coalesce(group_item_title, '') AS group_item_title, coalesce(slug, '') AS slug, coalesce(resolution_source, '') AS resolution_source,
  coalesce(end_at, 0) AS end_at, coalesce(game_start_at, 0) AS game_start_at,
  CASE WHEN row_number() OVER (PARTITION BY event ORDER BY description IS NULL, condition) = 1 THEN coalesce(description, '') ELSE '' END AS description
FROM (SELECT *, coalesce(event_slug, event_id) AS event FROM markets WHERE coalesce(event_slug, event_id) IN (SELECT event FROM n_desk_event)) AS m
ORDER BY event, condition

-- name: DeskEmpty
CREATE OR REPLACE TEMP TABLE n_desk AS FROM desk_market LIMIT 0

-- name: DeskUnchanged
-- How many rows of these events differ between the new desk and the stored one.
SELECT coalesce(SUM(abs(surplus)), 0)::BIGINT FROM (
  SELECT * EXCLUDE (once), SUM(once) AS surplus
  FROM (SELECT *, 1 AS once FROM n_desk UNION ALL SELECT *, -1 FROM desk_market WHERE event IN (SELECT event FROM n_desk_event)) AS both_sides
  GROUP BY ALL
) AS difference

-- name: DeskMoveNone
CREATE OR REPLACE TEMP TABLE n_desk_move (market INTEGER, joined BOOLEAN)

-- name: DeskMove
-- Which markets join the desk and which leave it.
INSERT INTO n_desk_move
SELECT market, true FROM n_desk WHERE market NOT IN (SELECT market FROM desk_market)
UNION ALL
SELECT market, false FROM desk_market
WHERE event IN (SELECT event FROM n_desk_event) AND market NOT IN (SELECT market FROM n_desk)

-- name: DeskForget
DELETE FROM desk_market WHERE event IN (SELECT event FROM n_desk_event)

-- name: DeskTake
INSERT INTO desk_market SELECT * FROM n_desk ORDER BY city, day, metric, event, lo NULLS FIRST, hi NULLS LAST, market

-- name: DeskNothing
CREATE OR REPLACE TEMP TABLE n_desk_event (event VARCHAR)

-- name: DeskMadeBy
SELECT coalesce(max(made_by), '') FROM desk_state

-- name: DeskMake
INSERT INTO desk_state VALUES ('@by')

-- name: DeskStale
DELETE FROM desk_state

-- name: DeskLoad
-- Brackets with equal bounds, such as those of a market that was created again, are sorted by
-- condition id.
SELECT d.market, d.event, d.event_id, d.city, d.metric, d.day, d.lo, d.hi, d.unit, d.tiled, d.archived, d.station, d.source, d.fallback,
  d.rounding, d.revisable, d.stated
FROM (FROM desk_market WHERE @which) AS d
LEFT JOIN markets AS m ON m.market = d.market
ORDER BY d.event, d.lo NULLS FIRST, d.hi NULLS LAST, m.condition, d.market

-- name: DeskRows
-- What DeskLoad has, in any order: sorting all of it takes ten times as long as reading it.
SELECT market, event, event_id, city, metric, day, lo, hi, unit, tiled, archived, station, source, fallback, rounding, revisable, stated
FROM desk_market

-- name: DeskDays
-- What the desk's markets traded since the day @since.
SELECT v.day, v.token, v.taker_fills, v.taker_usd, v.taker_shares, v.maker_fills, v.maker_usd, v.maker_shares
FROM (@rows) AS v
JOIN tokens AS t ON t.token = v.token
JOIN desk_market AS d ON d.market = t.market
WHERE v.day >= @since

-- name: BatchDeskDays
-- What a batch traded since the day @since, in all markets; these are few rows.
SELECT day, token, taker_fills, taker_usd, taker_shares, maker_fills, maker_usd, maker_shares FROM (@rows) AS v WHERE day >= @since

-- name: DeskClocks
-- The time of each city's newest forecast or observation.
SELECT city, max(ts) AS ts FROM (
  SELECT city, max(issued_at) AS ts FROM @issue GROUP BY city
  UNION ALL
  SELECT city, max(ts) FROM @obs GROUP BY city
) AS heard
GROUP BY city

-- name: DeskVolumeAsOf
SELECT coalesce(max(imported_at), 0) FROM batches WHERE batch >= @from

-- name: DeskCheck
-- Brackets without a market, brackets that are listed twice, and events whose brackets disagree;
-- and complete ladders with a gap or an overlap.
SELECT (SELECT count(*) FROM desk_market),
  (SELECT count(*) FROM desk_market AS d WHERE NOT EXISTS (SELECT 1 FROM markets AS m WHERE m.market = d.market))
  + (SELECT count(*) FROM (SELECT market FROM desk_market GROUP BY market HAVING count(*) > 1) AS twice)
  + (SELECT count(*) FROM (SELECT event FROM desk_market GROUP BY event
       HAVING count(DISTINCT (city, metric, day, unit, tiled, archived, station, source, fallback, rounding, revisable, stated)) > 1) AS torn)
  + (SELECT count(*) FROM (
       SELECT hi, lead(lo) OVER ladder AS above, row_number() OVER ladder AS nth, lo
       FROM desk_market WHERE tiled
       WINDOW ladder AS (PARTITION BY event ORDER BY lo NULLS FIRST)
     ) AS step WHERE (nth = 1) <> (lo IS NULL) OR (hi IS NULL) <> (above IS NULL) OR above <> hi + 1)

-- name: DeskMoved
-- Events that changed, and tokens that changed their market.
SELECT (SELECT count(*) FROM n_desk_event) + (SELECT count(*) FROM n_token)

-- name: DeskWeather
-- Cities whose weather changes with the batch.
SELECT city FROM n_issue
UNION SELECT city FROM n_report
UNION SELECT city FROM n_obs
UNION SELECT city FROM n_normal
UNION SELECT city FROM desk_market WHERE market IN (SELECT market FROM n_payout) OR event IN (SELECT event FROM n_desk_event)
