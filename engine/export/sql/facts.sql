-- The facts in pmx's own canonical columns, as data/feeds/canonical reads them. Temperatures are
-- written in the unit in which they have at most two decimals.

-- name: fills
-- Fills are joined only to rows that exist: a left join gives rows that match nothing much later than
-- others, so the order of the table would be lost.
SELECT @ts AS ts, @address AS address, t.token_id,
  CASE f.side WHEN 0 THEN 'BUY' ELSE 'SELL' END AS side,
  @shares AS shares, @usd AS usd, @fee AS fee, CASE WHEN f.side = 1 OR f.fee < 0 THEN 'usd' ELSE 'shares' END AS fee_asset,
  CASE f.role WHEN 1 THEN 'maker' WHEN 2 THEN 'taker' END AS role,
  '0x' || lower(hex(f.tx)) AS transaction_hash, f.log_index,
  @condition AS condition_id, @outcome AS outcome_index, @label AS outcome_label,
  @name AS username
FROM fills AS f JOIN @wallets AS w ON w.wallet = f.wallet JOIN @tokens AS t ON t.token = f.token

-- name: FillWallets
SELECT x.wallet, x.address, n.name FROM wallets AS x LEFT JOIN wallet_names AS n ON n.wallet = x.wallet

-- name: FillTokens
SELECT x.*, m.condition FROM tokens AS x LEFT JOIN markets AS m ON m.market = x.market

-- name: FillAddress
'0x' || lower(hex(w.address))

-- name: FillCondition
'0x' || lower(hex(coalesce(t.condition, nullif(t.named.condition, ''::BLOB))))

-- name: FillOutcome
CASE WHEN t.derived IS NOT TRUE THEN t.outcome END

-- name: FillWalletTexts
-- FillWallets with what fills show. Their texts are made once each, and not for each fill.
SELECT w.wallet, @address AS address, w.name FROM @wallets AS w

-- name: FillTokenTexts
SELECT t.token, t.token_id, @condition AS condition, @outcome AS outcome, t.named.label AS label FROM @tokens AS t

-- name: FillTable
CREATE OR REPLACE TEMP TABLE @table AS @rows

-- name: DropFillTable
DROP TABLE temp.@table

