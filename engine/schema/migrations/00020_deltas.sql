-- +goose Up
-- A rollup is a base, sorted by key, and a delta of the rows added since.
DROP VIEW event_total;
DROP VIEW market_day;
DROP VIEW market_total;
ALTER TABLE position_tail RENAME TO position_delta;
ALTER TABLE wallet_total_tail RENAME TO wallet_total_delta;
ALTER TABLE wallet_day_tail RENAME TO wallet_day_delta;
ALTER TABLE token_total_tail RENAME TO token_total_delta;
ALTER TABLE token_day_tail RENAME TO token_day_delta;
ALTER TABLE market_wallets_tail RENAME TO market_wallets_delta;
ALTER TABLE redemption_tail RENAME TO redemption_delta;
ALTER TABLE platform_hour_tail RENAME TO platform_hour_delta;
ALTER TABLE platform_day_tail RENAME TO platform_day_delta;
ALTER TABLE wallet_window_tail RENAME TO wallet_window_delta;
ALTER TABLE token_window_tail RENAME TO token_window_delta;
ALTER TABLE token_price_tail RENAME TO token_price_delta;
ALTER TABLE whale_move_tail RENAME TO whale_move_delta;
ALTER TABLE index_flow_tail RENAME TO index_flow_delta;
ALTER TABLE oracle_bin_tail RENAME TO oracle_bin_delta;
ALTER TABLE week_wallets_tail RENAME TO week_wallets_delta;
ALTER TABLE month_wallets_tail RENAME TO month_wallets_delta;
ALTER TABLE day_markets_tail RENAME TO day_markets_delta;
ALTER TABLE undated_tail RENAME TO undated_delta;
ALTER TABLE desk_wallet_tail RENAME TO desk_wallet_delta;
ALTER TABLE event_wallets_tail RENAME TO event_wallets_delta;
CREATE VIEW market_total AS
SELECT t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares,
  min(p.first_ts) AS first_ts, max(p.last_ts) AS last_ts
FROM (FROM token_total UNION ALL FROM token_total_delta) AS p
JOIN tokens AS t ON t.token = p.token
WHERE t.market IS NOT NULL
GROUP BY t.market;
CREATE VIEW market_day AS
SELECT p.day, t.market, SUM(p.taker_fills)::BIGINT AS taker_fills, SUM(p.taker_usd)::BIGINT AS taker_usd,
  SUM(p.taker_shares)::BIGINT AS taker_shares, SUM(p.maker_fills)::BIGINT AS maker_fills,
  SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares
FROM (FROM token_day UNION ALL FROM token_day_delta) AS p
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
