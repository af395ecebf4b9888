-- Each check returns (rows examined, rows that fail); the other statements make what zero_sum_markets reads.

-- name: unique_logs
-- Equal hashes of the @nth of @chunks chunks are found first; only their few rows are compared
-- exactly. The first chunk counts all fills.
WITH logs AS (
  SELECT h FROM (SELECT hash(tx, log_index) AS h FROM fills WHERE log_index IS NOT NULL) AS l
  WHERE h % @chunks = @nth GROUP BY h HAVING count(*) > 1
),
same_log AS (
  SELECT tx, log_index FROM fills
  WHERE log_index IS NOT NULL AND hash(tx, log_index) IN (SELECT h FROM logs)
  GROUP BY tx, log_index HAVING count(*) > 1
)
SELECT (SELECT count(*) FROM fills WHERE @nth = 0), (SELECT count(*) FROM same_log)

-- name: unique_rows
-- The same for fills without a log index. Equal ones have the same time, so they are in the same
-- range of hours; @which selects one.
WITH rows AS (
  SELECT h FROM (SELECT hash(tx, ts, wallet, token, side, shares, usd, repeat) AS h FROM fills WHERE log_index IS NULL AND @which) AS f
  GROUP BY h HAVING count(*) > 1
),
same_row AS (
  SELECT tx, ts FROM fills
  WHERE log_index IS NULL AND @which AND hash(tx, ts, wallet, token, side, shares, usd, repeat) IN (SELECT h FROM rows)
  GROUP BY tx, ts, wallet, token, side, shares, usd, repeat HAVING count(*) > 1
)
SELECT 0, (SELECT count(*) FROM same_row)

-- name: unique_wallets
SELECT count(*), count(*) - count(DISTINCT address) + count(*) - count(DISTINCT wallet)
  + coalesce(max(wallet) + 1, 0) - count(*)
FROM wallets

-- name: unique_tokens
SELECT count(*), count(*) - count(DISTINCT token_id) + count(*) - count(DISTINCT token) FROM tokens

-- name: unique_markets
SELECT count(*), count(*) - count(DISTINCT condition) + count(*) - count(DISTINCT market) FROM markets

-- name: newest_quotes
-- A market shows each part of its quote as in its newest record that has the part, and nothing if
-- it is closed or resolved. Records of pages that never have a part are not considered.
SELECT count(*), count(*) FILTER (
  (best_bid, best_ask, last_price, liquidity) IS DISTINCT FROM
    CASE WHEN payouts IS NULL AND closed IS NOT TRUE THEN (quote.bid, quote.ask, quote.last, quote.liquidity)
      ELSE (NULL::BIGINT, NULL::BIGINT, NULL::BIGINT, NULL::BIGINT) END
  OR greatest(quote.at, quote.last_at, quote.liquidity_at) > coalesce(updated_at, 0)
  OR (quote.at, quote.last_at, quote.liquidity_at) IS DISTINCT FROM (updated_at, updated_at, updated_at)
    AND updated_at IS NOT NULL AND updated_at IS DISTINCT FROM unquoted_at)
FROM markets

-- name: field_versions
-- No field has a version that is newer than the newest record, or an invalid one.
SELECT count(*), count(*) FILTER (list_max(versions) > coalesce(updated_at, 0) OR list_min(versions) < -1)
FROM (SELECT updated_at, map_values(from_json(field_versions, '"MAP(VARCHAR, BIGINT)"')) AS versions FROM markets) AS m

-- name: labelled_tokens
-- An outcome that no source gives by index is the position of the token's label among the
-- outcomes of its market, if it occurs there once.
SELECT count(*), count(*) FILTER (t.derived AND (t.market, t.outcome) IS DISTINCT FROM (l.market, l.nth)
  OR t.market IS NULL AND l.market IS NOT NULL)
FROM tokens AS t
LEFT JOIN (
  SELECT market, condition, label, min(nth - 1)::TINYINT AS nth
  FROM (
    SELECT market, condition, unnest(from_json(outcomes, '["VARCHAR"]')) AS label,
      generate_subscripts(from_json(outcomes, '["VARCHAR"]'), 1) AS nth
    FROM markets
    WHERE condition IN (SELECT named.condition FROM tokens WHERE named IS NOT NULL AND (market IS NULL OR derived))
  ) AS o
  GROUP BY market, condition, label
  HAVING count(*) = 1
) AS l ON l.condition = t.named.condition AND l.label = t.named.label

-- name: fitting_payouts
SELECT count(payouts), count(*) FILTER (len(payouts) <> json_array_length(outcomes))
  + (SELECT count(*) FROM spare_payouts AS p JOIN markets AS m ON m.condition = p.condition
    WHERE m.payouts IS NULL AND len(p.payouts) = json_array_length(m.outcomes))
FROM markets

