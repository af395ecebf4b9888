-- Markets, token mappings and payouts. m_raw holds the markets of a file, one row per condition;
-- n_map holds what the file says about tokens, and whether it has a row for that alone.

-- name: MarketsEmpty
CREATE OR REPLACE TEMP TABLE m_raw AS SELECT *, false AS stub, 0::BIGINT AS line, false AS contradicts
FROM markets WHERE false

-- name: MapEmpty
CREATE OR REPLACE TEMP TABLE n_map (token_id VARCHAR, condition BLOB, outcome TINYINT, strong BOOLEAN, label VARCHAR, own_row BOOLEAN)

-- name: DistinctCounts
-- Number of different markets, tokens and blocks that the rows of a file without fills describe.
SELECT (SELECT count(*) FROM m_raw), (SELECT count(DISTINCT token_id) FROM n_map WHERE own_row), (SELECT count(DISTINCT number) FROM s_block),
  (SELECT count(*) FROM (SELECT number, min(ts) AS ts FROM s_block GROUP BY number) AS s LEFT JOIN blocks AS b USING (number)
   WHERE b.number IS NULL OR s.ts < b.ts)

-- name: MapFromFills
-- Mappings from fills only fill gaps: for a token whose market is known and a condition that is
-- known, they are not used.
INSERT INTO n_map
WITH named AS (
  SELECT token, condition, outcome
  FROM @from
  WHERE condition IS NOT NULL AND outcome IS NOT NULL AND NOT starts_with(token, 'c:') AND NOT starts_with(token, 'g:')
  GROUP BY token, condition, outcome
)
SELECT n.token, n.condition, n.outcome, false, NULL, false
FROM named AS n
LEFT JOIN tokens AS t ON t.token_id = n.token
LEFT JOIN markets AS m ON m.condition = n.condition
WHERE t.market IS NULL OR t.derived OR m.market IS NULL OR t.derived = false AND (t.market, t.outcome) <> (m.market, n.outcome)

-- name: StubsFromMap
-- A condition that only a token or a fill names is a market, too.
INSERT INTO m_raw BY NAME
SELECT DISTINCT condition, true AS stub FROM n_map
WHERE condition IS NOT NULL AND condition NOT IN (SELECT condition FROM m_raw)
  AND NOT EXISTS (SELECT 1 FROM markets AS m WHERE m.condition = n_map.condition)

-- name: FirstToSay
-- The first of several files that says the market of a token in n_map, and whether no market was known
-- before.
CREATE OR REPLACE TEMP TABLE n_first AS
SELECT t.token, n.condition, n.outcome, t.market IS NULL AS unmapped, min(s.@row >> @shift)::INTEGER AS member
FROM n_map AS n JOIN tokens AS t ON t.token_id = n.token_id
JOIN @from AS s ON s.token = n.token_id AND s.condition = n.condition AND s.outcome = n.outcome
GROUP BY ALL

-- name: FilesDiffer
-- Whether files say different things about the market of a token, or fills may wait for a market.
SELECT (SELECT count(*) <> count(DISTINCT token) FROM n_first) OR EXISTS (FROM waiting_fills)

-- name: StubsOfFiles
-- StubsFromMap for several files: line is the index of the first one that names the market.
INSERT INTO m_raw BY NAME
SELECT condition, true AS stub, min(member)::BIGINT AS line FROM n_first
WHERE condition NOT IN (SELECT condition FROM markets)
GROUP BY condition

-- name: MarketsByMember
SELECT line, count(*) FROM m_raw GROUP BY line

-- name: TokensByMember
SELECT f.member, count(*) FROM n_token AS n JOIN n_first AS f ON f.token = n.token GROUP BY f.member

-- name: FirstMarket
SELECT condition FROM m_raw ORDER BY line, condition LIMIT 1

-- name: SaidCounts
SELECT (SELECT count(*) FROM m_raw), count(*), count(label) FROM n_map

-- name: SaidMarkets
SELECT stub, @columns FROM m_raw

