-- What the snapshot in memory is loaded from, and how a merged batch changes it.

-- name: AllFills
-- Those of the facts from a time on (zone maps know seconds, and not ts); or, if the facts are elsewhere, as many as
-- are requested.
(SELECT ts, wallet, token, role, shares, usd FROM fills WHERE seconds >= @from // 1000000
UNION ALL SELECT ts, wallet, token, role, shares, usd FROM pulled_fill)

-- name: LoadWallets
-- In the order in which they are stored, which is that of their ids unless DuckDB reads them in
-- another one. Sorting them takes three times as long as reading them.
SELECT wallet, address FROM wallets WHERE wallet >= @known

-- name: LaterWallets
SELECT wallet, address FROM wallets WHERE wallet >= @known ORDER BY wallet

-- name: WalletCount
SELECT count(*) FROM wallets

-- name: LoadNames
SELECT wallet, name FROM wallet_names

-- name: BatchNames
SELECT wallet, name FROM n_name

-- name: TokensEnd
-- The id after the last one.
SELECT coalesce(max(token), -1) + 1 FROM tokens

-- name: ReadTokens
-- In any order, as those of wallets.
SELECT t.token, coalesce(t.market, -1) AS market, CASE WHEN t.market IS NULL THEN 0 ELSE t.outcome END AS outcome, t.token_id,
  t.named.label AS label
FROM tokens AS t
WHERE t.token >= @from AND t.token < @to

-- name: LoadTokens
SELECT t.token, coalesce(t.market, -1) AS market, CASE WHEN t.market IS NULL THEN 0 ELSE t.outcome END AS outcome, t.token_id,
  t.named.label AS label
FROM tokens AS t
WHERE t.token >= @known
ORDER BY t.token

-- name: BatchTokens
SELECT t.token, coalesce(t.market, -1) AS market, CASE WHEN t.market IS NULL THEN 0 ELSE t.outcome END AS outcome, t.token_id,
  t.named.label AS label
FROM tokens AS t
WHERE t.token IN (SELECT token FROM n_token UNION ALL SELECT token FROM n_label)

-- name: ChangedMarkets
SELECT count(*) FROM n_market

-- name: BatchKinds
-- Which kinds of facts the batch has. Counting them takes twice as long.
(SELECT 'markets' AS kind FROM n_market LIMIT 1)
UNION ALL (SELECT 'mappings' FROM n_token LIMIT 1)
UNION ALL (SELECT 'labels' FROM n_label LIMIT 1)
UNION ALL (SELECT 'names' FROM n_name LIMIT 1)
UNION ALL (SELECT 'payouts' FROM n_payout LIMIT 1)
UNION ALL (SELECT 'weather' FROM n_issue LIMIT 1)
UNION ALL (SELECT 'weather' FROM n_report LIMIT 1)
UNION ALL (SELECT 'weather' FROM n_obs LIMIT 1)
UNION ALL (SELECT 'weather' FROM n_normal LIMIT 1)

-- name: LoadMarkets
-- In any order: the reader sorts what it builds from these rows, which is less. The quote of an
-- open market is that of the order book if it is later than that of the market's record.
SELECT market, condition, question, slug, event_id, event_slug, event_title, series_slug, category,
  tags, outcomes, prices, list_transform(payouts, lambda p: p::VARCHAR)::VARCHAR AS payouts,
  neg_risk, active, closed, accepting_orders,
  CASE WHEN told.ts IS NULL THEN best_bid ELSE told.bid END AS best_bid, CASE WHEN told.ts IS NULL THEN best_ask ELSE told.ask END AS best_ask,
  coalesce(told."last", last_price) AS last_price, coalesce(told.ts, updated_at) AS quoted_at, liquidity, reported_volume,
  created_at, start_at, end_at, closed_at, resolved_at, updated_at, resolved_at_source
FROM markets
LEFT JOIN (SELECT market AS quoted, ts, bid, ask, last_price AS "last" FROM live_quote) AS told
  ON told.quoted = market AND payouts IS NULL AND closed IS NOT TRUE AND told.ts > coalesce(quote."at", updated_at, 0)
WHERE @which

-- name: NewestBatches
SELECT coalesce(max(imported_at) FILTER (fills > 0), 0), coalesce(max(imported_at) FILTER (markets > 0), 0) FROM batches

-- name: LastBatch
-- Of the imports from one on: the log has a line for each commit of a followed source, so it is
-- not read as a whole each time.
SELECT coalesce(max(batch), -1) FROM batches WHERE batch >= @from

-- name: TokenMarkets
SELECT token, coalesce(market, -1) AS market FROM tokens ORDER BY token

-- name: BatchHolders
SELECT token, wallet FROM d_position

-- name: LoadHolders
SELECT token, wallet FROM position UNION ALL SELECT token, wallet FROM position_delta
