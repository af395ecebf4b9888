-- The facts as a lake. A row of fills has nothing that a later import could change: the market of
-- a token, its payout and the name of a wallet are in separate datasets, to be joined.

-- name: LakeDays
-- Days, with the figures that tell whether the rows of a day are those of an earlier export:
-- their number, and the last import that any of them is from.
SELECT (seconds // 86400)::INTEGER AS day, count(*) AS fills, max(batch) AS last FROM fills WHERE @which GROUP BY day ORDER BY day

-- name: LakeSpan
-- Zone maps know seconds, and not ts.
seconds BETWEEN @from // 1000000 AND @to // 1000000 AND ts >= @from AND ts < @to

-- name: LakeCounts
-- The number of fills of each day according to the rollups; no row if these lack facts.
SELECT day, SUM(taker_fills + maker_fills)::BIGINT AS fills
FROM (FROM platform_day UNION ALL FROM platform_day_delta) AS d
WHERE NOT (SELECT stale FROM rollup_state)
GROUP BY day HAVING SUM(taker_fills + maker_fills) <> 0
ORDER BY day

-- name: LakeGained
-- The days that gained fills since an import. Few row groups have a later import, unless many
-- have a late fill.
SELECT DISTINCT (seconds // 86400)::INTEGER AS day FROM fills WHERE batch > @since

-- name: LakeHead
-- The state that is exported: the last import, a fingerprint of all imports, and the smallest
-- whale move.
SELECT coalesce(max(batch), -1), coalesce(bit_xor(hash(hash(batch, imported_at, fills)) >> 1), 0)::BIGINT, (SELECT min_usd FROM whale_rule)
FROM batches

-- name: LakeNewest
-- The newest fill of a day.
SELECT max(ts) FROM fills WHERE seconds BETWEEN @from // 1000000 AND @to // 1000000 AND ts >= @from AND ts < @to

-- name: LakeHistory
-- The same fingerprint of the imports up to an earlier one, and whether that one exists.
SELECT coalesce(bit_xor(hash(hash(batch, imported_at, fills)) >> 1), 0)::BIGINT, coalesce(max(batch), -1) FROM batches WHERE batch <= @batch

-- name: LakeSums
-- The sums of the fills of a day, in millionths.
SELECT coalesce(SUM(CASE WHEN side = 0 THEN usd END), 0)::BIGINT, coalesce(SUM(CASE WHEN side = 1 THEN usd END), 0)::BIGINT,
  coalesce(SUM(CASE WHEN side = 0 THEN shares END), 0)::BIGINT, coalesce(SUM(CASE WHEN side = 1 THEN shares END), 0)::BIGINT,
  coalesce(SUM(CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee END), 0)::BIGINT,
  coalesce(SUM(CASE WHEN side = 0 AND fee > 0 THEN fee END), 0)::BIGINT
FROM fills
WHERE seconds BETWEEN @from // 1000000 AND @to // 1000000 AND ts >= @from AND ts < @to

-- name: TableSum
-- The number of rows of a table, and a fingerprint of all of them. The hash of several columns is
-- the hash of all but the last, XOR the hash of the last. So if two rows changed in the same way
-- in their last column, the XOR of all rows would not change. Therefore each hash is hashed
-- again.
SELECT count(*), coalesce(bit_xor(hash(hash(t)) >> 1), 0)::BIGINT FROM @table AS t

-- name: lake_fills
SELECT @time f.ts AS us, '0x' || lower(hex(w.address)) AS wallet, t.token_id AS token,
  CASE f.side WHEN 0 THEN 'BUY' ELSE 'SELL' END AS side,
  CASE f.role WHEN 1 THEN 'maker' WHEN 2 THEN 'taker' END AS role,
  @shares AS shares, @usd AS usd, @fee AS fee, CASE WHEN f.side = 1 OR f.fee < 0 THEN 'usd' ELSE 'shares' END AS fee_asset,
  '0x' || lower(hex(f.tx)) AS transaction_hash, f.log_index
FROM fills AS f
JOIN wallets AS w ON w.wallet = f.wallet
JOIN tokens AS t ON t.token = f.token

-- name: FillsOfWallets
-- The fills of some days, of wallets in a range of addresses.
WHERE f.seconds BETWEEN @from // 1000000 AND @to // 1000000 AND f.ts >= @from AND f.ts < @to AND w.address BETWEEN unhex('@least') AND unhex('@most')
ORDER BY wallet, f.ts, f.tx, f.log_index, t.token_id, f.side, f.shares, f.usd, f.fee, f.repeat

-- name: FillsOfTokens
-- The fills of some days, by the last digits of the token id; shorter ids are padded with 0.
WHERE f.seconds BETWEEN @from // 1000000 AND @to // 1000000 AND f.ts >= @from AND f.ts < @to AND right('0' || t.token_id, @digits) = '@suffix'
ORDER BY token, f.ts, f.tx, f.log_index, w.address, f.side, f.shares, f.usd, f.fee, f.repeat

-- name: lake_tokens
SELECT t.token_id AS token, '0x' || lower(hex(m.condition)) AS condition_id, CASE WHEN m.market IS NOT NULL THEN t.outcome::INTEGER END AS outcome,
  @payout AS payout, @resolved_at AS resolved_at, m.resolved_at AS resolved_us,
  t.market IN (SELECT market FROM desk_market) IS TRUE AS desk,
  '0x' || lower(hex(nullif(t.named.condition, ''::BLOB))) AS named_condition, t.named.label AS outcome_label, t.derived
FROM tokens AS t
LEFT JOIN markets AS m ON m.market = t.market
ORDER BY token

-- name: lake_wallets
SELECT '0x' || lower(hex(w.address)) AS wallet, n.name AS username, @named_at AS named_at, w.address IN (@venue) IS TRUE AS venue
FROM wallets AS w
LEFT JOIN wallet_names AS n ON n.wallet = w.wallet
ORDER BY 1

-- name: lake_settings
-- What the rollups depend on in addition to the facts.
SELECT @version AS lake_version, '@method' AS method, (SELECT min_usd FROM whale_rule) AS whale_min_usd

-- name: lake_days
-- The calendar: weeks are counted from Monday 1969-12-29, months from January 1970.
SELECT day, (DATE '1970-01-01' + day)::DATE AS date, (day + 3) // 7 AS week,
  date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day)::INTEGER AS month
FROM (SELECT unnest([@days]::INTEGER[]) AS day) AS d
ORDER BY day
