-- The tables of rival.sql, column for column, in ClickHouse's dialect. desk_market is an input,
-- as in rival.sql.

-- name: create_facts
CREATE TABLE @table (@columns) ENGINE = MergeTree ORDER BY @order

-- name: copy_facts
INSERT INTO @table SELECT * FROM file('@file', Parquet, '@columns')

-- name: derive
CREATE TABLE @table ENGINE = MergeTree ORDER BY (@keys) SETTINGS allow_nullable_key = 1 AS @query

-- name: table_sums
SELECT arrayStringConcat([@sums], ' ') FROM @table

-- name: price
CREATE FUNCTION price AS (usd, shares) -> if(usd < 2000000000000 AND shares < 4000000000000000000,
  least(intDiv(usd * 2000000 + shares, 2 * shares), 1000000), toInt64(least(intDiv(toInt128(usd) * 2000000 + shares, 2 * toInt128(shares)), 1000000)))

-- name: place
CREATE FUNCTION place AS (ts, log_index, price) -> toInt128(ts) * 4503599627370496 + ((ifNull(log_index, -1) + 1) * 1048576 + price)

-- name: index_ratio
CREATE FUNCTION index_ratio AS (last, base, windows) -> if(windows >= 7 AND base > 0,
  toNullable(toInt64(least(intDiv(2 * toInt128(last) * 100000000 * windows + base, 2 * toInt128(greatest(base, 1))), 1000000000))), NULL)

-- name: index_log
CREATE FUNCTION index_log AS (value) -> log(toFloat64(if(value < 1000000, 1000000, value)))

-- name: legs
countIf(role <> 1) AS taker_fills, sumIf(usd, role <> 1) AS taker_usd, sumIf(shares, role <> 1) AS taker_shares,
  countIf(role = 1) AS maker_fills, sumIf(usd, role = 1) AS maker_usd, sumIf(shares, role = 1) AS maker_shares

-- name: weather_lead
SELECT i.city AS city, i.source AS source, i.metric AS metric, i.target AS target, i.target - c.day AS lead_day, argMax(i.value, i.issued_at) AS value,
  max(i.issued_at) AS issued_at
FROM weather_issue AS i ASOF JOIN calendar AS c ON i.city = c.city AND i.issued_at >= c.starts
WHERE i.target > c.day OR i.target = c.day AND i.issued_at < c.noon
GROUP BY i.city, i.source, i.metric, i.target, i.target - c.day

-- name: position
SELECT token, wallet, count() AS fills, sumIf(shares, side = 0) AS buy_shares, sumIf(shares, side = 1) AS sell_shares,
  sumIf(greatest(fee, 0), side = 0) AS fee_shares, sumIf(usd, side = 0) AS buy_usd, sumIf(usd, side = 1) AS sell_usd,
  sum(if(side = 1, fee, greatest(-fee, 0))) AS fee_usd
FROM fills GROUP BY token, wallet

-- name: wallet_day
SELECT intDiv(ts, 86400000000) AS day, wallet, count() AS fills, sumIf(usd, side = 0) AS buy_usd, sumIf(usd, side = 1) AS sell_usd,
  sum(if(side = 1, fee, greatest(-fee, 0))) AS fee_usd
FROM fills GROUP BY day, wallet

-- name: token_day
SELECT intDiv(ts, 86400000000) AS day, token, @legs FROM fills GROUP BY day, token

-- name: token_total
SELECT token, @legs, min(ts) AS first_ts, max(ts) AS last_ts FROM fills GROUP BY token

-- name: platform_hour
SELECT intDiv(ts, 3600000000) AS hour, @legs FROM fills GROUP BY hour

-- name: platform_day
SELECT t.*, w.active_wallets AS active_wallets
FROM (
  SELECT day, sum(taker_fills) AS taker_fills, sum(taker_usd) AS taker_usd, sum(taker_shares) AS taker_shares,
    sum(maker_fills) AS maker_fills, sum(maker_usd) AS maker_usd, sum(maker_shares) AS maker_shares
  FROM token_day GROUP BY day
) AS t
JOIN (SELECT day, count() AS active_wallets FROM wallet_day GROUP BY day) AS w USING (day)

