-- The facts in pmx's own canonical columns, as data/feeds/canonical reads them.

-- name: fills
SELECT @ts AS ts, '0x' || lower(hex(w.address)) AS wallet, t.token_id AS token,
  CASE f.side WHEN 0 THEN 'BUY' ELSE 'SELL' END AS side,
  @shares AS shares, @usd AS usd, @fee AS fee,
  CASE f.role WHEN 1 THEN 'maker' WHEN 2 THEN 'taker' END AS role,
  '0x' || lower(hex(f.tx)) AS tx, f.log_index,
  '0x' || lower(hex(m.condition)) AS condition, t.outcome,
  n.name
FROM fills AS f
JOIN wallets AS w ON w.wallet = f.wallet
JOIN tokens AS t ON t.token = f.token
LEFT JOIN markets AS m ON m.market = t.market
LEFT JOIN wallet_names AS n ON n.wallet = f.wallet

-- name: conditions
SELECT '0x' || lower(hex(condition)) AS condition, gamma_id, question_id, question, slug, description, resolution_source,
  group_item_title, group_item_threshold, icon, event_id, event_slug, event_title, series_slug, neg_risk,
  neg_risk_market_id, category, category_source, tags, coalesce(outcomes, '[]') AS outcomes, coalesce(token_ids, '[]') AS tokens,
  active, closed, @liquidity AS liquidity, @reported_volume AS reported_volume,
  @created_at AS created_at, @start_at AS start_at, @end_at AS end_at, @closed_at AS closed_at,
  @game_start_at AS game_start_at, @updated_at AS updated_at
FROM markets
ORDER BY condition

-- name: resolutions
SELECT '0x' || lower(hex(condition)) AS condition,
  '[' || array_to_string(list_transform(payouts, x -> '"' || (x // 1000000)::VARCHAR || '.'
    || lpad((x % 1000000)::VARCHAR, 6, '0') || '"'), ',') || ']' AS payouts,
  @payout_at AS resolved_at,
  CASE payout_source WHEN 1 THEN 'map' WHEN 2 THEN 'prices' WHEN 3 THEN 'winner' WHEN 4 THEN 'api' ELSE 'chain' END AS source,
  @payout_version AS version
FROM markets
WHERE payouts IS NOT NULL
ORDER BY condition