-- name: settled_logs
-- A lost fill was replaced by a fill of the same log with other contents, and no fill has a time
-- of its block that is not used any more.
SELECT (SELECT count(*) FROM lost_fills),
  (SELECT count(*) FROM lost_fills AS l ANTI JOIN fills AS f ON f.tx = l.tx AND f.log_index = l.log_index
    AND (f.ts, f.wallet, f.token, f.side, f.shares, f.usd) <> (l.ts, l.wallet, l.token, l.side, l.shares, l.usd))
  + (SELECT count(*) FROM fills AS f JOIN block_times AS t ON t.number = f.block AND t.ts = f.ts
    JOIN blocks AS b ON b.number = t.number AND b.ts < t.ts)

-- name: no_negative_spread
SELECT count(*), count(*) FILTER (best_bid > best_ask OR quote.bid > quote.ask) FROM markets

-- name: known_dimensions
SELECT (SELECT count(*) FROM position),
  (SELECT count(*) FROM (SELECT DISTINCT wallet FROM fills) AS f WHERE wallet NOT IN (SELECT wallet FROM wallets))
  + (SELECT count(*) FROM (SELECT DISTINCT token FROM fills) AS f WHERE token NOT IN (SELECT token FROM tokens))
  + (SELECT count(*) FROM tokens WHERE market IS NOT NULL AND market NOT IN (SELECT market FROM markets))

-- name: grain_sums
-- Fills and dollars of every table by wallet.
WITH grain AS (
  SELECT count(*)::HUGEINT AS fills, SUM(CASE side WHEN 0 THEN usd ELSE 0 END) AS buys,
    SUM(CASE side WHEN 1 THEN usd ELSE 0 END) AS sells
  FROM fills
  UNION ALL
  SELECT SUM(fills), SUM(buy_usd), SUM(sell_usd)
  FROM (SELECT fills, buy_usd, sell_usd FROM position UNION ALL SELECT fills, buy_usd, sell_usd FROM position_delta) AS p
  UNION ALL
  SELECT SUM(fills), SUM(buy_usd), SUM(sell_usd) FROM (FROM wallet_total UNION ALL FROM wallet_total_delta) AS p
  UNION ALL
  SELECT SUM(fills), SUM(buy_usd), SUM(sell_usd) FROM (FROM wallet_day UNION ALL FROM wallet_day_delta) AS p
)
SELECT 4, count(DISTINCT (coalesce(fills, 0), coalesce(buys, 0), coalesce(sells, 0))) - 1 FROM grain

-- name: grain_legs
-- Volume by leg of every table by token or time.
WITH grain AS (
  SELECT SUM(CASE WHEN role <> 1 THEN usd ELSE 0 END) AS taker, SUM(CASE WHEN role = 1 THEN usd ELSE 0 END) AS maker
  FROM fills
  UNION ALL
  SELECT SUM(taker_usd), SUM(maker_usd) FROM (FROM token_total UNION ALL FROM token_total_delta) AS p
  UNION ALL
  SELECT SUM(taker_usd), SUM(maker_usd) FROM (FROM token_day UNION ALL FROM token_day_delta) AS p
  UNION ALL
  SELECT SUM(taker_usd), SUM(maker_usd) FROM (FROM platform_hour UNION ALL FROM platform_hour_delta) AS p
  UNION ALL
  SELECT SUM(taker_usd), SUM(maker_usd) FROM (FROM platform_day UNION ALL FROM platform_day_delta) AS p
)
SELECT 5, count(DISTINCT (coalesce(taker, 0), coalesce(maker, 0))) - 1 FROM grain