-- name: KnownMarkets
-- The known rows of the markets of the file. Selecting by row id reads only the parts of the
-- table that have them: of 300,000 markets, reading all takes 0.35 s, and reading two 0.02 s.
SELECT @columns FROM markets WHERE rowid IN (SELECT rowid FROM markets WHERE condition IN (SELECT condition FROM m_raw))

-- name: NextMarket
SELECT coalesce(max(market) + 1, 0)::INTEGER FROM markets

-- name: MarketsNext
-- The merged row of each market. For every field, the value of the latest version is used, and of
-- equal versions the larger value. A payout is replaced by one from a better source or with a
-- later version or correction, and of equal ones the larger payouts are used; the time of the
-- resolution is replaced by one from a better source, with a later version, or by an earlier one.
-- So the order of imports does not matter. A record gives every part of the quote that its page
-- has; a part that it leaves out has no value any more. A market that is closed or resolved shows
-- no quote.
CREATE OR REPLACE TEMP TABLE n_market AS
WITH fresh AS (
  -- Numbered apart, because a window copies and sorts whole rows. For the same reason rows of new
  -- markets are not compared with known ones below: the two took two thirds of the time.
  SELECT condition, row_number() OVER (ORDER BY condition) AS nth FROM m_raw ANTI JOIN markets USING (condition)
),
joined AS (
  SELECT n, o, nth,
    @values,
    CASE WHEN o.market IS NULL AND NOT n.stub THEN n.field_versions ELSE '{' || nullif(concat_ws(',', nullif(array_to_string(list_transform(
      list_filter(list_zip([@names], [@versions]), lambda v: v[2] > -2 AND v[2] <> base),
      lambda v: '"' || v[1] || '":' || v[2]), ','), ''), @closing), '') || '}' END AS field_versions,
    n.quote.at IS NOT NULL AND (o.quote.at IS NULL OR (n.quote.at, coalesce(n.quote.bid, -1), coalesce(n.quote.ask, -1))
      > (o.quote.at, coalesce(o.quote.bid, -1), coalesce(o.quote.ask, -1))) AS takes_book,
    n.quote.last_at IS NOT NULL AND (o.quote.last_at IS NULL OR (n.quote.last_at, coalesce(n.quote.last, -1))
      > (o.quote.last_at, coalesce(o.quote.last, -1))) AS takes_last,
    n.quote.liquidity_at IS NOT NULL AND (o.quote.liquidity_at IS NULL OR (n.quote.liquidity_at, coalesce(n.quote.liquidity, -1))
      > (o.quote.liquidity_at, coalesce(o.quote.liquidity, -1))) AS takes_liquidity,
    -- Payouts that were imported before the outcomes, and whose number differs from theirs, are
    -- not used.
    coalesce(len(o.payouts) = coalesce(json_array_length(@outcomes), len(n.payouts)), true) AS fits,
    n.payouts IS NOT NULL AND (o.payouts IS NULL OR NOT fits
      OR @newword > @oldword) AS pays,
    n.payout_at IS NOT NULL AND (o.payout_at IS NULL OR NOT fits
      OR (n.payout_at_source, coalesce(n.payout_at_version, 0), -n.payout_at)
       > (o.payout_at_source, coalesce(o.payout_at_version, 0), -o.payout_at)) AS dates
  FROM (@pairs) AS p LEFT JOIN fresh ON fresh.condition = p.n.condition
),
merged AS (
  SELECT coalesce(o.market, (SELECT coalesce(max(market) + 1, 0) FROM markets) + nth - 1)::INTEGER AS market,
    n.condition AS condition,
    @columns,
    greatest(n.updated_at, o.updated_at) AS updated_at,
    CASE WHEN pays THEN n.payouts WHEN fits THEN o.payouts END AS payouts,
    CASE WHEN pays THEN n.payout_source WHEN fits THEN o.payout_source END AS payout_source,
    CASE WHEN pays THEN n.payout_version WHEN fits THEN o.payout_version END AS payout_version,
    CASE WHEN pays THEN n.payout_corrected_at WHEN fits THEN o.payout_corrected_at END AS payout_corrected_at,
    CASE WHEN dates THEN n.payout_at WHEN fits THEN o.payout_at END AS payout_at,
    CASE WHEN dates THEN n.payout_at_source WHEN fits THEN o.payout_at_source END AS payout_at_source,
    CASE WHEN dates THEN n.payout_at_version WHEN fits THEN o.payout_at_version END AS payout_at_version,
    CASE WHEN o.quote IS NULL THEN n.quote WHEN takes_book OR takes_last OR takes_liquidity THEN struct_pack(
      at := CASE WHEN takes_book THEN n.quote.at ELSE o.quote.at END,
      bid := CASE WHEN takes_book THEN n.quote.bid ELSE o.quote.bid END,
      ask := CASE WHEN takes_book THEN n.quote.ask ELSE o.quote.ask END,
      last_at := CASE WHEN takes_last THEN n.quote.last_at ELSE o.quote.last_at END,
      last := CASE WHEN takes_last THEN n.quote.last ELSE o.quote.last END,
      liquidity_at := CASE WHEN takes_liquidity THEN n.quote.liquidity_at ELSE o.quote.liquidity_at END,
      liquidity := CASE WHEN takes_liquidity THEN n.quote.liquidity ELSE o.quote.liquidity END) ELSE o.quote END AS quote,
    greatest(n.unquoted_at, o.unquoted_at) AS unquoted_at, field_versions, o.market IS NOT NULL AS known
  FROM joined
),
shown AS (
  SELECT *,
    payouts IS NULL AND closed IS NOT TRUE AS open,
    -- If a market is known to have been resolved before its end date, the end date is not the
    -- time of its resolution.
    CASE WHEN payout_version IS NULL OR end_at <= payout_version THEN end_at END AS ended_at
  FROM merged
),
final AS (
  SELECT * EXCLUDE (open, quote, ended_at, payout_at_source, payout_at_version, payout_corrected_at, unquoted_at, field_versions, known) REPLACE (
      CASE WHEN open THEN quote.bid END AS best_bid, CASE WHEN open THEN quote.ask END AS best_ask,
      CASE WHEN open THEN quote.last END AS last_price, CASE WHEN open THEN quote.liquidity END AS liquidity),
    CASE WHEN payouts IS NOT NULL THEN coalesce(payout_at, closed_at, ended_at) END AS resolved_at, quote,
    payout_at_source, payout_at_version,
    CASE WHEN payouts IS NULL THEN NULL WHEN payout_at IS NOT NULL THEN payout_at_source WHEN closed_at IS NOT NULL THEN 2
      WHEN ended_at IS NOT NULL THEN 1 END::TINYINT AS resolved_at_source, payout_corrected_at, unquoted_at, field_versions, known
  FROM shown
)
SELECT * EXCLUDE (known) FROM final WHERE NOT known
UNION ALL
(SELECT * EXCLUDE (known) FROM final WHERE known
EXCEPT
SELECT * FROM markets WHERE market IN (SELECT market FROM final WHERE known))

