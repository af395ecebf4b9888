-- What the snapshot in memory is loaded from, and what a merged batch changes of it.

-- name: LoadWallets
SELECT wallet, address FROM wallets WHERE wallet >= @known ORDER BY wallet

-- name: WalletCount
SELECT count(*) FROM wallets

-- name: LoadNames
SELECT wallet, name FROM wallet_names

-- name: BatchNames
SELECT wallet, name FROM n_name

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

-- name: LoadMarkets
SELECT market, condition, question, slug, event_id, event_slug, event_title, series_slug, category,
  tags, outcomes, prices, list_transform(payouts, lambda p: p::VARCHAR)::VARCHAR AS payouts,
  neg_risk, active, closed, accepting_orders, best_bid, best_ask, last_price, liquidity, reported_volume,
  created_at, start_at, end_at, closed_at, resolved_at, updated_at, resolved_at_source
FROM markets
WHERE @which
ORDER BY market

-- name: NewestBatches
SELECT coalesce(max(imported_at) FILTER (fills > 0), 0), coalesce(max(imported_at) FILTER (markets > 0), 0) FROM batches

-- name: LastBatch
SELECT coalesce(max(batch), -1) FROM batches

-- name: TokenMarkets
SELECT token, market FROM tokens ORDER BY token

-- name: BatchHolders
SELECT token, wallet FROM d_position

-- name: LoadHolders
SELECT token, wallet FROM position UNION ALL SELECT token, wallet FROM position_delta