-- name: zero_sum_markets
-- In a resolved market in which both sides of every match are known and no fee was taken, the
-- profits of all wallets add up to zero. Both sides are known if, in each transaction, at each
-- time of its fills, one taker moved as many tokens as its makers. Each redemption of a fractional
-- payout is rounded by at most half a millionth.
WITH paid AS (
  SELECT market, SUM(usd) AS usd FROM (SELECT market, usd FROM redemption UNION ALL SELECT market, usd FROM redemption_delta) AS r GROUP BY market
)
SELECT count(*), count(*) FILTER (abs(c.cash + coalesce(p.usd, 0)) >
  CASE WHEN list_contains(c.payouts, 1000000) THEN 0 ELSE c.holders // 2 + 1 END)
FROM even_market AS c
ANTI JOIN one_sided AS o ON o.market = c.market
LEFT JOIN paid AS p ON p.market = c.market

-- name: EvenMarketsEmpty
-- The resolved markets without fees in which takers traded as much as makers.
CREATE OR REPLACE TEMP TABLE even_market (market INTEGER, payouts BIGINT[], cash HUGEINT, holders BIGINT)

-- name: OneSidedEmpty
-- Those of them with a transaction of which one side is not known.
CREATE OR REPLACE TEMP TABLE one_sided (market INTEGER)

-- name: EvenMarkets
-- Rows of even_market, of the markets @which.
WITH cash AS (
  SELECT t.market, SUM(p.sell_usd - p.buy_usd - p.fee_usd) AS cash, SUM(p.fee_usd + p.fee_shares) AS fees,
    count(*) AS holders
  FROM (SELECT token, fee_shares, buy_usd, sell_usd, fee_usd FROM position
    UNION ALL SELECT token, fee_shares, buy_usd, sell_usd, fee_usd FROM position_delta) AS p
  JOIN tokens AS t ON t.token = p.token
  WHERE t.market IS NOT NULL AND @which
  GROUP BY t.market
),
legs AS (
  SELECT t.market, SUM(p.taker_shares) AS taker, SUM(p.maker_shares) AS maker
  FROM (FROM token_total UNION ALL FROM token_total_delta) AS p
  JOIN tokens AS t ON t.token = p.token
  WHERE t.market IS NOT NULL AND @which
  GROUP BY t.market
)
SELECT m.market, m.payouts, c.cash, c.holders
FROM markets AS m
JOIN legs AS l ON l.market = m.market
JOIN cash AS c ON c.market = m.market
WHERE m.payouts IS NOT NULL AND l.taker = l.maker AND c.fees = 0

-- name: OneSided
-- Rows of one_sided, from the fills of the time @when.
SELECT DISTINCT market
FROM (
  SELECT t.market,
    f.tx IS NOT NULL AND count(DISTINCT f.wallet) FILTER (f.role = 2) = 1
    AND SUM(CASE f.role WHEN 1 THEN f.shares WHEN 2 THEN -f.shares END) = 0 AND bool_and(f.role <> 0) AS whole
  FROM (FROM fills WHERE @when) AS f
  JOIN tokens AS t ON t.token = f.token
  WHERE t.market IN (SELECT market FROM even_market) AND t.market NOT IN (SELECT market FROM one_sided)
  GROUP BY t.market, f.tx, f.ts
) AS m
WHERE NOT whole

-- name: unique_forecasts
WITH alike AS (SELECT hash(city, target, metric, source, issued_at) AS h FROM weather_issue GROUP BY h HAVING count(*) > 1)
SELECT (SELECT count(*) FROM weather_issue), count(*)
FROM (
  SELECT city FROM weather_issue
  WHERE hash(city, target, metric, source, issued_at) IN (SELECT h FROM alike)
  GROUP BY city, target, metric, source, issued_at HAVING count(*) > 1
) AS twice

-- name: unique_actuals
WITH alike AS (SELECT hash(city, day, metric, kind, source, station, seen_at) AS h FROM weather_report GROUP BY h HAVING count(*) > 1)
SELECT (SELECT count(*) FROM weather_report), count(*)
FROM (
  SELECT city FROM weather_report
  WHERE hash(city, day, metric, kind, source, station, seen_at) IN (SELECT h FROM alike)
  GROUP BY city, day, metric, kind, source, station, seen_at HAVING count(*) > 1
) AS twice

-- name: unique_observations
WITH alike AS (SELECT hash(city, station, source, ts, report) AS h FROM weather_obs GROUP BY h HAVING count(*) > 1)
SELECT (SELECT count(*) FROM weather_obs), count(*)
FROM (
  SELECT city FROM weather_obs
  WHERE hash(city, station, source, ts, report) IN (SELECT h FROM alike)
  GROUP BY city, station, source, ts, report HAVING count(*) > 1
) AS twice

-- name: unique_normals
WITH alike AS (SELECT hash(city, metric, month_day, source, station, period) AS h FROM weather_normal GROUP BY h HAVING count(*) > 1)
SELECT (SELECT count(*) FROM weather_normal), count(*)
FROM (
  SELECT city FROM weather_normal
  WHERE hash(city, metric, month_day, source, station, period) IN (SELECT h FROM alike)
  GROUP BY city, metric, month_day, source, station, period HAVING count(*) > 1
) AS twice

-- name: exact_temperatures
-- Every temperature from a file has at most two decimals in one of the units.
WITH given AS (
  SELECT value FROM weather_issue
  UNION ALL SELECT unnest(members) FROM weather_issue WHERE members IS NOT NULL
  UNION ALL SELECT value FROM weather_report
  UNION ALL SELECT value FROM weather_obs
  UNION ALL SELECT value FROM weather_normal WHERE NOT starts_with(source, 'derived:')
)
SELECT count(*), count(*) FILTER (value % 9 <> 0 AND value % 5 <> 0) FROM given

-- name: derived_normals
-- Normals that are derived from a reanalysis equal those computed from it now.
WITH kept AS (
  SELECT * EXCLUDE (batch) FROM weather_normal WHERE starts_with(source, 'derived:')
),
fresh AS MATERIALIZED (
  FROM weather_derived
)
SELECT (SELECT count(*) FROM kept),
  (SELECT coalesce(SUM(abs(surplus)), 0)::BIGINT FROM (
    SELECT * EXCLUDE (once), SUM(once) AS surplus
    FROM (SELECT *, 1 AS once FROM kept UNION ALL SELECT *, -1 FROM fresh) AS both_sides
    GROUP BY ALL
  ) AS different)
