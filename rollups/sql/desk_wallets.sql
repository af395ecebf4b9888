-- What wallets traded in the weather desk's markets. A batch adds what it trades of them, and the
-- differences in value of their holders. If the desk itself changes, tokens with a history join or
-- leave it:
--   n_desk_move   (market, joined): markets that joined the desk or left it
--   n_desk_mapped tokens of n_token that were on the desk
--   n_desk_token  (token, gained, first_ts, last_ts): tokens with fills before the
--                 batch that are on the desk now and were not, or the other way round

-- name: DeskMapped
-- Runs before the batch is added.
CREATE OR REPLACE TEMP TABLE n_desk_mapped AS
SELECT n.token FROM n_token AS n JOIN tokens AS t ON t.token = n.token
WHERE t.market IN (SELECT market FROM desk_market)

-- name: DeskTokensNone
CREATE OR REPLACE TEMP TABLE n_desk_token (token INTEGER, gained BOOLEAN, first_ts BIGINT, last_ts BIGINT)

-- name: DeskMayMove
SELECT (SELECT count(*) FROM n_desk_move) + (SELECT count(*) FROM n_token)

-- name: DeskTokens
-- token_total does not include the batch yet, so only tokens with a history are found.
INSERT INTO n_desk_token
WITH candidate AS (
  SELECT t.token, t.market IN (SELECT market FROM desk_market) AS now,
    t.token IN (SELECT token FROM n_desk_mapped) OR t.token NOT IN (SELECT token FROM n_token)
      AND t.market IN (SELECT market FROM n_desk_move WHERE NOT joined
        UNION ALL SELECT market FROM desk_market WHERE market NOT IN (SELECT market FROM n_desk_move)) AS before
  FROM tokens AS t
  WHERE t.token IN (SELECT token FROM n_token) OR t.market IN (SELECT market FROM n_desk_move)
)
SELECT c.token, bool_or(coalesce(c.now, false)), min(k.first_ts), max(k.last_ts)
FROM candidate AS c
JOIN (
  SELECT token, first_ts, last_ts FROM token_total UNION ALL SELECT token, first_ts, last_ts FROM token_total_delta
) AS k ON k.token = c.token
WHERE coalesce(c.now, false) <> coalesce(c.before, false)
GROUP BY c.token

-- name: DeskTokenCount
SELECT count(*) FILTER (NOT gained), count(*) FILTER (gained), coalesce(min(first_ts), 0), coalesce(max(last_ts), 0)
FROM n_desk_token

-- name: DeskLost
SELECT count(*) FROM n_desk_token WHERE NOT gained

-- name: DeskBatch
-- The tokens of the desk that the batch trades.
SELECT token FROM n_traded WHERE market IN (SELECT market FROM desk_market)

-- name: DeskRevalued
-- The number of tokens on the desk whose holders are valued again.
SELECT count(*) FROM touched AS v JOIN tokens AS t ON t.token = v.token WHERE t.market IN (SELECT market FROM desk_market)

-- name: DeskWalletNone
CREATE OR REPLACE TEMP TABLE n_desk_wallet AS FROM desk_wallet LIMIT 0

-- name: DeskJoinedMarkets
-- Markets that joined the desk with a history and whose holders are not valued again for another
-- reason.
SELECT t.market FROM tokens AS t JOIN n_desk_token AS g ON g.token = t.token
WHERE g.gained AND t.market IN (SELECT market FROM n_desk_move WHERE joined)
EXCEPT
SELECT t.market FROM tokens AS t JOIN touched AS v ON v.token = t.token

-- name: DeskWalletBatch
CREATE OR REPLACE TEMP TABLE n_desk_wallet AS
SELECT wallet, SUM(fills) AS fills, SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd, SUM(fee_usd) AS fee_usd,
  SUM(redemption) AS redemption, SUM(markets) AS markets, SUM(resolved_markets) AS resolved_markets,
  SUM(winning_markets) AS winning_markets, min(first_ts) AS first_ts, max(last_ts) AS last_ts
FROM (
  SELECT wallet, fills, buy_usd, sell_usd, fee_usd, 0 AS redemption, 0 AS markets, 0 AS resolved_markets, 0 AS winning_markets,
    NULL AS first_ts, NULL AS last_ts
  FROM d_position
  WHERE token IN (SELECT token FROM n_desk_batch)@notgained
  UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 0, 0, 0, ts, ts FROM n_fill WHERE token IN (SELECT token FROM n_desk_batch)
  @pairs
  @held
  @gained
) AS part
GROUP BY wallet

-- name: DeskNotGained
AND token NOT IN (SELECT token FROM n_desk_token)

