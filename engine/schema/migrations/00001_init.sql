-- +goose Up
-- Dimensions: every fact and rollup has small integer ids instead of addresses, tokens and
-- conditions. There are no primary keys and no indexes: an ART index takes memory for each row,
-- which cannot be spilled, and makes inserts an order of magnitude slower. Identity is enforced
-- by anti-joins on the touched range and proved by `pmx verify`.
CREATE TABLE wallets (wallet INTEGER NOT NULL, address BLOB NOT NULL);
CREATE TABLE wallet_names (wallet INTEGER NOT NULL, name VARCHAR NOT NULL, ts BIGINT NOT NULL);
CREATE TABLE tokens (token INTEGER NOT NULL, token_id VARCHAR NOT NULL, market INTEGER, outcome TINYINT);
CREATE TABLE blocks (number BIGINT NOT NULL, ts BIGINT NOT NULL);
CREATE TABLE markets (
  market INTEGER NOT NULL,
  condition BLOB NOT NULL,
  gamma_id VARCHAR, question_id VARCHAR, question VARCHAR, slug VARCHAR,
  description VARCHAR, resolution_source VARCHAR,
  group_item_title VARCHAR, group_item_threshold VARCHAR, icon VARCHAR,
  event_id VARCHAR, event_slug VARCHAR, event_title VARCHAR, series_slug VARCHAR,
  neg_risk BOOLEAN, neg_risk_market_id VARCHAR,
  category VARCHAR, category_source VARCHAR,
  tags VARCHAR, outcomes VARCHAR, token_ids VARCHAR, prices VARCHAR,
  best_bid BIGINT, best_ask BIGINT, last_price BIGINT,
  active BOOLEAN, closed BOOLEAN, accepting_orders BOOLEAN,
  liquidity BIGINT, reported_volume BIGINT,
  created_at BIGINT, start_at BIGINT, end_at BIGINT, closed_at BIGINT,
  game_start_at BIGINT, updated_at BIGINT,
  payouts BIGINT[], payout_source TINYINT, payout_version BIGINT, payout_at BIGINT,
  resolved_at BIGINT
);
-- Every payout that was ever in force, so that a correction can be traced.
CREATE TABLE payout_log (market INTEGER NOT NULL, payouts BIGINT[], source TINYINT,
  resolved_at BIGINT, batch INTEGER NOT NULL);

-- Facts. ts in µs since 1970 UTC; shares, usd, fee in millionths; side 0 buy,
-- 1 sell; role 0 unknown, 1 maker, 2 taker; repeat counts equal rows of feeds
-- without a log index from 1.
CREATE TABLE fills (
  ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL,
  side TINYINT NOT NULL, role TINYINT NOT NULL,
  shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL,
  tx BLOB, log_index INTEGER, repeat SMALLINT NOT NULL, batch INTEGER NOT NULL
);
-- Fills that name their market by a reference that matches no known market yet.
CREATE TABLE waiting_fills (
  tx BLOB, log_index INTEGER, ts BIGINT NOT NULL, wallet BLOB NOT NULL, role TINYINT NOT NULL,
  token VARCHAR NOT NULL, side TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL,
  fee BIGINT NOT NULL, repeat SMALLINT NOT NULL
);

-- The import log: one row per imported file, with its receipt.
CREATE TABLE batches (
  batch INTEGER NOT NULL, file VARCHAR NOT NULL, feed VARCHAR NOT NULL,
  imported_at BIGINT NOT NULL, min_ts BIGINT, max_ts BIGINT, fills BIGINT NOT NULL,
  markets BIGINT NOT NULL, receipt VARCHAR NOT NULL
);

-- One row: the state of the rollups.
CREATE TABLE rollup_state (as_of BIGINT NOT NULL, stale BOOLEAN NOT NULL, epoch BIGINT NOT NULL);
INSERT INTO rollup_state VALUES (0, false, 0);

