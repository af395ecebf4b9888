-- Markets, token mappings and payouts. m_raw holds the markets of a file, one
-- row per condition; n_map what it says of tokens.

-- name: MarketsEmpty
CREATE OR REPLACE TEMP TABLE m_raw AS SELECT *, false AS stub, 0::BIGINT AS line, false AS contradicts
FROM markets WHERE false

-- name: MapEmpty
CREATE OR REPLACE TEMP TABLE n_map (token_id VARCHAR, condition BLOB, outcome TINYINT, strong BOOLEAN, label VARCHAR)

-- name: DistinctCounts
-- Different markets, tokens and blocks of a file without fills.
SELECT (SELECT count(*) FROM m_raw), (SELECT count(DISTINCT token_id) FROM n_map), (SELECT count(DISTINCT number) FROM s_block),
  (SELECT count(*) FROM (SELECT number, min(ts) AS ts FROM s_block GROUP BY number) AS s LEFT JOIN blocks AS b USING (number)
   WHERE b.number IS NULL OR s.ts < b.ts)

-- name: MapFromFills
-- What fills say of a token only fills gaps: of one whose market is known, and of a
-- condition that is known, it says nothing.
INSERT INTO n_map
WITH named AS (
  SELECT token, condition, outcome
  FROM s_raw
  WHERE condition IS NOT NULL AND outcome IS NOT NULL AND NOT starts_with(token, 'c:') AND NOT starts_with(token, 'g:')
  GROUP BY token, condition, outcome
)
SELECT n.token, n.condition, n.outcome, false, NULL
FROM named AS n
LEFT JOIN tokens AS t ON t.token_id = n.token
LEFT JOIN markets AS m ON m.condition = n.condition
WHERE t.market IS NULL OR t.derived OR m.market IS NULL OR t.derived = false AND (t.market, t.outcome) <> (m.market, n.outcome)

-- name: StubsFromMap
-- A condition that only a token or a fill names is a market all the same.
INSERT INTO m_raw BY NAME
SELECT DISTINCT condition, true AS stub FROM n_map
WHERE condition IS NOT NULL AND condition NOT IN (SELECT condition FROM m_raw)
  AND NOT EXISTS (SELECT 1 FROM markets AS m WHERE m.condition = n_map.condition)

