-- The tables of pmx rebuild as one would derive them by hand, from the facts of an attached
-- database p into a separate one: no ranges of keys, no order, no deltas, and no transaction
-- around them. Whatever is needed twice is computed once, and tables are derived from others if
-- that is less work. @asof is the time of the newest fill.

-- name: price
-- Dollars ÷ tokens in millionths, halves rounded up, at most 1.
CREATE TEMP MACRO price(usd, shares) AS
CASE WHEN usd < 2000000000000 AND shares < 4000000000000000000 THEN least((usd * 2000000 + shares) // (2 * shares), 1000000)
  ELSE least((usd::HUGEINT * 2000000 + shares) // (2 * shares::HUGEINT), 1000000)::BIGINT END

-- name: place
-- A price and its position in time as one number.
CREATE TEMP MACRO place(ts, log_index, price) AS
ts::HUGEINT * 4503599627370496 + ((coalesce(log_index, -1) + 1)::BIGINT * 1048576 + price)

-- name: legs
SUM(CASE WHEN role <> 1 THEN 1 ELSE 0 END)::BIGINT AS taker_fills, SUM(CASE WHEN role <> 1 THEN usd ELSE 0 END)::BIGINT AS taker_usd,
  SUM(CASE WHEN role <> 1 THEN shares ELSE 0 END)::BIGINT AS taker_shares, SUM(CASE WHEN role = 1 THEN 1 ELSE 0 END)::BIGINT AS maker_fills,
  SUM(CASE WHEN role = 1 THEN usd ELSE 0 END)::BIGINT AS maker_usd, SUM(CASE WHEN role = 1 THEN shares ELSE 0 END)::BIGINT AS maker_shares

-- name: position
SELECT token, wallet, count(*) AS fills,
  SUM(CASE side WHEN 0 THEN shares ELSE 0 END)::BIGINT AS buy_shares, SUM(CASE side WHEN 1 THEN shares ELSE 0 END)::BIGINT AS sell_shares,
  SUM(CASE side WHEN 0 THEN greatest(fee, 0) ELSE 0 END)::BIGINT AS fee_shares, SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS buy_usd,
  SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS sell_usd, SUM(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::BIGINT AS fee_usd
FROM p.fills GROUP BY token, wallet

-- name: wallet_day
SELECT (ts // 86400000000)::INTEGER AS day, wallet, count(*) AS fills,
  SUM(CASE side WHEN 0 THEN usd ELSE 0 END)::BIGINT AS buy_usd, SUM(CASE side WHEN 1 THEN usd ELSE 0 END)::BIGINT AS sell_usd,
  SUM(CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END)::BIGINT AS fee_usd
FROM p.fills GROUP BY day, wallet

-- name: token_day
SELECT (ts // 86400000000)::INTEGER AS day, token, @legs FROM p.fills GROUP BY day, token

-- name: token_total
SELECT token, @legs, min(ts) AS first_ts, max(ts) AS last_ts FROM p.fills GROUP BY token

-- name: platform_hour
SELECT (ts // 3600000000)::INTEGER AS hour, @legs FROM p.fills GROUP BY hour

-- name: platform_day
SELECT t.*, w.active_wallets
FROM (
  SELECT day, SUM(taker_fills)::BIGINT AS taker_fills, SUM(taker_usd)::BIGINT AS taker_usd, SUM(taker_shares)::BIGINT AS taker_shares,
    SUM(maker_fills)::BIGINT AS maker_fills, SUM(maker_usd)::BIGINT AS maker_usd, SUM(maker_shares)::BIGINT AS maker_shares
  FROM token_day GROUP BY day
) AS t
JOIN (SELECT day, count(*) AS active_wallets FROM wallet_day GROUP BY day) AS w USING (day)

-- name: held
-- What each wallet holds of each market (NULL: of tokens without a market). No two tokens of the
-- sample venue are mapped to the same outcome, so a position is a leg.
SELECT wallet, market, resolved_at, resolved, fills, cash, negative_legs, (whole + round(part / 1000000))::BIGINT AS redemption
FROM (
  SELECT h.wallet, t.market, any_value(m.resolved_at) AS resolved_at, bool_or(m.payouts[t.outcome + 1] IS NOT NULL) AS resolved,
    SUM(h.fills)::BIGINT AS fills, SUM(h.sell_usd - h.buy_usd - h.fee_usd)::BIGINT AS cash,
    count(*) FILTER (h.buy_shares - h.sell_shares - h.fee_shares < 0 AND m.payouts[t.outcome + 1] IS NOT NULL) AS negative_legs,
    coalesce(SUM(h.buy_shares - h.sell_shares - h.fee_shares) FILTER (m.payouts[t.outcome + 1] = 1000000), 0)::BIGINT AS whole,
    coalesce(SUM((h.buy_shares - h.sell_shares - h.fee_shares)::HUGEINT * m.payouts[t.outcome + 1])
      FILTER (m.payouts[t.outcome + 1] NOT IN (0, 1000000)), 0) AS part
  FROM position AS h JOIN p.tokens AS t ON t.token = h.token LEFT JOIN p.markets AS m ON m.market = t.market
  GROUP BY h.wallet, t.market
) AS valued

-- name: market_wallets
SELECT market, count(*) AS wallets FROM held WHERE market IS NOT NULL GROUP BY market

-- name: redemption
SELECT coalesce(resolved_at, 0) AS resolved_at, market, wallet, redemption AS usd FROM held WHERE resolved AND redemption <> 0

-- name: undated
SELECT k.last_ts, h.market, h.wallet, h.redemption AS usd, 1::BIGINT AS markets
FROM held AS h
JOIN (
  SELECT f.wallet, t.market, max(f.ts) AS last_ts
  FROM p.fills AS f JOIN p.tokens AS t ON t.token = f.token JOIN p.markets AS m ON m.market = t.market
  WHERE f.ts > @asof - 2592000000000 AND m.payout_source IS NOT NULL AND m.resolved_at IS NULL
  GROUP BY f.wallet, t.market
) AS k ON k.wallet = h.wallet AND k.market = h.market
WHERE h.resolved AND h.resolved_at IS NULL

-- name: wallet_total
SELECT f.wallet, f.fills, f.maker_fills, f.taker_fills, d.buy_usd, d.sell_usd, d.fee_usd, d.days,
  h.markets, h.resolved_markets, h.winning_markets, h.negative_legs, h.unmapped_fills, h.redemption, h.unresolved_cash, f.first_ts, f.last_ts
FROM (
  SELECT wallet, count(*) AS fills, count(*) FILTER (role = 1) AS maker_fills, count(*) FILTER (role = 2) AS taker_fills,
    min(ts) AS first_ts, max(ts) AS last_ts
  FROM p.fills GROUP BY wallet
) AS f
JOIN (
  SELECT wallet, SUM(buy_usd)::BIGINT AS buy_usd, SUM(sell_usd)::BIGINT AS sell_usd, SUM(fee_usd)::BIGINT AS fee_usd, count(*) AS days
  FROM wallet_day GROUP BY wallet
) AS d USING (wallet)
JOIN (
  SELECT wallet, count(market) AS markets, count(*) FILTER (resolved) AS resolved_markets,
    count(*) FILTER (resolved AND cash + redemption > 0) AS winning_markets, SUM(negative_legs)::BIGINT AS negative_legs,
    coalesce(SUM(fills) FILTER (market IS NULL), 0)::BIGINT AS unmapped_fills, SUM(redemption)::BIGINT AS redemption,
    coalesce(SUM(cash) FILTER (NOT resolved), 0)::BIGINT AS unresolved_cash
  FROM held GROUP BY wallet
) AS h USING (wallet)

-- name: wallet_window
-- Spans 0, 1 and 2 are 24, 168 and 720 hours up to the newest fill.
WITH span(span, lo) AS (VALUES (0::TINYINT, @asof - 86400000000), (1, @asof - 604800000000), (2, @asof - 2592000000000))
SELECT wallet, span, SUM(fills)::BIGINT AS fills, SUM(buy_usd)::BIGINT AS buy_usd, SUM(sell_usd)::BIGINT AS sell_usd, SUM(fee_usd)::BIGINT AS fee_usd,
  SUM(redemption)::BIGINT AS redemption, SUM(undated)::BIGINT AS undated, SUM(undated_markets)::BIGINT AS undated_markets
FROM (
  SELECT wallet, span, 1 AS fills, CASE side WHEN 0 THEN usd ELSE 0 END AS buy_usd, CASE side WHEN 1 THEN usd ELSE 0 END AS sell_usd,
    CASE side WHEN 1 THEN fee ELSE greatest(-fee, 0) END AS fee_usd, 0 AS redemption, 0 AS undated, 0 AS undated_markets
  FROM p.fills JOIN span ON ts > lo
  WHERE ts > @asof - 2592000000000
  UNION ALL
  SELECT wallet, span, 0, 0, 0, 0, usd, 0, 0 FROM redemption JOIN span ON resolved_at > lo WHERE resolved_at <= @asof
  UNION ALL
  SELECT wallet, span, 0, 0, 0, 0, 0, usd, markets FROM undated JOIN span ON last_ts > lo
) AS part
GROUP BY wallet, span

-- name: token_window
WITH span(span, lo) AS (VALUES (0::TINYINT, @asof - 86400000000), (1, @asof - 604800000000), (2, @asof - 2592000000000))
SELECT token, span, @legs FROM p.fills JOIN span ON ts > lo WHERE ts > @asof - 2592000000000 GROUP BY token, span

-- name: token_price
SELECT token, max(place) AS last, max(place) FILTER (ts <= @asof - 86400000000) AS day_ago
FROM (SELECT token, ts, place(ts, log_index, price(usd, shares)) AS place FROM p.fills WHERE shares > 0) AS traded
GROUP BY token

-- name: candle
-- Minima have their sign reversed.
SELECT token, hour, count(*) AS fills, SUM(usd)::BIGINT AS usd, SUM(shares)::BIGINT AS shares, max(-place) AS opened,
  max(price)::HUGEINT AS highest, max(-price)::HUGEINT AS lowest, max(place) AS closed
FROM (
  SELECT token, (ts // 3600000000)::INTEGER AS hour, usd, shares, CASE WHEN shares > 0 THEN price(usd, shares) END AS price,
    CASE WHEN shares > 0 THEN place(ts, log_index, price(usd, shares)) END AS place
  FROM p.fills WHERE role <> 1
) AS traded
GROUP BY token, hour

-- name: event
-- The event of each market that belongs to one, identified by the first of its markets: the event
-- of its slug; without a slug, that of the first slug, in alphabetical order, among the markets
-- with the same event id; otherwise that of the id.
WITH carried AS (
  SELECT event_id AS id, min(nullif(event_slug, '')) AS slug FROM p.markets WHERE event_id <> '' GROUP BY event_id
),
placed AS (
  SELECT m.market, coalesce(nullif(m.event_slug, ''), c.slug) AS slug, coalesce(nullif(m.event_slug, ''), c.slug, nullif(m.event_id, '')) AS name
  FROM p.markets AS m LEFT JOIN carried AS c ON c.id = m.event_id
)
SELECT market, min(market) OVER (PARTITION BY slug IS NULL, name) AS event FROM placed WHERE name IS NOT NULL

-- name: event_wallets
-- A wallet counts at the first market of the event, by id, that it traded.
SELECT market, count(*) AS wallets
FROM (SELECT min(h.market) AS market FROM held AS h JOIN event AS e ON e.market = h.market GROUP BY h.wallet, e.event) AS first
GROUP BY market

-- name: week_wallets
SELECT ((day + 3) // 7)::INTEGER AS week, count(DISTINCT wallet) AS wallets FROM wallet_day GROUP BY week

-- name: month_wallets
SELECT date_diff('month', DATE '1970-01-01', DATE '1970-01-01' + day)::INTEGER AS month, count(DISTINCT wallet) AS wallets
FROM wallet_day GROUP BY month

-- name: day_markets
SELECT k.day, count(DISTINCT t.market) AS markets
FROM token_day AS k JOIN p.tokens AS t ON t.token = k.token WHERE t.market IS NOT NULL GROUP BY k.day

-- name: whale_move
SELECT ts, wallet, token, side, tx, count(*) AS fills, SUM(shares)::BIGINT AS shares, SUM(usd)::BIGINT AS usd
FROM p.fills WHERE role <> 1
GROUP BY ts, wallet, token, side, tx HAVING SUM(usd) >= (SELECT min_usd FROM p.whale_rule)

-- name: index_flow
SELECT bucket, SUM(fills)::BIGINT AS fills, SUM(taker_usd)::BIGINT AS taker_usd, SUM(whale_usd)::BIGINT AS whale_usd,
  SUM(politics_usd)::BIGINT AS politics_usd, SUM(crypto_usd)::BIGINT AS crypto_usd, SUM(first_usd)::BIGINT AS first_usd, SUM(mapped_usd)::BIGINT AS mapped_usd
FROM (
  SELECT ((f.ts + 299999999) // 300000000)::INTEGER AS bucket, count(*) AS fills, SUM(f.usd) AS taker_usd, 0 AS whale_usd,
    SUM(CASE m.category WHEN 'politics' THEN f.usd ELSE 0 END) AS politics_usd, SUM(CASE m.category WHEN 'crypto' THEN f.usd ELSE 0 END) AS crypto_usd,
    SUM(CASE WHEN t.market IS NOT NULL AND (t.outcome = 0) = (f.side = 0) THEN f.usd ELSE 0 END) AS first_usd,
    SUM(CASE WHEN t.market IS NOT NULL THEN f.usd ELSE 0 END) AS mapped_usd
  FROM p.fills AS f JOIN p.tokens AS t ON t.token = f.token LEFT JOIN p.markets AS m ON m.market = t.market
  WHERE f.role <> 1
  GROUP BY bucket
  UNION ALL
  SELECT ((ts + 299999999) // 300000000)::INTEGER AS bucket, 0, 0, SUM(usd), 0, 0, 0, 0 FROM whale_move GROUP BY bucket
) AS part
GROUP BY bucket

-- name: index_snapshot
-- For every five minutes: the last day, and the thirty days before it, of which those with fills
-- are the norm. Of snapshots older than 90 days, only those of full hours are kept.
WITH flow AS (
  SELECT b.bucket, f.* EXCLUDE (bucket)
  FROM (SELECT unnest(range((SELECT min(bucket) FROM index_flow), @asof // 300000000 + 1))::INTEGER AS bucket) AS b
  LEFT JOIN index_flow AS f ON f.bucket = b.bucket
),
running AS (
  SELECT bucket, coalesce(SUM(fills) OVER upto, 0)::BIGINT AS fills, coalesce(SUM(taker_usd) OVER upto, 0)::BIGINT AS volume,
    coalesce(SUM(whale_usd) OVER upto, 0)::BIGINT AS whale, coalesce(SUM(politics_usd) OVER upto, 0)::BIGINT AS politics,
    coalesce(SUM(crypto_usd) OVER upto, 0)::BIGINT AS crypto, coalesce(SUM(first_usd) OVER upto, 0)::BIGINT AS first,
    coalesce(SUM(mapped_usd) OVER upto, 0)::BIGINT AS mapped
  FROM flow
  WINDOW upto AS (ORDER BY bucket ROWS UNBOUNDED PRECEDING)
),
summed AS (
  SELECT bucket, fills - lag(fills, 288, 0) OVER past AS fills,
    volume - lag(volume, 288, 0) OVER past AS volume_24h, lag(volume, 288, 0) OVER past - lag(volume, 8928, 0) OVER past AS volume_base,
    whale - lag(whale, 288, 0) OVER past AS whale_24h, lag(whale, 288, 0) OVER past - lag(whale, 8928, 0) OVER past AS whale_base,
    politics - lag(politics, 288, 0) OVER past AS politics_24h, lag(politics, 288, 0) OVER past - lag(politics, 8928, 0) OVER past AS politics_base,
    crypto - lag(crypto, 288, 0) OVER past AS crypto_24h, lag(crypto, 288, 0) OVER past - lag(crypto, 8928, 0) OVER past AS crypto_base,
    first - lag(first, 288, 0) OVER past AS first_24h, mapped - lag(mapped, 288, 0) OVER past AS mapped_24h
  FROM running
  WINDOW past AS (ORDER BY bucket)
),
counted AS (
  SELECT *, coalesce(SUM((fills > 0)::INTEGER) OVER (PARTITION BY bucket % 288 ORDER BY bucket ROWS BETWEEN 30 PRECEDING AND 1 PRECEDING), 0)::TINYINT AS windows
  FROM summed
),
ratio AS (
  SELECT *, index_ratio(volume_24h, volume_base, windows) AS volume, index_ratio(whale_24h, whale_base, windows) AS whale,
    index_ratio(politics_24h, politics_base, windows) AS politics, index_ratio(crypto_24h, crypto_base, windows) AS crypto,
    CASE WHEN mapped_24h > 0 THEN ((first_24h::HUGEINT * 400000000 + mapped_24h) // (2 * mapped_24h::HUGEINT))::BIGINT END AS sentiment
  FROM counted
  WHERE bucket % 12 = 0 OR bucket > @asof // 300000000 - 25920
)
SELECT bucket, round(exp((3 * coalesce(index_log(volume), 0) + 2 * coalesce(index_log(whale), 0) + 2 * coalesce(index_log(politics), 0)
    + 2 * coalesce(index_log(crypto), 0) + coalesce(index_log(sentiment), 0))
  / nullif(3 * (volume IS NOT NULL)::INTEGER + 2 * (whale IS NOT NULL)::INTEGER + 2 * (politics IS NOT NULL)::INTEGER + 2 * (crypto IS NOT NULL)::INTEGER
    + (sentiment IS NOT NULL)::INTEGER, 0)))::BIGINT AS composite,
  volume, whale, politics, crypto, sentiment, windows, volume_24h, volume_base, whale_24h, whale_base, politics_24h, politics_base,
  crypto_24h, crypto_base, first_24h, mapped_24h
FROM ratio

-- name: index_ratio
CREATE TEMP MACRO index_ratio(last, base, windows) AS
CASE WHEN windows >= 7 AND base > 0
  THEN least((2 * last::HUGEINT * 100000000 * windows + base) // (2 * base::HUGEINT), 1000000000)::BIGINT END

-- name: index_log
CREATE TEMP MACRO index_log(value) AS ln(CASE WHEN value < 1000000 THEN 1000000 ELSE value END::DOUBLE)

-- name: oracle_bin
-- A forecast is the tokens of one outcome of a resolved market that a wallet still holds.
WITH paying AS (
  SELECT t.token, t.market, t.outcome, m.payouts[t.outcome + 1] AS payout
  FROM p.tokens AS t JOIN p.markets AS m ON m.market = t.market
  WHERE m.payouts IS NOT NULL
),
traded AS (
  SELECT token, payout, CASE WHEN taker_shares > 0 THEN price(taker_usd, taker_shares) ELSE price(maker_usd, maker_shares) END AS price
  FROM token_total JOIN paying USING (token)
),
forecast AS (
  SELECT h.wallet, k.payout, k.price, h.buy_usd, price(h.buy_usd, h.buy_shares) AS paid
  FROM position AS h JOIN traded AS k ON k.token = h.token
  WHERE h.buy_shares - h.sell_shares - h.fee_shares > 0
)
SELECT wallet, least(paid // 100000, 9)::TINYINT AS bin, count(*) AS forecasts, count(*) FILTER (payout > 500000) AS correct,
  SUM(paid)::BIGINT AS probability, SUM(payout)::BIGINT AS payout, SUM((paid - payout) * (paid - payout))::BIGINT AS error,
  SUM((price - payout) * (price - payout))::BIGINT AS baseline_error, SUM(buy_usd)::BIGINT AS usd
FROM forecast
GROUP BY wallet, bin

-- name: desk_wallet
SELECT t.wallet, t.fills, t.buy_usd, t.sell_usd, t.fee_usd, h.redemption, h.markets, h.resolved_markets, h.winning_markets, t.first_ts, t.last_ts
FROM (
  SELECT f.wallet, count(*) AS fills, SUM(CASE f.side WHEN 0 THEN f.usd ELSE 0 END)::BIGINT AS buy_usd,
    SUM(CASE f.side WHEN 1 THEN f.usd ELSE 0 END)::BIGINT AS sell_usd,
    SUM(CASE f.side WHEN 1 THEN f.fee ELSE greatest(-f.fee, 0) END)::BIGINT AS fee_usd, min(f.ts) AS first_ts, max(f.ts) AS last_ts
  FROM p.fills AS f JOIN p.tokens AS t ON t.token = f.token SEMI JOIN desk_market AS d ON d.market = t.market
  GROUP BY f.wallet
) AS t
JOIN (
  SELECT wallet, SUM(redemption)::BIGINT AS redemption, count(*) AS markets, count(*) FILTER (resolved) AS resolved_markets,
    count(*) FILTER (resolved AND cash + redemption > 0) AS winning_markets
  FROM held SEMI JOIN desk_market AS d ON d.market = held.market
  GROUP BY wallet
) AS h USING (wallet)

-- name: desk_market
-- Titles are read in Go; the rival gets the result.
FROM p.desk_market

-- name: weather_lead
-- calendar has the start and the noon of each local day, computed in Go.
SELECT i.city, i.source, i.metric, i.target, (i.target - c.day)::SMALLINT AS lead_day, arg_max(i.value, i.issued_at) AS value, max(i.issued_at) AS issued_at
FROM p.weather_issue AS i ASOF JOIN calendar AS c ON i.city = c.city AND i.issued_at >= c.starts
WHERE i.target > c.day OR i.target = c.day AND i.issued_at < c.noon
GROUP BY ALL
