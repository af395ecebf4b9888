-- Distinct wallets by week and month, distinct markets by day. Weeks are counted
-- from Monday 1969-12-29, months from January 1970.

-- name: NewDayRange
SELECT coalesce(min(day), 0), coalesce(max(day), -1) FROM d_day

-- name: NewWeeksAndMonths
-- How many wallets trade in a week (span 0) or a month (span 1) for the first
-- time: of those with new days, the ones with no other day in it. @lo and @hi
-- are the first and the last day of all weeks and months in question.
CREATE OR REPLACE TEMP TABLE g_span AS
WITH either AS (
  SELECT day, wallet, true AS fresh FROM d_day
  UNION ALL
  SELECT day, wallet, false
  FROM (
    SELECT day, wallet FROM wallet_day WHERE day BETWEEN @lo AND @hi
    UNION ALL
    SELECT day, wallet FROM wallet_day_tail WHERE day BETWEEN @lo AND @hi
  ) AS k
  WHERE wallet IN (SELECT wallet FROM d_day)
),
spans AS (
  SELECT 0::TINYINT AS span, (day + 3) // 7 AS number, wallet, fresh FROM either
  UNION ALL
  SELECT 1, date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day), wallet, fresh FROM either
)
SELECT span, number::INTEGER AS number, count(*) AS wallets
FROM (SELECT span, number, wallet FROM spans GROUP BY span, number, wallet HAVING bool_and(fresh)) AS first
GROUP BY span, number

-- name: DeltaWeekWallets
SELECT number AS week, wallets FROM g_span WHERE span = 0

-- name: DeltaMonthWallets
SELECT number AS month, wallets FROM g_span WHERE span = 1

-- name: RebuildWeekWallets
SELECT ((day + 3) // 7)::INTEGER AS week, count(DISTINCT wallet) AS wallets FROM @wallet_day GROUP BY 1

-- name: RebuildMonthWallets
SELECT date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day)::INTEGER AS month, count(DISTINCT wallet) AS wallets
FROM @wallet_day
GROUP BY 1

-- name: MovedMarketTokens
-- Tokens of markets that gain or lose one: all their days are counted anew.
CREATE OR REPLACE TEMP TABLE g_token AS
WITH moved AS (
  SELECT market FROM n_token WHERE market IS NOT NULL
  UNION
  SELECT t.market FROM n_token AS n JOIN tokens AS t ON t.token = n.token WHERE t.market IS NOT NULL
)
SELECT token FROM tokens WHERE market IN (SELECT market FROM moved)
UNION
SELECT token FROM n_token

-- name: MovedDayRange
SELECT coalesce(min(first_ts) // 86400000000, 0), coalesce(max(last_ts) // 86400000000, -1)
FROM (
  SELECT token, first_ts, last_ts FROM token_total
  UNION ALL
  SELECT token, first_ts, last_ts FROM token_total_tail
) AS t
WHERE token IN (SELECT token FROM g_token)

-- name: MovedMarketDays
-- The days of those markets, @batch being fills that the days do not hold yet.
CREATE OR REPLACE TEMP TABLE @into AS
SELECT DISTINCT k.day, t.market
FROM (
  SELECT day, token FROM token_day WHERE day BETWEEN @lo AND @hi
  UNION ALL
  SELECT day, token FROM token_day_tail WHERE day BETWEEN @lo AND @hi
  UNION ALL
  SELECT (ts // 86400000000)::INTEGER, token FROM @batch
) AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IS NOT NULL AND k.token IN (SELECT token FROM g_token)

-- name: NewMarketDays
-- Days on which any other market trades for the first time. Run before the batch is added.
CREATE OR REPLACE TEMP TABLE g_day AS
WITH fresh AS (
  SELECT DISTINCT f.day, t.market
  FROM (SELECT DISTINCT (ts // 86400000000)::INTEGER AS day, token FROM n_fill) AS f
  JOIN tokens AS t ON t.token = f.token
  WHERE t.market IS NOT NULL AND f.token NOT IN (SELECT token FROM g_token)
)
SELECT day, market FROM fresh
EXCEPT
SELECT k.day, t.market
FROM (
  SELECT day, token FROM token_day WHERE day BETWEEN @firstday AND @lastday
  UNION ALL
  SELECT day, token FROM token_day_tail WHERE day BETWEEN @firstday AND @lastday
) AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IN (SELECT market FROM fresh)

-- name: DeltaDayMarkets
SELECT day, SUM(markets) AS markets
FROM (
  SELECT day, 1 AS markets FROM g_day
  UNION ALL
  SELECT day, 1 FROM g_day_after
  UNION ALL
  SELECT day, -1 FROM g_day_before
) AS part
GROUP BY day

-- name: RebuildDayMarkets
SELECT k.day, count(DISTINCT t.market) AS markets
FROM @token_day AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IS NOT NULL
GROUP BY k.day

-- name: VenueDays
SELECT DISTINCT day, wallet FROM (@days) AS d WHERE wallet IN (@wallets)

-- name: HourWallets
-- Who traded in which hour, of @fills.
SELECT DISTINCT (ts // 3600000000)::INTEGER AS hour, wallet FROM @fills WHERE ts >= @start

-- name: LongWindow
-- Volume of everything after @lo: whole days, and the rest of the day it lies in.
SELECT SUM(taker_fills)::BIGINT, SUM(taker_usd)::BIGINT, SUM(taker_shares)::BIGINT,
  SUM(maker_fills)::BIGINT, SUM(maker_usd)::BIGINT, SUM(maker_shares)::BIGINT
FROM (
  SELECT taker_fills, taker_usd, taker_shares, maker_fills, maker_usd, maker_shares FROM (@days) AS d
  WHERE day > @lo // 86400000000
  UNION ALL
  SELECT @legs FROM (SELECT 1 AS sign, role, shares, usd FROM fills
    WHERE ts > @lo AND ts < (@lo // 86400000000 + 1) * 86400000000) AS f
) AS part

-- name: LongWindowMove
-- What a batch changes of the volume after @lo, which is @hi from now on. The
-- facts hold the batch already.
SELECT taker_fills::BIGINT, taker_usd::BIGINT, taker_shares::BIGINT,
  maker_fills::BIGINT, maker_usd::BIGINT, maker_shares::BIGINT
FROM (
  SELECT @legs
  FROM (
    SELECT -1 AS sign, role, shares, usd FROM fills WHERE ts > @lo AND ts <= @hi
    UNION ALL
    SELECT sign, role, shares, usd FROM n_fill WHERE ts > @lo
  ) AS f
) AS change