-- Fills that were imported after a later day had begun: days to sort again.
CREATE TABLE late_days (day INTEGER NOT NULL, fills BIGINT NOT NULL);

-- Rollups: each is a base, sorted by its first key, and a delta in order of arrival, with the
-- same columns. Readers add up both.
CREATE TABLE position (token INTEGER NOT NULL, wallet INTEGER NOT NULL, fills BIGINT NOT NULL,
  buy_shares BIGINT NOT NULL, sell_shares BIGINT NOT NULL, fee_shares BIGINT NOT NULL,
  buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL);
CREATE TABLE position_tail AS FROM position;
CREATE TABLE wallet_total (wallet INTEGER NOT NULL,
  fills BIGINT NOT NULL, maker_fills BIGINT NOT NULL, taker_fills BIGINT NOT NULL,
  buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL,
  days BIGINT NOT NULL, markets BIGINT NOT NULL, resolved_markets BIGINT NOT NULL,
  winning_markets BIGINT NOT NULL, negative_legs BIGINT NOT NULL, unmapped_fills BIGINT NOT NULL,
  redemption BIGINT NOT NULL, unresolved_cash BIGINT NOT NULL,
  first_ts BIGINT, last_ts BIGINT);
CREATE TABLE wallet_total_tail AS FROM wallet_total;
CREATE TABLE wallet_day (day INTEGER NOT NULL, wallet INTEGER NOT NULL, fills BIGINT NOT NULL,
  buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL);
CREATE TABLE wallet_day_tail AS FROM wallet_day;
CREATE TABLE token_total (token INTEGER NOT NULL,
  taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL,
  maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL,
  first_ts BIGINT, last_ts BIGINT);
CREATE TABLE token_total_tail AS FROM token_total;
CREATE TABLE token_day (day INTEGER NOT NULL, token INTEGER NOT NULL,
  taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL,
  maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE token_day_tail AS FROM token_day;
CREATE TABLE market_wallets (market INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE market_wallets_tail AS FROM market_wallets;
CREATE TABLE redemption (resolved_at BIGINT NOT NULL, market INTEGER NOT NULL, wallet INTEGER NOT NULL,
  usd BIGINT NOT NULL);
CREATE TABLE redemption_tail AS FROM redemption;
CREATE TABLE platform_hour (hour INTEGER NOT NULL,
  taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL,
  maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE platform_hour_tail AS FROM platform_hour;
CREATE TABLE platform_day (day INTEGER NOT NULL,
  taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL,
  maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL,
  active_wallets BIGINT NOT NULL);
CREATE TABLE platform_day_tail AS FROM platform_day;
-- Rolling windows 0, 1, 2 = the last 24, 168, 720 hours up to as_of.
CREATE TABLE wallet_window (wallet INTEGER NOT NULL, span TINYINT NOT NULL, fills BIGINT NOT NULL,
  buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, redemption BIGINT NOT NULL);
CREATE TABLE wallet_window_tail AS FROM wallet_window;
CREATE TABLE token_window (token INTEGER NOT NULL, span TINYINT NOT NULL,
  taker_fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, taker_shares BIGINT NOT NULL,
  maker_fills BIGINT NOT NULL, maker_usd BIGINT NOT NULL, maker_shares BIGINT NOT NULL);
CREATE TABLE token_window_tail AS FROM token_window;

-- Markets and events are sums over their tokens. So if a token is mapped late, or mapped again,
-- its whole history moves with it, and nothing has to be merged.
CREATE VIEW market_total AS
SELECT t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares,
  min(p.first_ts) AS first_ts, max(p.last_ts) AS last_ts
FROM (FROM token_total UNION ALL FROM token_total_tail) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL
GROUP BY t.market;
CREATE VIEW market_day AS
SELECT p.day, t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares
FROM (FROM token_day UNION ALL FROM token_day_tail) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL
GROUP BY p.day, t.market;
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

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