-- name: MarketsNext
-- What each market becomes: a newer version overwrites, an older one or a stub
-- fills gaps, and between equal versions the larger value stands; a payout gives
-- way to one of a better source or a later version or correction, and between equal ones to
-- the larger payouts; the time of the resolution to one of a better source, a later
-- version, or an earlier one. So the order of imports is no matter.
-- A quote is the newest record's as a whole: what that one leaves out is gone, and
-- gaps are not filled; a page that never has bids and asks says nothing of it. A market that is closed or resolved shows none; one that is
-- open has no time of closing.
CREATE OR REPLACE TEMP TABLE n_market AS
WITH joined AS (
  SELECT n, o, o.market AS known, o.quote AS old_quote,
    CASE WHEN NOT n.stub THEN struct_pack(at := CASE WHEN n.unquoted_at IS NULL THEN n.updated_at END, bid := n.best_bid, ask := n.best_ask, last := n.last_price,
      liquidity := n.liquidity) END AS new_quote,
    NOT n.stub AND (o.market IS NULL OR coalesce(n.updated_at, 0) > coalesce(o.updated_at, 0)) AS newer,
    NOT n.stub AND coalesce(n.updated_at, 0) = coalesce(o.updated_at, 0) AS equal,
    n.category IS NOT NULL AND (o.category IS NULL OR @nrank > @orank
      OR @nrank = @orank AND (newer OR equal AND n.category > o.category)) AS sorts,
    -- Payouts that came before the outcomes, and are not one for each, are none.
    coalesce(len(o.payouts) = coalesce(json_array_length(@outcomes), len(n.payouts)), true) AS fits,
    n.payouts IS NOT NULL AND (o.payouts IS NULL OR NOT fits
      OR @newword > @oldword) AS pays,
    n.payout_at IS NOT NULL AND (o.payout_at IS NULL OR NOT fits
      OR (n.payout_at_source, coalesce(n.payout_at_version, 0), -n.payout_at)
       > (o.payout_at_source, coalesce(o.payout_at_version, 0), -o.payout_at)) AS dates
  FROM m_raw AS n LEFT JOIN markets AS o ON o.condition = n.condition
),
merged AS (
  SELECT coalesce(known, (SELECT coalesce(max(market) + 1, 0) FROM markets)
      + (count(*) FILTER (known IS NULL) OVER (ORDER BY n.condition ROWS UNBOUNDED PRECEDING) - 1))::INTEGER AS market,
    n.condition AS condition,
    @merged,
    CASE WHEN pays THEN n.payouts WHEN fits THEN o.payouts END AS payouts,
    CASE WHEN pays THEN n.payout_source WHEN fits THEN o.payout_source END AS payout_source,
    CASE WHEN pays THEN n.payout_version WHEN fits THEN o.payout_version END AS payout_version,
    CASE WHEN pays THEN n.payout_corrected_at WHEN fits THEN o.payout_corrected_at END AS payout_corrected_at,
    CASE WHEN dates THEN n.payout_at WHEN fits THEN o.payout_at END AS payout_at,
    CASE WHEN dates THEN n.payout_at_source WHEN fits THEN o.payout_at_source END AS payout_at_source,
    CASE WHEN dates THEN n.payout_at_version WHEN fits THEN o.payout_at_version END AS payout_at_version,
    -- Without an old one, a quote that is older than the newest record is not taken.
    CASE WHEN n.stub THEN old_quote WHEN known IS NULL THEN new_quote
      WHEN old_quote IS NULL THEN CASE WHEN coalesce(new_quote.at, 0) >= coalesce(o.updated_at, 0) THEN new_quote END
      WHEN (coalesce(new_quote.at, 0), @new) > (coalesce(old_quote.at, 0), @old) THEN new_quote ELSE old_quote END AS quote,
    greatest(n.unquoted_at, o.unquoted_at) AS unquoted_at
  FROM joined
),
shown AS (
  SELECT * REPLACE (CASE WHEN closed IS NOT FALSE THEN closed_at END AS closed_at),
    payouts IS NULL AND closed IS NOT TRUE AS open,
    -- A market that is known to be resolved before its end date was not resolved then.
    CASE WHEN payout_version IS NULL OR end_at <= payout_version THEN end_at END AS ended_at
  FROM merged
),
final AS (
  SELECT * EXCLUDE (open, quote, ended_at, payout_at_source, payout_at_version, payout_corrected_at, unquoted_at) REPLACE (
      CASE WHEN open THEN quote.bid END AS best_bid, CASE WHEN open THEN quote.ask END AS best_ask,
      CASE WHEN open THEN quote.last END AS last_price, CASE WHEN open THEN quote.liquidity END AS liquidity),
    CASE WHEN payouts IS NOT NULL THEN coalesce(payout_at, closed_at, ended_at) END AS resolved_at, quote,
    payout_at_source, payout_at_version,
    CASE WHEN payouts IS NULL THEN NULL WHEN payout_at IS NOT NULL THEN payout_at_source WHEN closed_at IS NOT NULL THEN 2
      WHEN ended_at IS NOT NULL THEN 1 END::TINYINT AS resolved_at_source, payout_corrected_at, unquoted_at
  FROM shown
)
SELECT * FROM final
EXCEPT
SELECT * FROM markets WHERE market IN (SELECT market FROM final)

-- name: Word
-- What the payouts of a record are compared by.
(@w.payout_source, @version, @w.payouts, coalesce(@w.payout_corrected_at, 0), coalesce(@w.payout_version, 0))

-- name: WordVersion
greatest(coalesce(@w.payout_version, 0), coalesce(@w.payout_corrected_at, 0))

