-- Distinct wallets by week and month, distinct markets by day. Weeks are counted
-- from Monday 1969-12-29, months from January 1970.

-- name: LastDaysOfWallets
SELECT wallet AS id, max(last_ts) // 86400000000 AS day
FROM (SELECT wallet, last_ts FROM wallet_total UNION ALL SELECT wallet, last_ts FROM wallet_total_delta) AS w
WHERE last_ts IS NOT NULL
GROUP BY wallet

-- name: LastDaysOfMarkets
SELECT t.market AS id, max(k.last_ts) // 86400000000 AS day
FROM (SELECT token, last_ts FROM token_total UNION ALL SELECT token, last_ts FROM token_total_delta) AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IS NOT NULL AND k.last_ts IS NOT NULL
GROUP BY t.market

-- name: DaysEmpty
CREATE OR REPLACE TEMP TABLE @into (day INTEGER, id INTEGER)

-- name: MarketDays
SELECT day, market AS id FROM @days

-- name: FreshDays
SELECT day, wallet AS id FROM d_day

-- name: DayRange
SELECT coalesce(min(day), 0), coalesce(max(day), -1) FROM @days

-- name: SpansEmpty
CREATE OR REPLACE TEMP TABLE g_span (span TINYINT, number INTEGER, wallets INTEGER)

-- name: ChangesEmpty
CREATE OR REPLACE TEMP TABLE g_change (day INTEGER, markets INTEGER)

-- name: NewWeeksAndMonths
-- How many wallets trade in a week (span 0) or a month (span 1) for the first time: of those with
-- the new @days, the ones with no other day in it. @lo and @hi are the first and the last day of
-- all weeks and months of the batch.
INSERT INTO g_span
WITH either AS (
  SELECT day, wallet, true AS fresh FROM @days
  UNION ALL
  SELECT day, wallet, false
  FROM (
    SELECT day, wallet FROM wallet_day WHERE day BETWEEN @lo AND @hi
    UNION ALL
    SELECT day, wallet FROM wallet_day_delta WHERE day BETWEEN @lo AND @hi
  ) AS k
  WHERE wallet IN (SELECT wallet FROM @days)
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
SELECT number AS week, SUM(wallets) AS wallets FROM g_span WHERE span = 0 GROUP BY number

-- name: DeltaMonthWallets
SELECT number AS month, SUM(wallets) AS wallets FROM g_span WHERE span = 1 GROUP BY number

-- name: RebuildWeekWallets
SELECT ((day + 3) // 7)::INTEGER AS week, count(DISTINCT wallet) AS wallets FROM @wallet_day WHERE @indays GROUP BY 1

-- name: RebuildMonthWallets
SELECT date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day)::INTEGER AS month, count(DISTINCT wallet) AS wallets
FROM @wallet_day
WHERE @indays
GROUP BY 1

-- name: MovedMarketTokens
-- Tokens of markets that gain or lose a token: all days of these markets are counted again.
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
  SELECT token, first_ts, last_ts FROM token_total_delta
) AS t
WHERE token IN (SELECT token FROM g_token)

-- name: MovedMarketDays
-- The days of those markets. @batch are fills that the days do not include yet.
CREATE OR REPLACE TEMP TABLE @into AS
SELECT DISTINCT k.day, t.market
FROM (
  SELECT day, token FROM token_day WHERE day BETWEEN @lo AND @hi
  UNION ALL
  SELECT day, token FROM token_day_delta WHERE day BETWEEN @lo AND @hi
  UNION ALL
  SELECT (ts // 86400000000)::INTEGER, token FROM @batch
) AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IS NOT NULL AND k.token IN (SELECT token FROM g_token)

-- name: MovedChange
INSERT INTO g_change SELECT day, @sign FROM @moved

-- name: MovedLastDays
SELECT market AS id, max(day) AS day FROM @moved GROUP BY market

-- name: BatchMarketDays
-- On which days the batch trades which markets, except for those with @moved tokens.
SELECT DISTINCT f.day, t.market
FROM (SELECT DISTINCT (ts // 86400000000)::INTEGER AS day, token FROM n_fill) AS f
JOIN n_traded AS t ON t.token = f.token
WHERE t.market IS NOT NULL@moved

-- name: NotMoved
 AND f.token NOT IN (SELECT token FROM g_token)

-- name: NewMarketDays
-- Of @days and markets, those on which the market trades for the first time. Runs before the
-- batch is added.
INSERT INTO g_change
SELECT day, 1
FROM (
  SELECT day, market FROM @days
  EXCEPT
  SELECT k.day, t.market
  FROM (
    SELECT day, token FROM token_day WHERE day BETWEEN @lo AND @hi
    UNION ALL
    SELECT day, token FROM token_day_delta WHERE day BETWEEN @lo AND @hi
  ) AS k
  JOIN tokens AS t ON t.token = k.token
  WHERE t.market IN (SELECT market FROM @days)
) AS first

-- name: DeltaDayMarkets
SELECT day, SUM(markets) AS markets FROM g_change GROUP BY day

-- name: RebuildDayMarkets
SELECT k.day, count(DISTINCT t.market) AS markets
FROM @token_day AS k
JOIN tokens AS t ON t.token = k.token
WHERE t.market IS NOT NULL
GROUP BY k.day

-- name: VenueDays
SELECT DISTINCT day, wallet FROM (@days) AS d WHERE wallet IN (@wallets)

-- name: HourWallets
-- The wallets and hours of @fills.
SELECT DISTINCT (ts // 3600000000)::INTEGER AS hour, wallet FROM @fills AS f WHERE ts >= @start

-- name: LongWindow
-- All volume after @lo: whole days, and the rest of the day of @lo.
SELECT @nth AS nth, coalesce(SUM(taker_fills), 0)::BIGINT AS taker_fills, coalesce(SUM(taker_usd), 0)::BIGINT AS taker_usd,
  coalesce(SUM(taker_shares), 0)::BIGINT AS taker_shares, coalesce(SUM(maker_fills), 0)::BIGINT AS maker_fills,
  coalesce(SUM(maker_usd), 0)::BIGINT AS maker_usd, coalesce(SUM(maker_shares), 0)::BIGINT AS maker_shares
FROM (
  SELECT taker_fills, taker_usd, taker_shares, maker_fills, maker_usd, maker_shares FROM (@days) AS d
  WHERE day > @lo // 86400000000
  UNION ALL
  SELECT @legs FROM (SELECT 1 AS sign, role, shares, usd FROM @fills AS f
    WHERE ts > @lo AND ts < (@lo // 86400000000 + 1) * 86400000000) AS f
) AS part

-- name: LongWindowMove
-- The signed fills by which a batch changes the volume after @lo, which becomes @hi. The facts
-- already include the batch.
SELECT @nth AS nth, -1 AS sign, role, shares, usd FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts > @lo AND ts <= @hi
UNION ALL
SELECT @nth, sign, role, shares, usd FROM n_fill WHERE ts > @lo

-- name: LongWindowMoves
SELECT nth, taker_fills::BIGINT AS taker_fills, taker_usd::BIGINT AS taker_usd, taker_shares::BIGINT AS taker_shares,
  maker_fills::BIGINT AS maker_fills, maker_usd::BIGINT AS maker_usd, maker_shares::BIGINT AS maker_shares
FROM (SELECT nth, @legs FROM (@rows) AS f GROUP BY nth) AS change
