-- Every rollup from the facts alone. These are the definitions: the sums of deltas from merge.sql
-- must equal them.

-- name: SignedFacts
-- Those of a range of time, @which, if it is known.
(SELECT 1 AS sign, ts, wallet, token, side, role, shares, usd, fee, log_index FROM fills WHERE @which)

-- name: HeldTokensAll
-- The columns of tokens that are needed to value all positions. shared: another token is mapped
-- to the same outcome. plain: of each token of the market, all or nothing is paid, or the payout
-- is unknown of all of them; so are tokens without a market.
CREATE OR REPLACE TEMP TABLE held_token AS
SELECT *, NOT bool_or(shared) OVER of_market AND (bool_and(coalesce(payout IN (0, 1000000), false)) OVER of_market
  OR bool_and(payout IS NULL) OVER of_market) AS plain
FROM (
  SELECT t.token, t.market, t.outcome, m.resolved_at, m.payouts[t.outcome + 1] AS payout,
    t.market IS NOT NULL AND count(*) OVER (PARTITION BY t.market, t.outcome) > 1 AS shared
  FROM tokens AS t
  LEFT JOIN markets AS m ON m.market = t.market
) AS t
WINDOW of_market AS (PARTITION BY market)

-- name: HeldTokenKinds
SELECT coalesce(bool_or(shared), false), coalesce(bool_and(plain), true) FROM held_token

-- name: HeldPlain
-- Holdings in plain markets. What is equal for all holders of a market is joined to the sums, not
-- summed up with them.
SELECT h.wallet, h.market, m.resolved_at, coalesce(m.resolved, false) AS resolved, h.fills, h.cash, h.negative_legs, h.redemption
FROM (
  SELECT wallet, market, SUM(fills)::BIGINT AS fills, SUM(cash)::BIGINT AS cash, SUM(negative)::BIGINT AS negative_legs,
    SUM(redemption)::BIGINT AS redemption
  FROM (
    SELECT h.wallet, t.market, h.fills, h.sell_usd - h.buy_usd - h.fee_usd AS cash,
      (t.payout IS NOT NULL AND h.buy_shares - h.sell_shares - h.fee_shares < 0)::INTEGER AS negative,
      CASE t.payout WHEN 1000000 THEN h.buy_shares - h.sell_shares - h.fee_shares ELSE 0 END AS redemption
    FROM @positions AS h
    JOIN (FROM held_token AS t WHERE plain AND @among) AS t ON t.token = h.token
  ) AS leg
  GROUP BY wallet, market
) AS h
LEFT JOIN (
  SELECT market, any_value(resolved_at) AS resolved_at, bool_or(payout IS NOT NULL) AS resolved
  FROM held_token AS t WHERE plain AND @among GROUP BY market
) AS m ON m.market = h.market

-- name: HeldLegsAlone
-- HeldLegs in markets that are not plain, without what only forecasts need, of outcomes that are not shared. @positions has a row for
-- each wallet and token, so nothing is added up.
SELECT h.wallet, t.market, t.resolved_at, t.payout, h.fills, h.buy_shares - h.sell_shares - h.fee_shares AS net,
  h.sell_usd - h.buy_usd - h.fee_usd AS cash
FROM @positions AS h
JOIN (FROM held_token AS t WHERE NOT plain AND NOT shared AND @among) AS t ON t.token = h.token

-- name: HeldLegsShared
-- The others. In one statement with those that are not shared, DuckDB would keep all of @positions if that is a view that joins, as
-- a verification in little memory has it: it computes what is there twice only once.
SELECT h.wallet, t.market, any_value(t.resolved_at), any_value(t.payout), SUM(h.fills)::BIGINT,
  SUM(h.buy_shares - h.sell_shares - h.fee_shares)::BIGINT, SUM(h.sell_usd - h.buy_usd - h.fee_usd)::BIGINT
FROM @positions AS h
JOIN (FROM held_token AS t WHERE shared AND @among) AS t ON t.token = h.token
GROUP BY h.wallet, t.market, t.outcome

-- name: RebuildWalletTotal
-- Every wallet that holds something or has a day has fills.
SELECT f.wallet, f.fills, f.maker_fills, f.taker_fills, coalesce(d.buy_usd, 0) AS buy_usd, coalesce(d.sell_usd, 0) AS sell_usd,
  coalesce(d.fee_usd, 0) AS fee_usd, coalesce(d.days, 0) AS days, coalesce(h.markets, 0) AS markets,
  coalesce(h.resolved_markets, 0) AS resolved_markets, coalesce(h.winning_markets, 0) AS winning_markets,
  coalesce(h.negative_legs, 0) AS negative_legs, coalesce(h.unmapped_fills, 0) AS unmapped_fills,
  coalesce(h.redemption, 0) AS redemption, coalesce(h.unresolved_cash, 0) AS unresolved_cash, f.first_ts, f.last_ts