-- name: Pairs
-- The row of each market in the file (n) and the known row (o), and for every field both values
-- and their versions: that of the record, unless the field has its own.
SELECT *, greatest(nbase, obase) AS base,
  @fields
FROM (
  SELECT n, o, CASE WHEN n.stub THEN -1 ELSE coalesce(n.updated_at, 0) END AS nbase, coalesce(o.updated_at, 0) AS obase,
    from_json(n.field_versions, @shape) AS nv, from_json(o.field_versions, @shape) AS ov,
    @both
  FROM m_raw AS n LEFT JOIN markets AS o ON o.condition = n.condition
) AS b

-- name: Both
n.@c AS n_@c, o.@c AS o_@c

-- name: FieldVersions
CASE WHEN n_@c IS NULL THEN -2 ELSE coalesce(nv.@c, nbase) END AS nat_@c, CASE WHEN o_@c IS NULL THEN -2 ELSE coalesce(ov.@c, obase) END AS oat_@c

-- name: ClosingVersions
-- A record that reports the market as open also means that there is no time of closing. The
-- version of that is stored only if the market is no longer open.
coalesce(CASE WHEN n_@c IS NULL AND n_closed IS FALSE THEN coalesce(nv.closed, nbase) ELSE coalesce(nv.@c, CASE WHEN n_@c IS NOT NULL THEN nbase END) END, -2) AS nat_@c,
coalesce(CASE WHEN o_@c IS NULL AND o_closed IS FALSE THEN coalesce(ov.closed, obase) ELSE coalesce(ov.@c, CASE WHEN o_@c IS NOT NULL THEN obase END) END, -2) AS oat_@c