-- name: Correct
-- What this import says becomes newer than all of its rank, unless it stands by a
-- correction already. A file that contradicts itself corrects nothing.
UPDATE m_raw SET payout_corrected_at = w.at, payout_at_version = CASE WHEN m_raw.payout_at IS NOT NULL THEN w.at END
FROM (
  SELECT n.condition, greatest(@now, @newversion, n.payout_at_version,
      CASE WHEN o.payout_source = n.payout_source THEN @oldversion + 1 END,
      CASE WHEN o.payout_at_source = n.payout_at_source THEN o.payout_at_version + 1 END) AS at,
    coalesce(o.payouts IS NOT NULL AND (o.payout_source > n.payout_source
        OR o.payout_source = n.payout_source AND o.payouts = n.payouts AND o.payout_corrected_at IS NOT NULL)
      AND (n.payout_at IS NULL OR o.payout_at_source > n.payout_at_source
        OR o.payout_at_source = n.payout_at_source AND o.payout_at = n.payout_at
          AND coalesce(o.payout_at_version, 0) > coalesce(n.payout_at_version, 0)), false) AS settled
  FROM m_raw AS n LEFT JOIN markets AS o ON o.condition = n.condition
  WHERE n.payouts IS NOT NULL AND NOT n.contradicts
) AS w
WHERE w.condition = m_raw.condition AND NOT settled

-- name: OutcomesNext
-- The outcomes of a market after this file.
CASE WHEN n.stub OR coalesce(n.updated_at, 0) < coalesce(o.updated_at, 0) THEN coalesce(o.outcomes, n.outcomes)
  WHEN coalesce(n.updated_at, 0) = coalesce(o.updated_at, 0) AND json_array_length(o.outcomes) > coalesce(json_array_length(n.outcomes), 0) THEN o.outcomes
  ELSE coalesce(n.outcomes, o.outcomes) END

-- name: Unresolved
-- Payouts that were known and are none, by the outcomes of this file.
SELECT r.line, r.condition, r.contradicts, o.payouts::VARCHAR AS payouts, o.payout_source, o.payout_version, o.payout_at, o.payout_at_source,
  json_array_length(n.outcomes) AS outcomes
FROM n_market AS n JOIN markets AS o ON o.market = n.market JOIN m_raw AS r ON r.condition = n.condition
WHERE len(o.payouts) <> json_array_length(n.outcomes)

-- name: Overruled
SELECT count(*)
FROM m_raw AS n JOIN markets AS o ON o.condition = n.condition
WHERE n.payouts <> o.payouts AND (n.payout_source < o.payout_source
  OR n.payout_source = o.payout_source AND @newversion < @oldversion AND @oldversion IS DISTINCT FROM o.payout_corrected_at)

-- name: Conflicts
-- Equal source and version with other payouts, or another time; and what is older
-- than a correction and says otherwise.
SELECT * EXCLUDE (by_time) FROM (
  SELECT n.line, n.condition, n.contradicts, n.payouts::VARCHAR AS payouts, n.payout_source, n.payout_version, n.payout_at, n.payout_at_source,
    o.payouts::VARCHAR AS known, o.payout_at AS known_at,
    coalesce(n.payouts <> o.payouts AND n.payout_source = o.payout_source
      AND (@newversion = @oldversion OR @newversion < @oldversion AND @oldversion = o.payout_corrected_at), false) AS by_payouts,
    CASE WHEN by_payouts THEN @newword < @oldword
      ELSE (coalesce(n.payout_at_version, 0), -n.payout_at) < (coalesce(o.payout_at_version, 0), -o.payout_at) END AS yields,
    coalesce(n.payout_at <> o.payout_at AND n.payout_at_source = o.payout_at_source
      AND (coalesce(n.payout_at_version, 0) = coalesce(o.payout_at_version, 0)
        OR coalesce(n.payout_at_version, 0) < o.payout_at_version AND o.payout_at_version = o.payout_corrected_at), false) AS by_time
  FROM m_raw AS n JOIN markets AS o ON o.condition = n.condition
  WHERE n.payouts IS NOT NULL AND o.payouts IS NOT NULL
) AS k
WHERE by_payouts OR by_time