FROM (
  SELECT wallet, COUNT(*) AS fills, COUNT(*) FILTER (role = 1) AS maker_fills, COUNT(*) FILTER (role = 2) AS taker_fills,
    min(ts) AS first_ts, max(ts) AS last_ts
  FROM fills WHERE @among GROUP BY wallet
) AS f
LEFT JOIN (
  SELECT wallet, SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd, SUM(fee_usd) AS fee_usd, COUNT(*) AS days
  FROM @wallet_day WHERE @among GROUP BY wallet
) AS d ON d.wallet = f.wallet
LEFT JOIN (
  SELECT wallet, SUM(markets) AS markets, SUM(resolved_markets) AS resolved_markets, SUM(winning_markets) AS winning_markets,
    SUM(negative_legs) AS negative_legs, SUM(unmapped_fills) AS unmapped_fills, SUM(redemption) AS redemption,
    SUM(unresolved_cash) AS unresolved_cash
  FROM (@held) AS h WHERE @among GROUP BY wallet
) AS h ON h.wallet = f.wallet

-- name: RebuildTokenTotal
SELECT d.*, f.first_ts, f.last_ts
FROM (
  SELECT token, SUM(taker_fills) AS taker_fills, SUM(taker_usd) AS taker_usd, SUM(taker_shares) AS taker_shares,
    SUM(maker_fills) AS maker_fills, SUM(maker_usd) AS maker_usd, SUM(maker_shares) AS maker_shares
  FROM @token_day WHERE @among GROUP BY token
) AS d
JOIN (SELECT token, min(ts) AS first_ts, max(ts) AS last_ts FROM fills WHERE @among GROUP BY token) AS f ON f.token = d.token

-- name: RebuildPlatformHour
-- Three sums for each hour and leg take half as long as the six of an hour.
SELECT hour, SUM(CASE WHEN maker THEN 0 ELSE fills END) AS taker_fills, SUM(CASE WHEN maker THEN 0 ELSE usd END) AS taker_usd,
  SUM(CASE WHEN maker THEN 0 ELSE shares END) AS taker_shares, SUM(CASE WHEN maker THEN fills ELSE 0 END) AS maker_fills,
  SUM(CASE WHEN maker THEN usd ELSE 0 END) AS maker_usd, SUM(CASE WHEN maker THEN shares ELSE 0 END) AS maker_shares
FROM (
  SELECT (seconds // 3600)::INTEGER AS hour, role = 1 AS maker, COUNT(*) AS fills, SUM(usd) AS usd, SUM(shares) AS shares
  FROM fills GROUP BY hour, maker
) AS leg
GROUP BY hour

-- name: RebuildMarketWallets
SELECT market, COUNT(*) AS wallets FROM held_all WHERE market IS NOT NULL GROUP BY market

-- name: RebuildRedemption
SELECT coalesce(resolved_at, 0) AS resolved_at, market, wallet, redemption AS usd
FROM held_all WHERE resolved AND redemption <> 0

-- name: RebuildPlatformDay
SELECT t.day, t.taker_fills, t.taker_usd, t.taker_shares, t.maker_fills, t.maker_usd, t.maker_shares,
  w.active_wallets
FROM (
  SELECT day, SUM(taker_fills) AS taker_fills, SUM(taker_usd) AS taker_usd, SUM(taker_shares) AS taker_shares,
    SUM(maker_fills) AS maker_fills, SUM(maker_usd) AS maker_usd, SUM(maker_shares) AS maker_shares
  FROM @token_day GROUP BY day
) AS t
JOIN (SELECT day, COUNT(*) AS active_wallets FROM @wallet_day GROUP BY day) AS w ON w.day = t.day

-- name: RebuildWindowRedemption
INSERT INTO w_redemption
SELECT @span, wallet, usd FROM @redemption WHERE resolved_at > @lo AND resolved_at <= @hi

-- name: NewestFill
SELECT coalesce(max(ts), 0) FROM fills WHERE seconds = (SELECT max(seconds) FROM fills)

-- name: FinishRebuild
UPDATE rollup_state SET as_of = @to, stale = false, epoch = epoch + 1