-- name: FillDays
-- The days with fills, and a fingerprint of each: if it changes, the file is written again. It
-- covers everything that a row shows, including what is joined to a fill: the market of its token
-- and the name of its wallet may become known, or change, long after the fill. Whether fills are
-- provisional is not in the rows, but provisional ones have no log index, and the chain's fills
-- that replace them do. TableSum says why a hash is hashed again.
SELECT (f.seconds // 86400)::INTEGER AS day, count(*), count(b.batch) FILTER (f.log_index IS NULL),
  format('@version-{:x}', bit_xor(hash(hash(f.ts, f.wallet, f.token, f.side, f.role, f.shares, f.usd, f.fee, f.tx, f.log_index, f.repeat,
    t.market, t.outcome, t.derived, t.named, n.name))))
FROM (SELECT * FROM fills WHERE @which) AS f
JOIN tokens AS t ON t.token = f.token
LEFT JOIN wallet_names AS n ON n.wallet = f.wallet
LEFT JOIN batches AS b ON b.batch = f.batch AND b.file = '@listed'
GROUP BY day
ORDER BY day

-- name: JoinedCounts
-- The ids of the next token and wallet.
SELECT (SELECT coalesce(max(token) + 1, 0) FROM tokens)::BIGINT, (SELECT coalesce(max(wallet) + 1, 0) FROM wallets)::BIGINT

-- name: JoinedTokens
-- Fingerprints of what the rows of fills show of their tokens, by block of tokens: for the tokens
-- that existed before, and for all.
SELECT token // @block AS block, coalesce(bit_xor(said) FILTER (token < @known), 0)::BIGINT AS known, bit_xor(said)::BIGINT AS sum
FROM (SELECT token, hash(hash(token, market, outcome, derived, named)) >> 1 AS said FROM tokens) AS t
GROUP BY block

-- name: JoinedNames
-- The same for the names of wallets. A wallet may exist long before its name is known.
SELECT wallet // @block AS block, coalesce(bit_xor(said) FILTER (wallet < @known), 0)::BIGINT AS known, bit_xor(said)::BIGINT AS sum
FROM (SELECT wallet, hash(hash(wallet, name)) >> 1 AS said FROM wallet_names) AS t
GROUP BY block

-- name: DaysOfTokens
-- The days on which tokens of some blocks were traded.
SELECT DISTINCT day FROM (SELECT day, token FROM token_day UNION ALL SELECT day, token FROM token_day_delta) AS d WHERE list_contains([@changed], token // @block)

-- name: DaysOfWallets
SELECT DISTINCT day FROM (SELECT day, wallet FROM wallet_day UNION ALL SELECT day, wallet FROM wallet_day_delta) AS d WHERE list_contains([@changed], wallet // @block)

-- name: FillsOfDay
WHERE f.seconds BETWEEN @from // 1000000 AND @to // 1000000 AND f.ts >= @from AND f.ts < @to
ORDER BY f.ts, f.tx, f.log_index, w.address, t.token_id, f.side, f.shares, f.usd, f.fee, f.repeat

-- name: conditions
SELECT '0x' || lower(hex(condition)) AS condition_id, @gamma_id AS gamma_id, @question_id AS question_id, @question AS question, @slug AS slug,
  @description AS description, @resolution_source AS resolution_source, @group_item_title AS group_item_title,
  @group_item_threshold AS group_item_threshold, @icon AS icon, @event_id AS event_id, @event_slug AS event_slug,
  @event_title AS event_title, @series_slug AS series_slug, neg_risk, @neg_risk_market_id AS neg_risk_market_id,
  @category AS category, @category_source AS category_source, @tags AS tags, @outcomes AS outcomes, @token_ids AS token_ids,
  @mapped_tokens AS mapped_tokens, @prices AS prices, @best_bid AS best_bid, @best_ask AS best_ask, @last_price AS last_price,
  active, closed, accepting_orders, @liquidity AS liquidity, @reported_volume AS reported_volume,
  @created_at AS created_at, @start_at AS start_at, @end_at AS end_date, @closed_at AS closed_at,
  @game_start_at AS game_start_at, @updated_at AS updated_at,
  -- The versions of fields and of parts of the quote that are not updated_at.
  nullif('{' || concat_ws(',', nullif(rtrim(ltrim(field_versions, '{'), '}'), ''),
    CASE WHEN quote.at IS DISTINCT FROM coalesce(updated_at, 0) THEN '"best_bid":' || coalesce(quote.at::VARCHAR, 'null') END,
    CASE WHEN quote.last_at IS DISTINCT FROM coalesce(updated_at, 0) THEN '"last_price":' || coalesce(quote.last_at::VARCHAR, 'null') END,
    CASE WHEN quote.liquidity_at IS DISTINCT FROM coalesce(updated_at, 0) THEN '"liquidity":' || coalesce(quote.liquidity_at::VARCHAR, 'null') END,
    '"unquoted_at":' || unquoted_at) || '}', '{}') AS field_versions,
  -- The quote that is hidden because the market is closed or resolved.
  CASE WHEN closed IS TRUE OR payouts IS NOT NULL THEN nullif('{' || concat_ws(',', '"best_bid":"' || @quote.bid || '"', '"best_ask":"' || @quote.ask || '"',
    '"last_price":"' || @quote.last || '"', '"liquidity":"' || @quote.liquidity || '"') || '}', '{}') END AS hidden_quote
FROM markets AS m
LEFT JOIN (
  -- Mappings of tokens to outcomes from sources other than the list of the market.
  SELECT t.market, to_json(list(t.outcome || ':' || t.token_id || CASE WHEN t.derived IS NULL THEN '' ELSE ':trade' END ORDER BY t.outcome, t.token_id))::VARCHAR AS mapped
  FROM tokens AS t JOIN markets AS l ON l.market = t.market
  WHERE t.derived IS NOT TRUE AND t.outcome IS NOT NULL
    AND t.token_id IS DISTINCT FROM json_extract_string(l.token_ids, '$[' || t.outcome || ']')
  GROUP BY t.market
) AS k ON k.market = m.market
ORDER BY condition

-- name: resolutions
SELECT '0x' || lower(hex(condition)) AS condition_id, @payouts AS payouts, @payout_at AS resolved_at,
  @time_source AS resolved_at_source,
  CASE payout_source WHEN 1 THEN 'map' WHEN 2 THEN 'prices' WHEN 3 THEN 'winner' WHEN 4 THEN 'api' WHEN 5 THEN 'derived' ELSE 'chain' END AS source,
  @payout_version AS version, @payout_corrected_at AS corrected_at
FROM markets
WHERE payouts IS NOT NULL
ORDER BY condition

-- name: unit
CASE WHEN @all THEN 'C' ELSE 'F' END

-- name: degrees
(CASE unit WHEN 'C' THEN @v // 9 ELSE (@v + 16000) // 5 END)::DECIMAL(9, 0) * 0.01::DECIMAL(3, 2)

-- name: difference
(CASE unit WHEN 'C' THEN @v // 9 ELSE @v // 5 END)::DECIMAL(9, 0) * 0.01::DECIMAL(3, 2)

-- name: forecasts
SELECT city, @date_target AS target, CASE metric WHEN 0 THEN 'tmax' ELSE 'tmin' END AS metric,
  @source AS source, @issued_at AS issued_at, @run_at AS run_at, @value AS value, unit,
  @members AS members, shift
FROM (SELECT *, @unit AS unit FROM weather_issue) AS w
ORDER BY w.target, city, w.metric, w.source, w.issued_at

-- name: actuals
SELECT city, @date_day AS day, CASE metric WHEN 0 THEN 'tmax' ELSE 'tmin' END AS metric,
  CASE kind WHEN 1 THEN 'station' ELSE 'reanalysis' END AS kind, @source AS source, @station AS station,
  CASE WHEN seen_at > 0 THEN @seen_at END AS seen_at, @value AS value, unit, provisional, shift, w.value IS NULL AS withdrawn
FROM (SELECT *, @unit AS unit FROM weather_report) AS w
ORDER BY w.day, city, w.metric, w.kind, w.source, w.station, w.seen_at

-- name: observations
SELECT city, @station AS station, @source AS source, @ts AS ts, CASE report WHEN 1 THEN 'routine' WHEN 2 THEN 'special' END AS report,
  @value AS value, unit, (whole // 9)::DECIMAL(9, 0) * 0.01::DECIMAL(3, 2) AS whole,
  CASE WHEN seen_at > 0 THEN @seen_at END AS seen_at, coalesce(correction, 0) AS correction, w.value IS NULL AS withdrawn
FROM (SELECT *, @unit AS unit FROM weather_obs) AS w
ORDER BY w.ts, w.station, w.source, w.report, w.city, w.seen_at, w.value

-- name: normals
SELECT city, CASE metric WHEN 0 THEN 'tmax' ELSE 'tmin' END AS metric,
  lpad((month_day // 100)::VARCHAR, 2, '0') || '-' || lpad((month_day % 100)::VARCHAR, 2, '0') AS month_day,
  @source AS source, @station AS station, @period AS period, @value AS value, unit, @deviation AS deviation, @p10 AS p10, @p90 AS p90, years
FROM (SELECT *, @unit AS unit FROM weather_normal WHERE NOT starts_with(source, 'derived:')) AS w
ORDER BY city, w.metric, w.month_day, w.source, w.station, w.period

-- name: FillsAreFew
-- Whether DuckDB may build the hash table of a join from fills, and so lose their order.
SELECT (SELECT count(*) FROM fills) < 4 * ((SELECT count(*) FROM wallets) + (SELECT count(*) FROM tokens))