-- name: held
SELECT wallet, market, any(resolved_at) AS resolved_at, max(payout IS NOT NULL) AS resolved, sum(fills) AS fills, sum(cash) AS cash,
  countIf(shares < 0 AND payout IS NOT NULL) AS negative_legs,
  sumIf(shares, payout = 1000000) + toInt64(round(ifNull(sumIf(toFloat64(shares) * payout, payout <> 0 AND payout <> 1000000), 0) / 1000000)) AS redemption
FROM (
  SELECT h.wallet AS wallet, t.market AS market, m.resolved_at AS resolved_at, h.fills AS fills, h.sell_usd - h.buy_usd - h.fee_usd AS cash,
    h.buy_shares - h.sell_shares - h.fee_shares AS shares,
    if(length(m.payouts) > ifNull(t.outcome, 127), toNullable(m.payouts[ifNull(t.outcome, 0) + 1]), NULL) AS payout
  FROM position AS h JOIN tokens AS t ON t.token = h.token LEFT JOIN markets AS m ON m.market = t.market
) AS leg
GROUP BY wallet, market

-- name: market_wallets
SELECT market, count() AS wallets FROM held WHERE market IS NOT NULL GROUP BY market

-- name: redemption
SELECT ifNull(resolved_at, 0) AS resolved_at, market, wallet, redemption AS usd FROM held WHERE resolved AND redemption <> 0

-- name: undated
SELECT k.last_ts AS last_ts, h.market AS market, h.wallet AS wallet, h.redemption AS usd, 1 AS markets
FROM held AS h
JOIN (
  SELECT f.wallet AS wallet, t.market AS market, max(f.ts) AS last_ts
  FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN markets AS m ON m.market = t.market
  WHERE f.ts > @asof - 2592000000000 AND length(m.payouts) > 0 AND m.resolved_at IS NULL
  GROUP BY f.wallet, t.market
) AS k ON k.wallet = h.wallet AND k.market = h.market
WHERE h.resolved AND h.resolved_at IS NULL

-- name: wallet_total
SELECT f.wallet AS wallet, f.fills AS fills, f.maker_fills AS maker_fills, f.taker_fills AS taker_fills, d.buy_usd AS buy_usd,
  d.sell_usd AS sell_usd, d.fee_usd AS fee_usd, d.days AS days, h.markets AS markets, h.resolved_markets AS resolved_markets,
  h.winning_markets AS winning_markets, h.negative_legs AS negative_legs, h.unmapped_fills AS unmapped_fills, h.redemption AS redemption,
  h.unresolved_cash AS unresolved_cash, f.first_ts AS first_ts, f.last_ts AS last_ts
FROM (
  SELECT wallet, count() AS fills, countIf(role = 1) AS maker_fills, countIf(role = 2) AS taker_fills, min(ts) AS first_ts, max(ts) AS last_ts
  FROM fills GROUP BY wallet
) AS f
JOIN (
  SELECT wallet, sum(buy_usd) AS buy_usd, sum(sell_usd) AS sell_usd, sum(fee_usd) AS fee_usd, count() AS days FROM wallet_day GROUP BY wallet
) AS d ON d.wallet = f.wallet
JOIN (
  SELECT wallet, count(market) AS markets, countIf(resolved) AS resolved_markets, countIf(resolved AND cash + redemption > 0) AS winning_markets,
    sum(negative_legs) AS negative_legs, sumIf(fills, market IS NULL) AS unmapped_fills, sum(redemption) AS redemption,
    sumIf(cash, NOT resolved) AS unresolved_cash
  FROM held GROUP BY wallet
) AS h ON h.wallet = f.wallet

-- name: wallet_window
SELECT wallet, span, sum(fills) AS fills, sum(buy_usd) AS buy_usd, sum(sell_usd) AS sell_usd, sum(fee_usd) AS fee_usd,
  sum(redemption) AS redemption, sum(undated) AS undated, sum(undated_markets) AS undated_markets