-- name: MergedNewer
CASE WHEN newer THEN coalesce(n.@c, o.@c) WHEN equal THEN greatest(n.@c, o.@c) ELSE coalesce(o.@c, n.@c) END AS @c

-- name: CategoryRank
-- What a category comes from, best first: a record without tags knows less of it.
CASE @w.category_source WHEN 'tag' THEN 3 WHEN 'field' THEN 2 WHEN 'slug' THEN 1 ELSE 0 END

-- name: MergedCategory
CASE WHEN sorts THEN n.@c ELSE o.@c END AS @c

-- name: MergedQuote
NULL::BIGINT AS @c

-- name: QuoteOrder
(coalesce(@q.bid, -1), coalesce(@q.ask, -1), coalesce(@q.last, -1), coalesce(@q.liquidity, -1))

-- name: MergedList
-- A longer list is the larger one: a file that was cut off knows fewer outcomes. None
-- at all is no list, though it would compare as the largest.
CASE WHEN newer THEN coalesce(n.@c, o.@c)
  WHEN equal THEN CASE WHEN o.@c IS NULL OR n.@c IS NOT NULL
    AND (json_array_length(n.@c), n.@c) > (json_array_length(o.@c), o.@c) THEN n.@c ELSE o.@c END
  ELSE coalesce(o.@c, n.@c) END AS @c

-- name: MergedVersion
greatest(n.updated_at, o.updated_at) AS updated_at

-- name: MarketFigures
SELECT count(*) FILTER (o.market IS NULL), count(*) FILTER (o.market IS NOT NULL),
  count(*) FILTER (n.payouts IS NOT NULL AND n.payouts IS DISTINCT FROM o.payouts),
  count(*) FILTER (n.outcomes IS DISTINCT FROM o.outcomes) + (SELECT count(label) FROM n_map),
  count(*) FILTER (len(o.payouts) <> json_array_length(n.outcomes)), count(*) FILTER (o.payouts IS NOT NULL AND n.payouts IS NULL)
FROM n_market AS n LEFT JOIN markets AS o ON o.market = n.market

-- name: Payouts
CREATE OR REPLACE TEMP TABLE n_payout AS
SELECT n.market, n.payouts, n.payout_source AS source, n.resolved_at
FROM n_market AS n LEFT JOIN markets AS o ON o.market = n.market
WHERE n.payouts IS DISTINCT FROM o.payouts OR n.resolved_at IS DISTINCT FROM o.resolved_at

-- name: NoPayouts
CREATE OR REPLACE TEMP TABLE n_payout (market INTEGER, payouts BIGINT[], source TINYINT, resolved_at BIGINT)

-- name: MapFromMarkets
INSERT INTO n_map
SELECT token_id, condition, (nth - 1)::TINYINT, NOT stub, NULL
FROM (
  SELECT condition, stub, unnest(json_extract_string(token_ids, '$[*]')) AS token_id,
    generate_subscripts(json_extract_string(token_ids, '$[*]'), 1) AS nth
  FROM m_raw WHERE token_ids IS NOT NULL
) AS listed

-- name: MapFromNewer
-- A market that became newer without a list in this file makes the claim of its old list
-- newer.
INSERT INTO n_map
SELECT unnest(json_extract_string(n.token_ids, '$[*]')), n.condition, generate_subscripts(json_extract_string(n.token_ids, '$[*]'), 1) - 1, true, NULL
FROM n_market AS n JOIN m_raw AS r ON r.condition = n.condition
WHERE NOT r.stub AND r.token_ids IS NULL AND n.token_ids IS NOT NULL

-- name: MapLists
-- The markets that are named, as they stand after this file.
CREATE OR REPLACE TEMP TABLE n_list AS
SELECT market, condition, coalesce(updated_at, 0) AS version, json_extract_string(token_ids, '$[*]') AS ids FROM n_market
UNION ALL
SELECT market, condition, coalesce(updated_at, 0), json_extract_string(token_ids, '$[*]') FROM markets AS m
WHERE condition IN (SELECT condition FROM n_map) AND market NOT IN (SELECT market FROM n_market)

