CREATE TABLE wallets(wallet INTEGER NOT NULL, address BLOB NOT NULL);
CREATE TABLE wallet_names(wallet INTEGER NOT NULL, "name" VARCHAR NOT NULL, ts BIGINT NOT NULL);
CREATE TABLE tokens(token INTEGER NOT NULL, token_id VARCHAR NOT NULL, market INTEGER, outcome TINYINT, named STRUCT(condition BLOB, "label" VARCHAR), derived BOOLEAN);
CREATE TABLE blocks(number BIGINT NOT NULL, ts BIGINT NOT NULL);
CREATE TABLE markets(market INTEGER NOT NULL, condition BLOB NOT NULL, gamma_id VARCHAR, question_id VARCHAR, question VARCHAR, slug VARCHAR, description VARCHAR USING COMPRESSION zstd, resolution_source VARCHAR, group_item_title VARCHAR, group_item_threshold VARCHAR, icon VARCHAR, event_id VARCHAR, event_slug VARCHAR, event_title VARCHAR, series_slug VARCHAR, neg_risk BOOLEAN, neg_risk_market_id VARCHAR, category VARCHAR, category_source VARCHAR, tags VARCHAR, outcomes VARCHAR, token_ids VARCHAR, prices VARCHAR, best_bid BIGINT, best_ask BIGINT, last_price BIGINT, active BOOLEAN, closed BOOLEAN, accepting_orders BOOLEAN, liquidity BIGINT, reported_volume BIGINT, created_at BIGINT, start_at BIGINT, end_at BIGINT, closed_at BIGINT, game_start_at BIGINT, updated_at BIGINT, payouts BIGINT[], payout_source TINYINT, payout_version BIGINT, payout_at BIGINT, resolved_at BIGINT, "quote" STRUCT("at" BIGINT, bid BIGINT, ask BIGINT, last_at BIGINT, "last" BIGINT, liquidity_at BIGINT, liquidity BIGINT), payout_at_source TINYINT, payout_at_version BIGINT, resolved_at_source TINYINT, payout_corrected_at BIGINT, unquoted_at BIGINT, field_versions VARCHAR);
CREATE TABLE payout_log(market INTEGER NOT NULL, payouts BIGINT[], "source" TINYINT, resolved_at BIGINT, batch INTEGER NOT NULL);
CREATE TABLE waiting_fills(tx BLOB, log_index INTEGER, ts BIGINT NOT NULL, wallet BLOB NOT NULL, "role" TINYINT NOT NULL, token VARCHAR NOT NULL, side TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL, repeat SMALLINT NOT NULL);
CREATE TABLE batches(batch INTEGER NOT NULL, file VARCHAR NOT NULL, feed VARCHAR NOT NULL, imported_at BIGINT NOT NULL, min_ts BIGINT, max_ts BIGINT, fills BIGINT NOT NULL, markets BIGINT NOT NULL, receipt VARCHAR NOT NULL);
CREATE TABLE rollup_state(as_of BIGINT NOT NULL, stale BOOLEAN NOT NULL, epoch BIGINT NOT NULL);
CREATE TABLE late_days("day" INTEGER NOT NULL, fills BIGINT NOT NULL);
CREATE TABLE position_delta(token INTEGER, wallet INTEGER, fills BIGINT, buy_shares BIGINT, sell_shares BIGINT, fee_shares BIGINT, buy_usd BIGINT, sell_usd BIGINT, fee_usd BIGINT);
CREATE TABLE wallet_total(wallet INTEGER NOT NULL, fills BIGINT NOT NULL, maker_fills BIGINT NOT NULL, taker_fills BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, "days" BIGINT NOT NULL, markets BIGINT NOT NULL, resolved_markets BIGINT NOT NULL, winning_markets BIGINT NOT NULL, negative_legs BIGINT NOT NULL, unmapped_fills BIGINT NOT NULL, redemption BIGINT NOT NULL, unresolved_cash BIGINT NOT NULL, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE wallet_total_delta(wallet INTEGER, fills BIGINT, maker_fills BIGINT, taker_fills BIGINT, buy_usd BIGINT, sell_usd BIGINT, fee_usd BIGINT, "days" BIGINT, markets BIGINT, resolved_markets BIGINT, winning_markets BIGINT, negative_legs BIGINT, unmapped_fills BIGINT, redemption BIGINT, unresolved_cash BIGINT, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE wallet_day("day" INTEGER NOT NULL, wallet INTEGER NOT NULL, fills BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL);
CREATE TABLE wallet_day_delta("day" INTEGER, wallet INTEGER, fills BIGINT, buy_usd BIGINT, sell_usd BIGINT, fee_usd BIGINT);
CREATE TABLE token_total(token INTEGER NOT NULL, taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL, maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE token_total_delta(token INTEGER, taker_fills BIGINT, taker_usd BIGINT, taker_shares BIGINT, maker_fills BIGINT, maker_usd BIGINT, maker_shares BIGINT, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE token_day("day" INTEGER NOT NULL, token INTEGER NOT NULL, taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL, maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE token_day_delta("day" INTEGER, token INTEGER, taker_fills BIGINT, taker_usd BIGINT, taker_shares BIGINT, maker_fills BIGINT, maker_usd BIGINT, maker_shares BIGINT);
CREATE TABLE market_wallets(market INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE market_wallets_delta(market INTEGER, wallets BIGINT);
CREATE TABLE redemption_delta(resolved_at BIGINT, market INTEGER, wallet INTEGER, usd BIGINT);
CREATE TABLE platform_hour("hour" INTEGER NOT NULL, taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL, maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE platform_hour_delta("hour" INTEGER, taker_fills BIGINT, taker_usd BIGINT, taker_shares BIGINT, maker_fills BIGINT, maker_usd BIGINT, maker_shares BIGINT);
CREATE TABLE platform_day("day" INTEGER NOT NULL, taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL, maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL, active_wallets BIGINT NOT NULL);
CREATE TABLE platform_day_delta("day" INTEGER, taker_fills BIGINT, taker_usd BIGINT, taker_shares BIGINT, maker_fills BIGINT, maker_usd BIGINT, maker_shares BIGINT, active_wallets BIGINT);
CREATE TABLE wallet_window(wallet INTEGER NOT NULL, span TINYINT NOT NULL, fills BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, redemption BIGINT NOT NULL, undated BIGINT DEFAULT(0), undated_markets BIGINT DEFAULT(0));
CREATE TABLE wallet_window_delta(wallet INTEGER, span TINYINT, fills BIGINT, buy_usd BIGINT, sell_usd BIGINT, fee_usd BIGINT, redemption BIGINT, undated BIGINT DEFAULT(0), undated_markets BIGINT DEFAULT(0));
CREATE TABLE token_window(token INTEGER NOT NULL, span TINYINT NOT NULL, taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL, maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE token_window_delta(token INTEGER, span TINYINT, taker_fills BIGINT, taker_usd BIGINT, taker_shares BIGINT, maker_fills BIGINT, maker_usd BIGINT, maker_shares BIGINT);
CREATE TABLE token_price(token INTEGER NOT NULL, "last" HUGEINT, day_ago HUGEINT);
CREATE TABLE token_price_delta(token INTEGER, "last" HUGEINT, day_ago HUGEINT);
CREATE TABLE week_wallets("week" INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE week_wallets_delta("week" INTEGER, wallets BIGINT);
CREATE TABLE month_wallets("month" INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE month_wallets_delta("month" INTEGER, wallets BIGINT);
CREATE TABLE day_markets("day" INTEGER NOT NULL, markets BIGINT NOT NULL);
CREATE TABLE day_markets_delta("day" INTEGER, markets BIGINT);
CREATE TABLE oracle_bin(wallet INTEGER NOT NULL, bin TINYINT NOT NULL, forecasts BIGINT NOT NULL, correct BIGINT NOT NULL, probability BIGINT NOT NULL, payout BIGINT NOT NULL, "error" BIGINT NOT NULL, baseline_error BIGINT NOT NULL, usd BIGINT NOT NULL);
CREATE TABLE oracle_bin_delta(wallet INTEGER, bin TINYINT, forecasts BIGINT, correct BIGINT, probability BIGINT, payout BIGINT, "error" BIGINT, baseline_error BIGINT, usd BIGINT);
CREATE TABLE whale_rule(min_usd BIGINT NOT NULL);
CREATE TABLE whale_move(ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, side TINYINT NOT NULL, tx BLOB, fills BIGINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL);
CREATE TABLE whale_move_delta(ts BIGINT, wallet INTEGER, token INTEGER, side TINYINT, tx BLOB, fills BIGINT, shares BIGINT, usd BIGINT);
CREATE TABLE index_flow(bucket INTEGER NOT NULL, fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, whale_usd BIGINT NOT NULL, politics_usd BIGINT NOT NULL, crypto_usd BIGINT NOT NULL, first_usd BIGINT NOT NULL, mapped_usd BIGINT NOT NULL);
CREATE TABLE index_flow_delta(bucket INTEGER, fills BIGINT, taker_usd BIGINT, whale_usd BIGINT, politics_usd BIGINT, crypto_usd BIGINT, first_usd BIGINT, mapped_usd BIGINT);
CREATE TABLE index_snapshot(bucket INTEGER NOT NULL, composite BIGINT, volume BIGINT, whale BIGINT, politics BIGINT, crypto BIGINT, sentiment BIGINT, windows TINYINT NOT NULL, volume_24h BIGINT NOT NULL, volume_base BIGINT NOT NULL, whale_24h BIGINT NOT NULL, whale_base BIGINT NOT NULL, politics_24h BIGINT NOT NULL, politics_base BIGINT NOT NULL, crypto_24h BIGINT NOT NULL, crypto_base BIGINT NOT NULL, first_24h BIGINT NOT NULL, mapped_24h BIGINT NOT NULL);
CREATE TABLE index_stored(bucket INTEGER NOT NULL);
CREATE TABLE index_late("day" INTEGER NOT NULL);
CREATE TABLE weather_issue(city VARCHAR NOT NULL, "target" INTEGER NOT NULL, metric TINYINT NOT NULL, "source" VARCHAR NOT NULL, issued_at BIGINT NOT NULL, run_at BIGINT, "value" INTEGER NOT NULL, members INTEGER[], shift INTEGER NOT NULL, batch INTEGER NOT NULL);
CREATE TABLE weather_report(city VARCHAR NOT NULL, "day" INTEGER NOT NULL, metric TINYINT NOT NULL, kind TINYINT NOT NULL, "source" VARCHAR NOT NULL, station VARCHAR NOT NULL, seen_at BIGINT NOT NULL, "value" INTEGER, provisional BOOLEAN, shift INTEGER NOT NULL, batch INTEGER NOT NULL);
CREATE TABLE weather_obs(city VARCHAR NOT NULL, station VARCHAR NOT NULL, "source" VARCHAR NOT NULL, ts BIGINT NOT NULL, report TINYINT NOT NULL, "day" INTEGER NOT NULL, "value" INTEGER, whole INTEGER, seen_at BIGINT NOT NULL, batch INTEGER NOT NULL, correction TINYINT DEFAULT(0));
CREATE TABLE weather_normal(city VARCHAR NOT NULL, metric TINYINT NOT NULL, month_day SMALLINT NOT NULL, "source" VARCHAR NOT NULL, station VARCHAR NOT NULL, period VARCHAR NOT NULL, "value" INTEGER NOT NULL, deviation INTEGER, p10 INTEGER, p90 INTEGER, "years" INTEGER, batch INTEGER NOT NULL);
CREATE TABLE desk_market(market INTEGER NOT NULL, "event" VARCHAR NOT NULL, event_id VARCHAR NOT NULL, city VARCHAR NOT NULL, metric TINYINT NOT NULL, "day" INTEGER NOT NULL, lo SMALLINT, hi SMALLINT, unit VARCHAR NOT NULL, tiled BOOLEAN NOT NULL, archived BOOLEAN NOT NULL, station VARCHAR NOT NULL, "source" VARCHAR NOT NULL, fallback VARCHAR NOT NULL, rounding TINYINT NOT NULL, revisable BOOLEAN NOT NULL, stated BOOLEAN NOT NULL);
CREATE TABLE desk_state(made_by VARCHAR NOT NULL);
CREATE TABLE weather_lead(city VARCHAR NOT NULL, "source" VARCHAR NOT NULL, metric TINYINT NOT NULL, "target" INTEGER NOT NULL, lead_day SMALLINT NOT NULL, "value" INTEGER NOT NULL, issued_at BIGINT NOT NULL);
CREATE TABLE desk_wallet(wallet INTEGER NOT NULL, fills BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, redemption BIGINT NOT NULL, markets BIGINT NOT NULL, resolved_markets BIGINT NOT NULL, winning_markets BIGINT NOT NULL, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE desk_wallet_delta(wallet INTEGER, fills BIGINT, buy_usd BIGINT, sell_usd BIGINT, fee_usd BIGINT, redemption BIGINT, markets BIGINT, resolved_markets BIGINT, winning_markets BIGINT, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE event_wallets(market INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE event_wallets_delta(market INTEGER, wallets BIGINT);
CREATE TABLE undated(last_ts BIGINT NOT NULL, market INTEGER NOT NULL, wallet INTEGER NOT NULL, usd BIGINT NOT NULL, markets BIGINT NOT NULL);
CREATE TABLE undated_delta(last_ts BIGINT, market INTEGER, wallet INTEGER, usd BIGINT, markets BIGINT);
CREATE TABLE lost_fills(ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, side TINYINT NOT NULL, "role" TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL, tx BLOB NOT NULL, log_index INTEGER NOT NULL, block BIGINT);
CREATE TABLE block_times(number BIGINT NOT NULL, ts BIGINT NOT NULL);
CREATE TABLE spare_payouts(condition BLOB NOT NULL, payouts BIGINT[] NOT NULL, payout_source TINYINT NOT NULL, payout_version BIGINT, payout_corrected_at BIGINT, payout_at BIGINT, payout_at_source TINYINT, payout_at_version BIGINT);
CREATE TABLE sync_range("source" VARCHAR NOT NULL, filter_version INTEGER NOT NULL, from_block BIGINT NOT NULL, to_block BIGINT NOT NULL, parent_hash BLOB, to_hash BLOB NOT NULL, to_time BIGINT NOT NULL, logs BIGINT NOT NULL, fills BIGINT NOT NULL, digest BIGINT NOT NULL, provider VARCHAR NOT NULL, fetched_at BIGINT NOT NULL);
CREATE TABLE sync_cursor("source" VARCHAR NOT NULL, state VARCHAR NOT NULL);
CREATE TABLE live_quote(market INTEGER NOT NULL, bid BIGINT, ask BIGINT, last_price BIGINT, ts BIGINT NOT NULL);
CREATE TABLE candle_delta(token INTEGER, "hour" INTEGER, fills BIGINT, usd BIGINT, shares BIGINT, opened HUGEINT, highest HUGEINT, lowest HUGEINT, closed HUGEINT);
CREATE TABLE pulled(lake VARCHAR NOT NULL, rollups VARCHAR NOT NULL, fills BIGINT NOT NULL, pulled_at BIGINT NOT NULL);
CREATE TABLE pulled_position(wallet INTEGER NOT NULL, token INTEGER NOT NULL, fills BIGINT NOT NULL, buy_shares BIGINT NOT NULL, sell_shares BIGINT NOT NULL, fee_shares BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, first_ts BIGINT NOT NULL, last_ts BIGINT NOT NULL);
CREATE TABLE pulled_fill(ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, "role" TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL);
CREATE TABLE closing_mark(mark BLOB NOT NULL);
CREATE TABLE fills("seconds" BIGINT NOT NULL, micros INTEGER NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, side TINYINT NOT NULL, "role" TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL, tx BLOB, log_index INTEGER, repeat SMALLINT NOT NULL, batch INTEGER NOT NULL, block BIGINT, ts BIGINT GENERATED ALWAYS AS((("seconds" * 1000000) + micros)));
CREATE TABLE "position"(token INTEGER NOT NULL, wallet INTEGER NOT NULL, fills BIGINT NOT NULL, buy_hundredths BIGINT NOT NULL, buy_beyond SMALLINT NOT NULL, sell_hundredths BIGINT NOT NULL, sell_beyond SMALLINT NOT NULL, fee_shares BIGINT NOT NULL, buy_price SMALLINT NOT NULL, buy_rest BIGINT NOT NULL, sell_price SMALLINT NOT NULL, sell_rest BIGINT NOT NULL, fee_usd BIGINT NOT NULL, buy_shares BIGINT GENERATED ALWAYS AS(((buy_hundredths * 10000) + buy_beyond)), sell_shares BIGINT GENERATED ALWAYS AS(((sell_hundredths * 10000) + sell_beyond)), buy_usd BIGINT GENERATED ALWAYS AS(((buy_hundredths * buy_price) + buy_rest)), sell_usd BIGINT GENERATED ALWAYS AS(((sell_hundredths * sell_price) + sell_rest)));
CREATE TABLE redemption(resolved_at BIGINT NOT NULL, market INTEGER NOT NULL, wallet INTEGER NOT NULL, hundredths BIGINT NOT NULL, beyond SMALLINT NOT NULL, usd BIGINT GENERATED ALWAYS AS(((hundredths * 10000) + beyond)));
CREATE TABLE candle(token INTEGER NOT NULL, "hour" INTEGER NOT NULL, fills BIGINT NOT NULL, rest BIGINT NOT NULL, hundredths BIGINT NOT NULL, beyond SMALLINT NOT NULL, opened_ts BIGINT, opened_at BIGINT, above INTEGER, below INTEGER, lasted BIGINT, moved BIGINT, shares BIGINT GENERATED ALWAYS AS(((hundredths * 10000) + beyond)), usd BIGINT GENERATED ALWAYS AS((COALESCE((hundredths * ((opened_at & 1048575) // 100)), 0) + rest)), opened HUGEINT GENERATED ALWAYS AS(-(((CAST((((CAST("hour" AS BIGINT) * 3600000000) + ((opened_ts % 3600) * 1000000)) + (opened_ts // 3600)) AS "HUGEINT") * 4503599627370496) + opened_at))), highest HUGEINT GENERATED ALWAYS AS(((opened_at & 1048575) + above)), lowest HUGEINT GENERATED ALWAYS AS((below - (opened_at & 1048575))), closed HUGEINT GENERATED ALWAYS AS((((CAST((((CAST("hour" AS BIGINT) * 3600000000) + (((opened_ts + lasted) % 3600) * 1000000)) + ((opened_ts + lasted) // 3600)) AS "HUGEINT") * 4503599627370496) + opened_at) + moved)));
CREATE VIEW desk_settled AS
SELECT d.*, m.resolved_at
FROM desk_market AS d
JOIN markets AS m ON m.market = d.market
WHERE m.payouts[1] = 1000000;
CREATE VIEW market_day AS
SELECT p.day, t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares
FROM (FROM token_day UNION ALL FROM token_day_delta) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL
GROUP BY p.day, t.market;
CREATE VIEW market_total AS
SELECT t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares,
  min(p.first_ts) AS first_ts, max(p.last_ts) AS last_ts
FROM (FROM token_total UNION ALL FROM token_total_delta) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL
GROUP BY t.market;
CREATE OR REPLACE VIEW weather_derived AS
WITH latest AS (
  SELECT city, metric, source, day, arg_max_null(value, seen_at) AS value
  FROM weather_report
  WHERE kind = 2 AND day BETWEEN 7670 AND 18627 -- 1991-01-01 to 2020-12-31
  GROUP BY city, metric, source, day
),
near AS (
  SELECT city, metric, source, value, DATE '1970-01-01' + (day + o.days) AS centre
  FROM (FROM latest WHERE value IS NOT NULL), (SELECT unnest(range(-15, 16))::INTEGER AS days) AS o
),
pooled AS (
  SELECT city, metric, source, (month(centre) * 100 + day(centre))::SMALLINT AS month_day,
    SUM(value)::HUGEINT AS total, SUM(value::HUGEINT * value) AS squares, count(*)::HUGEINT AS n,
    count(DISTINCT year(centre))::INTEGER AS years, list_sort(list(value)) AS sorted
  FROM near
  WHERE year(centre) BETWEEN 1991 AND 2020
  GROUP BY city, metric, source, month_day
),
figure AS (
  SELECT city, metric, source, month_day, years,
    ((2 * total + n * sign(total)) // (2 * n))::INTEGER AS value, -- half away from zero: // cuts towards zero
    round(sqrt((n * squares - total * total)::DOUBLE / (n * (n - 1))::DOUBLE))::INTEGER AS deviation,
    sorted[((n + 9) // 10)::BIGINT] AS p10, sorted[((9 * n + 9) // 10)::BIGINT] AS p90
  FROM pooled
  WHERE years >= 24 AND month_day <> 229
)
SELECT city, metric, month_day, 'derived:' || source AS source, '' AS station, '1991-2020' AS period,
  value, deviation, p10, p90, years
FROM figure
UNION ALL
SELECT a.city, a.metric, 229, 'derived:' || a.source, '', '1991-2020', (a.value + b.value) // 2, (a.deviation + b.deviation) // 2,
  (a.p10 + b.p10) // 2, (a.p90 + b.p90) // 2, least(a.years, b.years)
FROM figure AS a
JOIN figure AS b ON b.city = a.city AND b.metric = a.metric AND b.source = a.source AND b.month_day = 301
WHERE a.month_day = 228;
CREATE VIEW weather_forecast AS
WITH step AS (
  SELECT *,
    (value IS DISTINCT FROM lag(value) OVER series OR members IS DISTINCT FROM lag(members) OVER series)::INTEGER AS changed
  FROM weather_issue
  WINDOW series AS (PARTITION BY city, target, metric, source ORDER BY issued_at)
),
run AS (
  SELECT *, SUM(changed) OVER (PARTITION BY city, target, metric, source ORDER BY issued_at) AS nth FROM step
)
SELECT city, target, metric, source, min(issued_at) AS issued_at, max(issued_at) AS confirmed_at,
  arg_min(run_at, issued_at) AS run_at, arg_min(value, issued_at) AS value, arg_min(members, issued_at) AS members,
  arg_min(shift, issued_at) AS shift, count(*) AS issues
FROM run
GROUP BY city, target, metric, source, nth;
CREATE OR REPLACE VIEW weather_reported AS
WITH step AS (
  SELECT *, (value IS DISTINCT FROM lag(value) OVER series)::INTEGER AS changed
  FROM weather_report
  WINDOW series AS (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at)
),
run AS (
  SELECT *, SUM(changed) OVER (PARTITION BY city, day, metric, kind, source, station ORDER BY seen_at) AS nth FROM step
)
SELECT city, day, metric, kind, source, station, arg_max(value, seen_at) AS value, arg_min(value, seen_at) AS first_value,
  CASE WHEN max(nth) > min(nth) FILTER (value IS NOT NULL) THEN arg_max(since, nth) END AS revised_at,
  max(nth)::BIGINT - min(nth) FILTER (value IS NOT NULL)::BIGINT AS revisions,
  arg_max(provisional, seen_at) AS provisional, arg_max(shift, seen_at) AS shift, max(seen_at) AS seen_at
FROM (SELECT *, min(seen_at) OVER (PARTITION BY city, day, metric, kind, source, station, nth) AS since FROM run) AS r
GROUP BY city, day, metric, kind, source, station
HAVING arg_max_null(value, seen_at) IS NOT NULL;
CREATE OR REPLACE VIEW weather_station_day AS
SELECT city, station, source, day, max(value) AS tmax, min(value) AS tmin, max(whole) AS whole_max, min(whole) AS whole_min,
  max(whole) FILTER (report = 1) AS routine_max, min(whole) FILTER (report = 1) AS routine_min,
  count(DISTINCT ts) AS observations, min(ts) AS first_ts, max(ts) AS last_ts, max(seen_at) AS seen_at,
  day >= max(day) OVER (PARTITION BY station, source) AS running
FROM weather_obs
WHERE value IS NOT NULL
GROUP BY city, station, source, day;
CREATE VIEW weather_usual AS
SELECT * EXCLUDE (batch) FROM weather_normal
UNION ALL
SELECT city, metric, 229::SMALLINT, source, station, period, (a.value + b.value) // 2, (a.deviation + b.deviation) // 2,
  (a.p10 + b.p10) // 2, (a.p90 + b.p90) // 2, CASE WHEN a.years IS NOT NULL AND b.years IS NOT NULL THEN least(a.years, b.years) END
FROM (SELECT * FROM weather_normal WHERE month_day = 228) AS a
JOIN (SELECT * FROM weather_normal WHERE month_day = 301) AS b USING (city, metric, source, station, period)
ANTI JOIN (SELECT * FROM weather_normal WHERE month_day = 229) AS given USING (city, metric, source, station, period);
CREATE VIEW event_total AS
SELECT coalesce(m.event_slug, m.event_id) AS event, COUNT(*) AS markets,
  SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares,
  min(p.first_ts) AS first_ts, max(p.last_ts) AS last_ts
FROM market_total AS p
JOIN markets AS m ON m.market = p.market
WHERE coalesce(m.event_slug, m.event_id) IS NOT NULL
GROUP BY event;
CREATE OR REPLACE VIEW weather_actual AS
SELECT *, NULL::BIGINT AS observations, NULL::INTEGER AS whole, NULL::INTEGER AS routine FROM weather_reported
UNION ALL
SELECT city, day, m.metric, 1, source, station, CASE m.metric WHEN 0 THEN tmax ELSE tmin END, NULL, NULL, 0,
  running, 0, greatest(last_ts, seen_at), observations, CASE m.metric WHEN 0 THEN whole_max ELSE whole_min END,
  CASE m.metric WHEN 0 THEN routine_max ELSE routine_min END
FROM weather_station_day, (VALUES (0::TINYINT), (1::TINYINT)) AS m(metric);
INSERT INTO index_stored VALUES (0);
INSERT INTO rollup_state VALUES (0, false, 0);
INSERT INTO whale_rule VALUES (10000000000);