FROM (
  SELECT wallet, arrayJoin(@spans) AS span, 1 AS fills, if(side = 0, usd, 0) AS buy_usd, if(side = 1, usd, 0) AS sell_usd,
    if(side = 1, fee, greatest(-fee, 0)) AS fee_usd, 0 AS redemption, 0 AS undated, 0 AS undated_markets
  FROM (SELECT *, ts AS at FROM fills WHERE ts > @asof - 2592000000000)
  UNION ALL
  SELECT wallet, arrayJoin(@spans), 0, 0, 0, 0, usd, 0, 0 FROM (SELECT *, resolved_at AS at FROM redemption WHERE resolved_at <= @asof)
  UNION ALL
  SELECT wallet, arrayJoin(@spans), 0, 0, 0, 0, 0, usd, markets FROM (SELECT *, last_ts AS at FROM undated)
) AS part
GROUP BY wallet, span

-- name: spans
-- The windows of 24, 168 and 720 hours that a time is in.
arrayFilter((span, lo) -> at > lo, [0, 1, 2], [@asof - 86400000000, @asof - 604800000000, @asof - 2592000000000])

-- name: token_window
SELECT token, span, @legs
FROM (SELECT *, arrayJoin(@spans) AS span FROM (SELECT *, ts AS at FROM fills WHERE ts > @asof - 2592000000000)) AS recent
GROUP BY token, span

-- name: token_price
SELECT token, max(place) AS last, maxOrNullIf(place, ts <= @asof - 86400000000) AS day_ago
FROM (SELECT token, ts, place(ts, log_index, price(usd, shares)) AS place FROM fills WHERE shares > 0) AS traded
GROUP BY token

-- name: candle
SELECT token, hour, count() AS fills, sum(usd) AS usd, sum(shares) AS shares, maxOrNullIf(-place, priced) AS opened,
  maxOrNullIf(price, priced) AS highest, maxOrNullIf(-price, priced) AS lowest, maxOrNullIf(place, priced) AS closed
FROM (
  SELECT token, hour, usd, shares, priced, price, place(ts, log_index, price) AS place
  FROM (
    SELECT token, ts, log_index, intDiv(ts, 3600000000) AS hour, usd, shares, shares > 0 AS priced, price(usd, greatest(shares, 1)) AS price
    FROM fills WHERE role <> 1
  ) AS taken
) AS traded
GROUP BY token, hour

-- name: event
SELECT p.market AS market, min(p.market) OVER (PARTITION BY p.slug IS NULL, p.name) AS event
FROM (
  SELECT m.market AS market, coalesce(nullIf(m.event_slug, ''), c.slug) AS slug, coalesce(nullIf(m.event_slug, ''), c.slug, nullIf(m.event_id, '')) AS name
  FROM markets AS m LEFT JOIN (SELECT event_id AS id, min(nullIf(event_slug, '')) AS slug FROM markets WHERE event_id <> '' GROUP BY event_id) AS c ON c.id = m.event_id
) AS p
WHERE p.name IS NOT NULL

-- name: event_wallets
SELECT market, count() AS wallets
FROM (SELECT min(h.market) AS market FROM held AS h JOIN event AS e ON e.market = h.market GROUP BY h.wallet, e.event) AS first
GROUP BY market

-- name: week_wallets
SELECT intDiv(day + 3, 7) AS week, uniqExact(wallet) AS wallets FROM wallet_day GROUP BY week

-- name: month_wallets
SELECT dateDiff('month', toDate('1970-01-01'), toDate('1970-01-01') + day) AS month, uniqExact(wallet) AS wallets FROM wallet_day GROUP BY month

-- name: day_markets
SELECT k.day AS day, uniqExact(t.market) AS markets
FROM token_day AS k JOIN tokens AS t ON t.token = k.token WHERE t.market IS NOT NULL GROUP BY k.day

-- name: whale_move
SELECT ts, wallet, token, side, tx, count() AS fills, sum(shares) AS shares, sum(usd) AS usd
FROM fills WHERE role <> 1
GROUP BY ts, wallet, token, side, tx HAVING sum(usd) >= @whale