-- name: MapBest
-- One answer per token: a market's list as it stands now, before other sources that map
-- tokens, before what a trade row says. Of several lists that of the newest market, and
-- of what is equally good the smallest condition; so the order of imports is no matter.
CREATE OR REPLACE TEMP TABLE n_mapped AS
SELECT token_id, market, condition, outcome, listed, strong, version, disputed
FROM (
  SELECT *, count(DISTINCT CASE WHEN strong THEN condition END) OVER (PARTITION BY token_id) > 1 AS disputed
  FROM (
    SELECT n.token_id, l.market, l.condition, nullif(list_position(l.ids, n.token_id), 0) AS place, place IS NOT NULL AS listed,
      n.strong OR listed AS strong, CASE WHEN listed THEN l.version ELSE 0 END AS version,
      coalesce(place - 1, n.outcome)::TINYINT AS outcome
    FROM n_map AS n JOIN n_list AS l ON l.condition = n.condition
    WHERE n.outcome IS NOT NULL
  ) AS claim
) AS k
QUALIFY row_number() OVER (PARTITION BY token_id ORDER BY listed DESC, strong DESC, version DESC, condition, outcome) = 1

-- name: MapNewTokens
INSERT INTO tokens (token, token_id, market, outcome, derived)
SELECT (SELECT coalesce(max(token) + 1, 0) FROM tokens) + row_number() OVER (ORDER BY market, outcome, token_id) - 1,
  token_id, market, outcome, CASE WHEN NOT strong THEN false END
FROM n_mapped AS n
WHERE NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.token_id = n.token_id)

-- name: MapOwners
-- Known tokens that the file maps, the market they have now, by the rule of MapBest,
-- and whether they go to another. derived is false where only a trade row gave it.
CREATE OR REPLACE TEMP TABLE n_owner AS
SELECT t.token, n.*, o.condition AS was, coalesce(n.disputed OR n.strong AND o.strong, false) AS contested,
  CASE WHEN t.market IS NULL OR t.derived THEN true
    WHEN o.token IS NOT NULL THEN (n.listed, n.strong, n.version) > (o.lists, o.strong, o.version)
      OR (n.listed, n.strong, n.version) = (o.lists, o.strong, o.version) AND n.condition < o.condition
    ELSE t.outcome <> n.outcome AND (n.listed OR n.strong > (t.derived IS NULL) OR n.strong = (t.derived IS NULL) AND n.outcome < t.outcome)
  END AS moves
FROM n_mapped AS n JOIN tokens AS t ON t.token_id = n.token_id
LEFT JOIN (
  SELECT t.token, m.condition, list_contains(json_extract_string(coalesce(x.token_ids, m.token_ids), '$[*]'), t.token_id) IS TRUE AS lists,
    t.derived IS NULL OR lists AS strong, CASE WHEN lists THEN coalesce(x.updated_at, m.updated_at, 0) ELSE 0 END AS version
  FROM n_mapped AS n JOIN tokens AS t ON t.token_id = n.token_id AND t.market <> n.market AND t.derived IS NOT TRUE
  JOIN markets AS m ON m.market = t.market LEFT JOIN n_market AS x ON x.market = t.market
) AS o ON o.token = t.token

-- name: MapKnownTokens
CREATE OR REPLACE TEMP TABLE n_token AS
SELECT token, market, outcome, CASE WHEN NOT strong THEN false END AS derived FROM n_owner WHERE moves

-- name: DisputedTokens
SELECT (SELECT count(*) FROM n_mapped WHERE disputed) + (SELECT count(*) FROM n_owner WHERE contested AND NOT disputed)

-- name: TokenConflicts
-- Each market that the file lets claim a token which another one claims as well.
WITH disputed AS (
  SELECT token_id, condition, NULL AS was, true AS moves FROM n_mapped AS n
  WHERE disputed AND NOT EXISTS (SELECT 1 FROM n_owner AS o WHERE o.token_id = n.token_id)
  UNION ALL
  SELECT token_id, condition, was, moves FROM n_owner WHERE contested
)
SELECT coalesce(r.line, 0) AS line, d.token_id, c.condition, c.outcome,
  CASE WHEN d.was IS NULL OR d.moves THEN d.condition ELSE d.was END AS stands, coalesce(d.was, d.condition) AS was,
  row_number() OVER (PARTITION BY d.token_id ORDER BY c.condition) = 1 AS first