-- name: StandsScalar
nat_@c > oat_@c OR nat_@c = oat_@c AND n_@c > o_@c

-- name: StandsList
-- A longer list is the larger one: a truncated file has fewer outcomes.
nat_@c > oat_@c OR nat_@c = oat_@c AND nat_@c > -2 AND (json_array_length(n_@c), n_@c) > (json_array_length(o_@c), o_@c)

-- name: StandsCategory
-- The source of a category takes precedence over its version, because a record without tags is
-- less reliable.
nat_@c > -2 AND (oat_@c = -2 OR
  (CASE n.category_source WHEN 'tag' THEN 3 WHEN 'field' THEN 2 WHEN 'slug' THEN 1 ELSE 0 END, nat_@c, n_@c)
  > (CASE o.category_source WHEN 'tag' THEN 3 WHEN 'field' THEN 2 WHEN 'slug' THEN 1 ELSE 0 END, oat_@c, o_@c))

-- name: StandsClosing
nat_@c > oat_@c OR nat_@c = oat_@c AND coalesce(n_@c, 0) > coalesce(o_@c, 0)

-- name: Standing
CASE WHEN @stands THEN n_@c ELSE o_@c END

-- name: ClosingVersion
'"@c":' || CASE WHEN @value IS NOT NULL THEN nullif(greatest(nat_@c, oat_@c), base) WHEN @closed IS NOT FALSE THEN nullif(greatest(nat_@c, oat_@c), -2) END

-- name: Word
-- What the payouts of records are compared by.
(@w.payout_source, @version, @w.payouts, coalesce(@w.payout_corrected_at, 0), coalesce(@w.payout_version, 0))

-- name: WordVersion
greatest(coalesce(@w.payout_version, 0), coalesce(@w.payout_corrected_at, 0))

-- name: Correct
-- The payouts of this import become newer than all of the same rank, unless an earlier correction
-- already has the same ones. A file that contradicts itself corrects nothing.
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


-- name: Unresolved
-- Payouts that were known and do not fit the outcomes of this file.
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
-- Equal source and version with other payouts, or another time; and payouts or times that are
-- older than a correction and differ from it.
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

-- name: StubsLikeFirst
-- n_market has the first of the markets in m_raw, in which only the id, the condition and @given are
-- not NULL. Their ids have the order of their files.
INSERT INTO n_market BY NAME
SELECT (f.market + row_number() OVER (ORDER BY m.line, m.condition))::INTEGER AS market, m.condition AS condition@given
FROM n_market AS f CROSS JOIN m_raw AS m WHERE m.condition <> f.condition

-- name: MarketFigures
SELECT count(*) FILTER (o.market IS NULL), count(*) FILTER (o.market IS NOT NULL),
  count(*) FILTER (n.payouts IS NOT NULL AND n.payouts IS DISTINCT FROM o.payouts),
  count(*) FILTER (n.outcomes IS DISTINCT FROM o.outcomes) > 0,
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
SELECT token_id, condition, (nth - 1)::TINYINT, NOT stub, NULL, false
FROM (
  SELECT condition, stub, unnest(json_extract_string(token_ids, '$[*]')) AS token_id,
    generate_subscripts(json_extract_string(token_ids, '$[*]'), 1) AS nth
  FROM m_raw WHERE token_ids IS NOT NULL
) AS listed