-- name: index_flow
SELECT bucket, sum(fills) AS fills, sum(taker_usd) AS taker_usd, sum(whale_usd) AS whale_usd, sum(politics_usd) AS politics_usd,
  sum(crypto_usd) AS crypto_usd, sum(first_usd) AS first_usd, sum(mapped_usd) AS mapped_usd
FROM (
  SELECT intDiv(f.ts + 299999999, 300000000) AS bucket, toInt64(count()) AS fills, sum(f.usd) AS taker_usd, 0 AS whale_usd,
    sumIf(f.usd, m.category = 'politics') AS politics_usd, sumIf(f.usd, m.category = 'crypto') AS crypto_usd,
    sumIf(f.usd, t.market IS NOT NULL AND (t.outcome = 0) = (f.side = 0)) AS first_usd, sumIf(f.usd, t.market IS NOT NULL) AS mapped_usd
  FROM fills AS f JOIN tokens AS t ON t.token = f.token LEFT JOIN markets AS m ON m.market = t.market
  WHERE f.role <> 1
  GROUP BY bucket
  UNION ALL
  SELECT intDiv(ts + 299999999, 300000000) AS bucket, 0, 0, sum(usd), 0, 0, 0, 0 FROM whale_move GROUP BY bucket
) AS part
GROUP BY bucket

-- name: index_snapshot
WITH flow AS (
  SELECT b.bucket AS bucket, f.fills AS fills, f.taker_usd AS taker_usd, f.whale_usd AS whale_usd, f.politics_usd AS politics_usd,
    f.crypto_usd AS crypto_usd, f.first_usd AS first_usd, f.mapped_usd AS mapped_usd
  FROM (SELECT arrayJoin(range(assumeNotNull((SELECT toUInt32(min(bucket)) FROM index_flow)), toUInt32(intDiv(@asof, 300000000) + 1))) AS bucket) AS b
  LEFT JOIN index_flow AS f ON f.bucket = b.bucket
),
running AS (
  SELECT bucket, toInt64(ifNull(sum(fills) OVER upto, 0)) AS fills, ifNull(sum(taker_usd) OVER upto, 0) AS volume,
    ifNull(sum(whale_usd) OVER upto, 0) AS whale, ifNull(sum(politics_usd) OVER upto, 0) AS politics,
    ifNull(sum(crypto_usd) OVER upto, 0) AS crypto, ifNull(sum(first_usd) OVER upto, 0) AS first, ifNull(sum(mapped_usd) OVER upto, 0) AS mapped
  FROM flow
  WINDOW upto AS (ORDER BY bucket ROWS UNBOUNDED PRECEDING)
),
summed AS (
  SELECT bucket, fills - lagInFrame(fills, 288, 0) OVER past AS day_fills,
    volume - lagInFrame(volume, 288, 0) OVER past AS volume_24h, lagInFrame(volume, 288, 0) OVER past - lagInFrame(volume, 8928, 0) OVER past AS volume_base,
    whale - lagInFrame(whale, 288, 0) OVER past AS whale_24h, lagInFrame(whale, 288, 0) OVER past - lagInFrame(whale, 8928, 0) OVER past AS whale_base,
    politics - lagInFrame(politics, 288, 0) OVER past AS politics_24h, lagInFrame(politics, 288, 0) OVER past - lagInFrame(politics, 8928, 0) OVER past AS politics_base,
    crypto - lagInFrame(crypto, 288, 0) OVER past AS crypto_24h, lagInFrame(crypto, 288, 0) OVER past - lagInFrame(crypto, 8928, 0) OVER past AS crypto_base,
    first - lagInFrame(first, 288, 0) OVER past AS first_24h, mapped - lagInFrame(mapped, 288, 0) OVER past AS mapped_24h
  FROM running
  WINDOW past AS (ORDER BY bucket ROWS UNBOUNDED PRECEDING)
),
counted AS (
  SELECT *, toInt64(sum(day_fills > 0) OVER (PARTITION BY bucket % 288 ORDER BY bucket ROWS BETWEEN 30 PRECEDING AND 1 PRECEDING)) AS windows
  FROM summed
),
ratio AS (
  SELECT *, index_ratio(volume_24h, volume_base, windows) AS volume, index_ratio(whale_24h, whale_base, windows) AS whale,
    index_ratio(politics_24h, politics_base, windows) AS politics, index_ratio(crypto_24h, crypto_base, windows) AS crypto,
    if(mapped_24h > 0, toNullable(toInt64(intDiv(toInt128(first_24h) * 400000000 + mapped_24h, 2 * toInt128(greatest(mapped_24h, 1))))), NULL) AS sentiment
  FROM counted
  WHERE bucket % 12 = 0 OR bucket > intDiv(@asof, 300000000) - 25920
)
SELECT bucket, toInt64(round(exp((3 * ifNull(index_log(volume), 0) + 2 * ifNull(index_log(whale), 0) + 2 * ifNull(index_log(politics), 0)
    + 2 * ifNull(index_log(crypto), 0) + ifNull(index_log(sentiment), 0))
  / nullIf(3 * (volume IS NOT NULL) + 2 * (whale IS NOT NULL) + 2 * (politics IS NOT NULL) + 2 * (crypto IS NOT NULL) + (sentiment IS NOT NULL), 0)))) AS composite,
  volume, whale, politics, crypto, sentiment, windows, volume_24h, volume_base, whale_24h, whale_base, politics_24h, politics_base,
  crypto_24h, crypto_base, first_24h, mapped_24h