FROM disputed AS d
JOIN (SELECT token_id, condition, min(outcome) AS outcome FROM n_map WHERE strong AND outcome IS NOT NULL GROUP BY ALL) AS c ON c.token_id = d.token_id
LEFT JOIN m_raw AS r ON r.condition = c.condition

-- name: NoTokens
CREATE OR REPLACE TEMP TABLE n_token (token INTEGER, market INTEGER, outcome TINYINT, derived BOOLEAN)

-- name: Labels
-- Tokens that this file calls something, or that were called something in a market
-- which it changes: what they are called from now on, and whose outcome that is. Rows
-- that are no fills of the token say nothing, and those without a condition yield.
CREATE OR REPLACE TEMP TABLE n_label AS
WITH said AS (
  SELECT token_id, max(struct_pack(condition := coalesce(condition, ''::BLOB), label := label)) AS named FROM n_map
  WHERE label IS NOT NULL AND token_id IN (SELECT token FROM s_raw)
  GROUP BY token_id
),
called AS (
  SELECT t.token, t.market AS was_market, t.outcome AS was_outcome, t.named AS was,
    CASE WHEN t.named IS NULL OR s.named > t.named THEN s.named ELSE t.named END AS named,
    t.market IS NOT NULL AND t.derived IS NOT TRUE OR t.token IN (SELECT token FROM n_token) AS given
  FROM tokens AS t LEFT JOIN said AS s ON s.token_id = t.token_id
  WHERE s.named IS NOT NULL OR t.named.condition IN (SELECT condition FROM n_market)
),
listed AS (
  SELECT market, condition, from_json(outcomes, '["VARCHAR"]') AS outcomes FROM n_market
  UNION ALL
  SELECT market, condition, from_json(outcomes, '["VARCHAR"]') FROM markets AS m
  WHERE m.condition IN (SELECT named.condition FROM called) AND NOT EXISTS (SELECT 1 FROM n_market AS n WHERE n.market = m.market)
),
found AS (
  SELECT c.*, l.market, (list_position(l.outcomes, c.named.label) - 1)::TINYINT AS outcome
  FROM called AS c LEFT JOIN listed AS l ON l.condition = c.named.condition
    AND len(list_filter(l.outcomes, lambda o: o = c.named.label)) = 1
)
SELECT token, named, was, CASE WHEN market IS NOT NULL THEN outcome END AS outcome, market,
  NOT given AND (market, CASE WHEN market IS NOT NULL THEN outcome END) IS DISTINCT FROM (was_market, was_outcome) AS moves
FROM found

-- name: NoLabels
CREATE OR REPLACE TEMP TABLE n_label (token INTEGER, named STRUCT(condition BLOB, label VARCHAR))

-- name: KeepNewLabels
DELETE FROM n_label WHERE NOT moves AND named = was

-- name: MapByLabel
INSERT INTO n_token SELECT token, market, outcome, market IS NOT NULL FROM n_label WHERE moves

-- name: RemapTokens
UPDATE tokens SET market = n.market, outcome = n.outcome, derived = n.derived FROM n_token AS n WHERE n.token = tokens.token

-- name: NameTokens
UPDATE tokens SET named = n.named FROM n_label AS n WHERE n.token = tokens.token

-- name: RemoveMarkets
DELETE FROM markets WHERE market IN (SELECT market FROM n_market)

-- name: AddMarkets
INSERT INTO markets BY NAME FROM n_market

-- name: LogPayouts
INSERT INTO payout_log SELECT market, payouts, source, resolved_at, @batch FROM n_payout

-- name: MarketsNextNone
CREATE OR REPLACE TEMP TABLE n_market AS FROM markets WHERE false
