-- Redemptions that no window can include, because their markets were resolved at an unknown time:
-- one for every wallet and such market that it traded in the last 720 hours, by the time of its
-- last trade in it, which determines the windows that show it.

-- name: UndatedTokens
-- Tokens of markets that were resolved at an unknown time: the touched ones, or all.
SELECT t.token FROM tokens AS t JOIN markets AS m ON m.market = t.market
WHERE m.payout_source IS NOT NULL AND m.resolved_at IS NULL@touched

-- name: UndatedHoldings
-- @held are holdings, @tokens is a list of tokens or a subquery, and @gone is the start of the
-- longest window.
SELECT k.last_ts, h.market, h.wallet, h.redemption AS usd
FROM @held AS h
JOIN (
  SELECT f.wallet, t.market, max(f.ts) AS last_ts
  FROM fills AS f JOIN tokens AS t ON t.token = f.token
  WHERE f.seconds >= @gone // 1000000 AND f.ts > @gone AND f.token IN (@tokens)
  GROUP BY f.wallet, t.market
) AS k ON k.wallet = h.wallet AND k.market = h.market
WHERE h.resolved AND h.resolved_at IS NULL

-- name: NoUndated
CREATE OR REPLACE TEMP TABLE undated_after (last_ts BIGINT, market INTEGER, wallet INTEGER, usd BIGINT)

-- name: Undated
-- The rows of base and delta that @which selects.
SELECT last_ts, market, wallet, usd, markets FROM undated WHERE @which
UNION ALL
SELECT last_ts, market, wallet, usd, markets FROM undated_delta WHERE @which

-- name: AnyUndated
SELECT count(*) > 0 FROM (@undated) AS u

-- name: Revalued
-- Rows that undated_after replaces, if any holder was valued again.
market IN (SELECT market FROM held_before WHERE resolved AND resolved_at IS NULL)

-- name: WindowsUndated
CREATE OR REPLACE TEMP TABLE w_undated AS
@parts

-- name: UndatedLeaves
SELECT @span::TINYINT AS span, wallet, -usd AS usd, -markets AS markets FROM (@undated) AS u

-- name: UndatedEnters
SELECT @span::TINYINT AS span, wallet, usd, 1 AS markets FROM undated_after WHERE last_ts > @lo

-- name: DeltaUndated
SELECT last_ts, market, wallet, SUM(usd) AS usd, SUM(markets) AS markets
FROM (
  SELECT last_ts, market, wallet, usd, 1 AS markets FROM undated_after
  UNION ALL
  SELECT last_ts, market, wallet, -usd, -markets FROM (@undated) AS u
) AS part
GROUP BY last_ts, market, wallet

-- name: RebuildUndated
SELECT last_ts, market, wallet, usd, 1 AS markets FROM undated_after
