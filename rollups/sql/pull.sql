-- Inserts rollups that were computed elsewhere into a database without fills. Ids of wallets and
-- tokens are assigned here, in the order of their names. @files is a list of paths.

-- name: PulledFrom
SELECT lake, rollups, fills, pulled_at FROM pulled

-- name: PullWallets
INSERT INTO wallets
SELECT row_number() OVER (ORDER BY wallet) - 1, unhex(substr(wallet, 3)) FROM read_parquet([@files]) ORDER BY wallet

-- name: PullNames
INSERT INTO wallet_names
SELECT w.wallet, p.username, coalesce(epoch_us(p.named_at), 0)
FROM read_parquet([@files]) AS p JOIN wallets AS w ON w.address = unhex(substr(p.wallet, 3))
WHERE p.username IS NOT NULL
ORDER BY w.wallet

-- name: PullTokens
-- Tokens in the lists of the markets have ids already.
CREATE TEMP TABLE pulled_tokens AS
SELECT coalesce(t.token, (SELECT count(*) FROM tokens) + row_number() OVER (PARTITION BY t.token IS NULL ORDER BY p.token) - 1)::INTEGER AS token,
  p.token AS token_id, m.market, CASE WHEN m.market IS NOT NULL THEN p.outcome END::TINYINT AS outcome,
  CASE WHEN p.named_condition IS NOT NULL OR p.outcome_label IS NOT NULL
    THEN struct_pack(condition := coalesce(unhex(substr(p.named_condition, 3)), ''::BLOB), label := p.outcome_label) END AS named,
  p.derived, p.desk, p.condition_id IS NOT NULL AND m.market IS NULL AS lost
FROM read_parquet([@files]) AS p
LEFT JOIN tokens AS t ON t.token_id = p.token
LEFT JOIN markets AS m ON m.condition = unhex(substr(p.condition_id, 3))

-- name: PulledTokensDiffer
-- Tokens that differ from those of the lake's markets, and tokens that are on the weather desk
-- for this program but not for the one that wrote the lake, or the other way round.
SELECT (SELECT count(*) FROM pulled_tokens WHERE lost) + (SELECT count(*) FROM tokens WHERE token NOT IN (SELECT token FROM pulled_tokens)),
  (SELECT count(*) FROM pulled_tokens WHERE desk IS DISTINCT FROM (market IN (SELECT market FROM desk_market) IS TRUE))

-- name: PullMappings
INSERT INTO tokens (token, token_id, market, outcome, named, derived)
SELECT token, token_id, market, outcome, named, derived FROM pulled_tokens ORDER BY token

-- name: ForgetTokens
DELETE FROM tokens

-- name: PulledRows
-- The rows of published files.
FROM read_parquet([@files], hive_partitioning = false)

-- name: PulledCount
SELECT count(*) FROM read_parquet([@files])

-- name: PullRollup
INSERT INTO @table SELECT @stored FROM (@rows) AS r ORDER BY @order

-- name: PullPositions
-- Positions a second time, by wallet, with the times of the first and the last fill.
INSERT INTO pulled_position
SELECT w.wallet, t.token, p.fills, p.buy_shares, p.sell_shares, p.fee_shares, p.buy_usd, p.sell_usd, p.fee_usd, p.first_ts, p.last_ts
FROM read_parquet([@files]) AS p
LEFT JOIN wallets AS w ON w.address = unhex(substr(p.wallet, 3))
LEFT JOIN tokens AS t ON t.token_id = p.token
ORDER BY w.wallet, t.token

-- name: PullFills
-- The fills of some files, of the requested ranges of time.
INSERT INTO pulled_fill
SELECT f.us, w.wallet, t.token, CASE f.role WHEN 'maker' THEN 1 WHEN 'taker' THEN 2 ELSE 0 END, (f.shares::DECIMAL(24, 6) * 1000000)::BIGINT,
  (f.usd::DECIMAL(24, 6) * 1000000)::BIGINT
FROM (FROM read_parquet([@files], hive_partitioning = false) WHERE @which) AS f
LEFT JOIN wallets AS w ON w.address = unhex(substr(f.wallet, 3))
LEFT JOIN tokens AS t ON t.token_id = f.token
ORDER BY f.us, t.token, w.wallet

-- name: PullDone
UPDATE rollup_state SET as_of = @asof, stale = false, epoch = epoch + 1

-- name: PullWhale
UPDATE whale_rule SET min_usd = @min

-- name: PullRecord
INSERT INTO pulled VALUES ('@lake', '@rollups', @count, @made)

-- name: PullLog
-- The line of the import log that says when the last fills were imported.
INSERT INTO batches
SELECT coalesce(max(batch), -1) + 1, 'rollups @rollups', 'pull', @made, (SELECT min(first_ts) FROM token_total), @asof, @count, 0, '{}' FROM batches

-- name: VerifyPulled
-- The number of all fills according to the record of the pull and to each rollup: how many give
-- it, and how many give another number.
WITH said AS (
  SELECT fills FROM pulled
  UNION ALL SELECT SUM(fills) FROM position
  UNION ALL SELECT SUM(fills) FROM pulled_position
  UNION ALL SELECT SUM(fills) FROM wallet_day
  UNION ALL SELECT SUM(fills) FROM wallet_total
  UNION ALL SELECT SUM(taker_fills + maker_fills) FROM token_day
  UNION ALL SELECT SUM(taker_fills + maker_fills) FROM token_total
  UNION ALL SELECT SUM(taker_fills + maker_fills) FROM platform_hour
  UNION ALL SELECT SUM(taker_fills + maker_fills) FROM platform_day
)
SELECT count(*), count(*) FILTER (fills IS DISTINCT FROM (SELECT fills FROM pulled)) FROM said

-- name: VerifyPulledDays
-- Days on which the dollars traded by wallets and by tokens differ.
SELECT count(*), count(*) FILTER (w.usd IS DISTINCT FROM t.usd)
FROM (SELECT day, SUM(buy_usd + sell_usd) AS usd FROM wallet_day GROUP BY day) AS w
FULL JOIN (SELECT day, SUM(taker_usd + maker_usd) AS usd FROM token_day GROUP BY day) AS t ON t.day = w.day

-- name: VerifyPulledFacts
SELECT count(*) FROM fills
