-- Checks of published rollups without a database. Each check returns (rows examined, rows that
-- fail). p_NAME are the published tables, lake_NAME those of the lake; tables without a
-- prefix are computed from the fills of some wallets.

-- name: TokenDays
-- The days of tokens add up to the fills of each day. @days has (day, fills, usd, shares).
SELECT (SELECT count(*) FROM (VALUES @days) AS d), count(*)
FROM (SELECT day, SUM(taker_fills + maker_fills) AS fills, SUM(taker_usd + maker_usd) AS usd, SUM(taker_shares + maker_shares) AS shares FROM p_token_day GROUP BY day) AS p
FULL JOIN (VALUES @days) AS d(day, fills, usd, shares) ON d.day = p.day
WHERE (p.fills, p.usd, p.shares) IS DISTINCT FROM (d.fills, d.usd, d.shares)

-- name: WalletDays
-- The same for the days of wallets. @days has (day, fills, buys, sells, fees).
SELECT (SELECT count(*) FROM (VALUES @days) AS d), count(*)
FROM (SELECT day, SUM(fills) AS fills, SUM(buy_usd) AS buys, SUM(sell_usd) AS sells, SUM(fee_usd) AS fees FROM p_wallet_day GROUP BY day) AS p
FULL JOIN (VALUES @days) AS d(day, fills, buys, sells, fees) ON d.day = p.day
WHERE (p.fills, p.buys, p.sells, p.fees) IS DISTINCT FROM (d.fills, d.buys, d.sells, d.fees)

-- name: Grains
-- Fills and dollars of every table by wallet.
WITH grain AS (
  SELECT SUM(fills) AS fills, SUM(buy_usd) AS buys, SUM(sell_usd) AS sells FROM p_position
  UNION ALL SELECT SUM(fills), SUM(buy_usd), SUM(sell_usd) FROM p_wallet_total
  UNION ALL SELECT SUM(fills), SUM(buy_usd), SUM(sell_usd) FROM p_wallet_day
)
SELECT 3, count(DISTINCT (fills, buys, sells)) - 1 FROM grain

-- name: ZeroSum
-- In a resolved market in which both sides of every match are known and no fee was taken, the
-- profits of all wallets add up to zero. Each redemption of a fractional payout is rounded by at
-- most half a millionth.
WITH cash AS (
  SELECT t.condition_id AS market, SUM(p.sell_usd - p.buy_usd - p.fee_usd) AS cash, SUM(p.fee_usd + p.fee_shares) AS fees, count(*) AS holders
  FROM p_position AS p JOIN lake_tokens AS t ON t.token = p.token
  WHERE t.condition_id IS NOT NULL
  GROUP BY t.condition_id
),
legs AS (
  SELECT t.condition_id AS market, SUM(p.taker_shares) AS taker, SUM(p.maker_shares) AS maker
  FROM p_token_total AS p JOIN lake_tokens AS t ON t.token = p.token
  WHERE t.condition_id IS NOT NULL
  GROUP BY t.condition_id
),
candidate AS (
  SELECT r.condition_id AS market, list_contains(r.payouts, 1) AS whole, c.cash, c.holders
  FROM lake_resolutions AS r
  JOIN legs AS l ON l.market = r.condition_id
  JOIN cash AS c ON c.market = r.condition_id
  WHERE l.taker = l.maker AND c.fees = 0
),
match AS (
  SELECT t.condition_id AS market, f.transaction_hash IS NOT NULL AND count(DISTINCT f.wallet) FILTER (f.role = 'taker') = 1
    AND SUM(CASE f.role WHEN 'maker' THEN f.shares WHEN 'taker' THEN -f.shares END) = 0 AND bool_and(f.role IS NOT NULL) AS whole
  FROM all_fills AS f JOIN lake_tokens AS t ON t.token = f.token
  WHERE t.condition_id IN (SELECT market FROM candidate)
  GROUP BY t.condition_id, f.transaction_hash
),
complete AS (
  SELECT market FROM match GROUP BY market HAVING bool_and(whole)
),
paid AS (
  SELECT market, SUM(usd) AS usd FROM p_redemption GROUP BY market
)
SELECT count(*), count(*) FILTER (abs(c.cash + coalesce(p.usd, 0)) > CASE WHEN c.whole THEN 0 ELSE c.holders // 2 + 1 END)
FROM candidate AS c
JOIN complete AS w ON w.market = c.market
LEFT JOIN paid AS p ON p.market = c.market

-- name: Shards
-- Every block of days has the same fills by day and by the address of the wallet, or by the token.
WITH days AS (
  SELECT us // @length AS block, count(*) AS fills, SUM(hash(us, wallet, token, side, role, shares, usd, fee, fee_asset, transaction_hash, log_index)::HUGEINT) AS h
  FROM all_fills GROUP BY block
),
shards AS (
  SELECT us // @length AS block, count(*) AS fills, SUM(hash(us, wallet, token, side, role, shares, usd, fee, fee_asset, transaction_hash, log_index)::HUGEINT) AS h
  FROM @shards GROUP BY block
)
SELECT (SELECT count(*) FROM @shards), count(*)
FROM shards AS s LEFT JOIN days AS d ON d.block = s.block
WHERE (s.fills, s.h) IS DISTINCT FROM (d.fills, d.h)

-- name: SomeWallets
-- The rows of wallets that begin with @prefix, published and computed here.
SELECT (SELECT count(*) FROM @table), (SELECT count(*) FROM (
  (SELECT @columns FROM @table EXCEPT ALL SELECT @columns FROM p_@table WHERE starts_with(wallet, '@prefix'))
  UNION ALL
  (SELECT @columns FROM p_@table WHERE starts_with(wallet, '@prefix') EXCEPT ALL SELECT @columns FROM @table)
) AS different)

-- name: ViewOfFiles
CREATE VIEW @view AS FROM read_parquet([@files])

-- name: NoRedemptions
CREATE VIEW p_redemption AS SELECT '' AS market, 0 AS usd LIMIT 0

-- name: AllFills
-- lake_fills are then those of some wallets.
ALTER VIEW lake_fills RENAME TO all_fills

-- name: NoDataset
-- A dataset of which the lake has no file.
CREATE VIEW lake_@dataset AS SELECT @columns LIMIT 0

-- name: FillsOfWallets
CREATE TABLE lake_fills AS FROM all_fills WHERE starts_with(wallet, '@prefix')

-- name: Relation
CREATE @kind @name AS @query

-- name: NothingPublished
-- A table of which no file was published.
CREATE OR REPLACE VIEW p_@table AS FROM @table LIMIT 0

-- name: NoRows
FROM @table LIMIT 0