FROM ratio

-- name: oracle_bin
WITH paying AS (
  SELECT t.token AS token, t.market AS market, m.payouts[ifNull(t.outcome, 0) + 1] AS payout
  FROM tokens AS t JOIN markets AS m ON m.market = t.market
  WHERE length(m.payouts) > 0
),
traded AS (
  SELECT k.token AS token, k.payout AS payout,
    if(v.taker_shares > 0, price(v.taker_usd, greatest(v.taker_shares, 1)), price(v.maker_usd, greatest(v.maker_shares, 1))) AS price
  FROM token_total AS v JOIN paying AS k ON k.token = v.token
),
forecast AS (
  SELECT h.wallet AS wallet, k.payout AS payout, k.price AS price, h.buy_usd AS buy_usd, price(h.buy_usd, h.buy_shares) AS paid
  FROM position AS h JOIN traded AS k ON k.token = h.token
  WHERE h.buy_shares - h.sell_shares - h.fee_shares > 0
)
SELECT wallet, least(intDiv(paid, 100000), 9) AS bin, count() AS forecasts, countIf(payout > 500000) AS correct, sum(paid) AS probability,
  sum(forecast.payout) AS payout, sum((paid - payout) * (paid - payout)) AS error, sum((price - payout) * (price - payout)) AS baseline_error,
  sum(buy_usd) AS usd
FROM forecast
GROUP BY wallet, bin

-- name: desk_wallet
SELECT t.wallet AS wallet, t.fills AS fills, t.buy_usd AS buy_usd, t.sell_usd AS sell_usd, t.fee_usd AS fee_usd, h.redemption AS redemption,
  h.markets AS markets, h.resolved_markets AS resolved_markets, h.winning_markets AS winning_markets, t.first_ts AS first_ts, t.last_ts AS last_ts
FROM (
  SELECT wallet, count() AS fills, sumIf(usd, side = 0) AS buy_usd, sumIf(usd, side = 1) AS sell_usd,
    sum(if(side = 1, fee, greatest(-fee, 0))) AS fee_usd, min(ts) AS first_ts, max(ts) AS last_ts
  FROM fills WHERE token IN (SELECT token FROM tokens WHERE market IN (SELECT market FROM desk_market))
  GROUP BY wallet
) AS t
JOIN (
  SELECT wallet, sum(redemption) AS redemption, count() AS markets, countIf(resolved) AS resolved_markets,
    countIf(resolved AND cash + redemption > 0) AS winning_markets
  FROM held WHERE market IN (SELECT market FROM desk_market)
  GROUP BY wallet
) AS h ON h.wallet = t.wallet