-- name: MapFromNewer
-- If a market has a newer version in this file, but no list of tokens, its old list counts as
-- newer.
INSERT INTO n_map
SELECT unnest(json_extract_string(n.token_ids, '$[*]')), n.condition, generate_subscripts(json_extract_string(n.token_ids, '$[*]'), 1) - 1, true, NULL, false
FROM n_market AS n JOIN m_raw AS r ON r.condition = n.condition
WHERE NOT r.stub AND r.token_ids IS NULL AND n.token_ids IS NOT NULL

-- name: MapLists
-- The markets that are named, as they are after this file.
CREATE OR REPLACE TEMP TABLE n_list AS
SELECT market, condition, coalesce(updated_at, 0) AS version, json_extract_string(token_ids, '$[*]') AS ids FROM n_market
UNION ALL
SELECT market, condition, coalesce(updated_at, 0), json_extract_string(token_ids, '$[*]') FROM markets AS m
WHERE condition IN (SELECT condition FROM n_map) AND market NOT IN (SELECT market FROM n_market)

-- name: MapBest
-- The best mapping of each token: first a market's current list, then other sources that map
-- tokens, then rows of trades. Of several lists, that of the newest market is used, and of
-- equally good mappings the one with the smallest condition, so the order of imports does not
-- matter.
CREATE OR REPLACE TEMP TABLE n_mapped AS
SELECT token_id, market, condition, outcome, listed, strong, version, disputed
FROM (
  SELECT *, min(CASE WHEN strong THEN condition END) OVER (PARTITION BY token_id)
      IS DISTINCT FROM max(CASE WHEN strong THEN condition END) OVER (PARTITION BY token_id) AS disputed
  FROM (
    SELECT n.token_id, l.market, l.condition, nullif(list_position(l.ids, n.token_id), 0) AS place, place IS NOT NULL AS listed,
      n.strong OR listed AS strong, CASE WHEN listed THEN l.version ELSE 0 END AS version,
      coalesce(place - 1, n.outcome)::TINYINT AS outcome
    FROM n_map AS n JOIN n_list AS l ON l.condition = n.condition
    WHERE n.outcome IS NOT NULL
  ) AS claim
) AS k
QUALIFY row_number() OVER (PARTITION BY token_id ORDER BY listed DESC, strong DESC, version DESC, condition, outcome) = 1

-- name: MapsOnce
-- Whether no token is mapped twice and no market has a list of tokens.
SELECT (SELECT count(*) = count(DISTINCT token_id) FROM n_map)
  AND (SELECT count(ids) = 0 AND count(*) = count(DISTINCT condition) FROM n_list)

-- name: MapOnly
-- MapBest if MapsOnce: there is nothing to choose from.
CREATE OR REPLACE TEMP TABLE n_mapped AS
SELECT n.token_id, l.market, l.condition, n.outcome, false AS listed, n.strong, 0::BIGINT AS version, false AS disputed
FROM n_map AS n JOIN n_list AS l ON l.condition = n.condition
WHERE n.outcome IS NOT NULL

-- name: MapNewTokens
INSERT INTO tokens (token, token_id, market, outcome, derived)
SELECT (SELECT coalesce(max(token) + 1, 0) FROM tokens) + row_number() OVER (ORDER BY market, outcome, token_id) - 1,
  token_id, market, outcome, CASE WHEN NOT strong THEN false END
FROM n_mapped AS n
WHERE NOT EXISTS (SELECT 1 FROM tokens AS t WHERE t.token_id = n.token_id)

-- name: MapOwners
-- Known tokens that the file maps, their present market, and whether they move to another one, by
-- the rule of MapBest. derived is false if only a row of trades gave the mapping.
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
-- Each market for which the file claims a token that another market claims, too.
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
-- Tokens that this file labels, or that have a label in a market which the file changes: their
-- label from now on, and the outcome that it names. Rows that are not fills of the token are
-- ignored, and labels with a condition take precedence over those without.
CREATE OR REPLACE TEMP TABLE n_label AS
WITH said AS (
  SELECT token_id, max(struct_pack(condition := coalesce(condition, ''::BLOB), label := label)) AS named FROM n_map
  WHERE label IS NOT NULL AND token_id IN (SELECT token FROM @from)
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