-- name: DeskPairs
UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 1, 0, 0, NULL, NULL
  FROM d_pair
  WHERE market IN (SELECT market FROM desk_market)@notjoined

-- name: DeskNotJoined
AND market NOT IN (@joined)

-- name: DeskHeld
UNION ALL
  SELECT wallet, 0, 0, 0, 0, redemption, markets, resolved_markets, winning_markets, NULL, NULL
  FROM (@after UNION ALL @before) AS held

-- name: DeskGained
UNION ALL
  @figures

-- name: DeskHeldNow
(FROM held_after WHERE market IN (SELECT market FROM desk_market)) AS h

-- name: DeskHeldThen
(FROM held_before
 WHERE market IN (SELECT market FROM desk_market WHERE market NOT IN (SELECT market FROM n_desk_move)
   UNION ALL SELECT market FROM n_desk_move WHERE NOT joined)) AS h

-- name: DeskWalletOf
-- By wallet: its fills of the tokens @which, and its holdings @held.
SELECT wallet, SUM(fills) AS fills, SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd, SUM(fee_usd) AS fee_usd,
  SUM(redemption) AS redemption, SUM(markets) AS markets, SUM(resolved_markets) AS resolved_markets,
  SUM(winning_markets) AS winning_markets, min(first_ts) AS first_ts, max(last_ts) AS last_ts
FROM (
  SELECT wallet, SUM(fills) AS fills, SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd, SUM(fee_usd) AS fee_usd,
    0 AS redemption, 0 AS markets, 0 AS resolved_markets, 0 AS winning_markets, NULL AS first_ts, NULL AS last_ts
  FROM @positions AS p
  WHERE token IN (@which)
  GROUP BY wallet
  UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 0, 0, 0, min(ts), max(ts)
  FROM fills
  WHERE token IN (@which) AND @span
  GROUP BY wallet
  UNION ALL
  SELECT wallet, 0, 0, 0, 0, redemption, markets, resolved_markets, winning_markets, NULL, NULL FROM (@held) AS h
) AS part
GROUP BY wallet

-- name: FillsBetween
-- The facts of a range of time, both ends included. Zone maps know seconds, and not ts.
seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts BETWEEN @lo AND @hi

-- name: DeskTokensNow
SELECT token FROM tokens WHERE market IN (SELECT market FROM desk_market)

-- name: DeskTokensGained
SELECT token FROM n_desk_token WHERE gained

-- name: TokensOfMarkets
SELECT token FROM tokens WHERE market IN (@markets)

-- name: PositionsOf
-- @positions of some tokens.
(FROM @positions WHERE token IN (@which))

-- name: PositionsNow
(SELECT token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd FROM position
 UNION ALL
 FROM position_delta)

-- name: OfDesk
-- The holdings in @held that are in the desk's markets.
(SELECT * FROM @held AS h WHERE market IN (SELECT market FROM desk_market)) AS k

-- name: DeskHeldAllEmpty
CREATE OR REPLACE TEMP TABLE desk_held (wallet INTEGER, redemption BIGINT, markets BIGINT, resolved_markets BIGINT, winning_markets BIGINT)

-- name: DeskHeldAll
-- For some wallets.
INSERT INTO desk_held
SELECT wallet, SUM(redemption), SUM(markets), SUM(resolved_markets), SUM(winning_markets) FROM (@held) AS h GROUP BY wallet

-- name: DeltaDeskWallet
SELECT wallet, fills, buy_usd, sell_usd, fee_usd, redemption, markets, resolved_markets, winning_markets, first_ts, last_ts
FROM n_desk_wallet

-- name: RebuildDeskWallet
-- DeskWalletOf all wallets, from desk_held and with one reading of the facts.
SELECT f.wallet, f.fills, f.buy_usd, f.sell_usd, f.fee_usd, coalesce(h.redemption, 0) AS redemption, coalesce(h.markets, 0) AS markets,
  coalesce(h.resolved_markets, 0) AS resolved_markets, coalesce(h.winning_markets, 0) AS winning_markets, f.first_ts, f.last_ts
FROM (
  SELECT wallet, COUNT(*) AS fills, SUM(CASE side WHEN 0 THEN usd ELSE 0 END) AS buy_usd, SUM(CASE side WHEN 1 THEN usd ELSE 0 END) AS sell_usd,
    SUM(CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee ELSE 0 END) AS fee_usd, min(ts) AS first_ts, max(ts) AS last_ts
  FROM fills
  WHERE token IN (SELECT token FROM tokens WHERE market IN (SELECT market FROM desk_market)) AND @among
  GROUP BY wallet
) AS f
LEFT JOIN (FROM desk_held WHERE @among) AS h ON h.wallet = f.wallet
