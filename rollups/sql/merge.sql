-- What one batch changes. The batch is in temporary tables:
--   n_fill   its signed rows: +1 a new fill, -1 one that a better source replaces
--   n_token  (token, market, outcome): known tokens that now map elsewhere
--   n_market the markets that are new or changed, whole rows
--   n_payout (market, payouts, resolved_at): markets whose payouts are now these
--   n_issue  forecasts of the weather that are new
--   n_name   (wallet, name, ts): wallets whose newest name is now this
-- From it, merging creates n_traded, the tokens of n_fill as they are mapped: before the batch is
-- applied and, if it maps or describes anything, again after that. The cost of every statement here
-- is in proportion to these tables and to what they touch.

-- name: Traded
-- The tokens that the batch trades, with their mapping and the needed columns of their markets,
-- so that all tokens and markets are read once and not by every statement.
SELECT t.token, t.market, t.outcome, m.category,
  m.payout_source IS NOT NULL AS resolved -- as payouts IS NOT NULL, but reads one byte a row
FROM (SELECT token, market, outcome FROM tokens WHERE token IN (SELECT token FROM n_fill)) AS t
LEFT JOIN markets AS m ON m.market = t.market

-- name: TradedNone
SELECT 0::INTEGER AS token, 0::INTEGER AS market, 0::TINYINT AS outcome, '' AS category, false AS resolved LIMIT 0

-- name: Touched
-- Tokens whose holders must be valued again, before and after: those of markets
-- whose payouts or outcomes change, and of resolved markets with a late fill.
SELECT token FROM tokens WHERE market IN (SELECT market FROM n_traded WHERE resolved)
@mapped

-- name: NothingTouched
SELECT 0::INTEGER AS token LIMIT 0

-- name: TouchedByMarkets
-- If the batch has payouts, or maps known tokens.
UNION
SELECT token FROM tokens WHERE market IN (
  SELECT market FROM n_payout
  UNION ALL SELECT market FROM n_token WHERE market IS NOT NULL
  UNION ALL SELECT t.market FROM n_token AS n JOIN tokens AS t ON t.token = n.token WHERE t.market IS NOT NULL
)
UNION
SELECT token FROM n_token

-- name: FewTokens
SELECT count(*), string_agg(token::VARCHAR, ',' ORDER BY token) FROM (SELECT token FROM (@which) AS t LIMIT @most) AS f

-- name: HeldLegs
-- One row per wallet and outcome (market NULL: unmapped) of the positions in @positions. @among
-- is a condition that the tokens of all of them meet: if there are few, not all tokens and
-- markets have to be read.
SELECT h.wallet, k.market, k.outcome, any_value(k.resolved_at) AS resolved_at, any_value(k.payout) AS payout,
  SUM(h.fills)::BIGINT AS fills, SUM(h.buy_shares - h.sell_shares - h.fee_shares)::BIGINT AS net,
  SUM(h.sell_usd - h.buy_usd - h.fee_usd)::BIGINT AS cash, SUM(h.buy_shares)::BIGINT AS buy_shares,
  SUM(h.buy_usd)::BIGINT AS buy_usd
FROM @positions AS h
JOIN (
  SELECT t.token, t.market, t.outcome, m.resolved_at, m.payouts[t.outcome + 1] AS payout
  FROM tokens AS t
  LEFT JOIN markets AS m ON m.market = t.market
  WHERE @among
) AS k ON k.token = h.token
GROUP BY h.wallet, k.market, k.outcome

-- name: OneOf
-- Whether @token is in the list @which. DuckDB turns IN into a join above the scan, which then
-- reads all columns of every row group that may have one of the tokens; list_contains is tested
-- by the scan, which reads the other columns only of rows that pass. IN selects the row groups.
@token IN (@which) AND list_contains([@which]::INTEGER[], @token)

-- name: Holdings
-- One row per wallet and market (NULL: unmapped) of the legs in @legs.
WITH valued AS (
  SELECT wallet, market, any_value(resolved_at) AS resolved_at, bool_or(payout IS NOT NULL) AS resolved,
    SUM(fills)::BIGINT AS fills, SUM(cash)::BIGINT AS cash,
    coalesce(SUM(net) FILTER (payout = 1000000), 0)::BIGINT AS whole,
    coalesce(SUM(net::HUGEINT * payout) FILTER (payout <> 1000000 AND payout <> 0), 0) AS part,
    COUNT(*) FILTER (net < 0 AND payout IS NOT NULL) AS negative_legs
  FROM @legs AS leg
  GROUP BY wallet, market
)
SELECT wallet, market, resolved_at, resolved, fills, cash, negative_legs,
  -- Half a millionth is rounded away from zero. Most parts are zero, and a division of 128 bits
  -- is expensive.
  (whole + CASE WHEN part = 0 THEN 0 WHEN part >= 0 THEN (part + 500000) // 1000000 ELSE -((500000 - part) // 1000000) END)::BIGINT
    AS redemption
FROM valued

-- name: NoHoldings
CREATE OR REPLACE TEMP TABLE held_@when (wallet INTEGER, market INTEGER, resolved_at BIGINT, resolved BOOLEAN, fills BIGINT,
  cash BIGINT, negative_legs BIGINT, redemption BIGINT)

-- name: NothingAdded
CREATE OR REPLACE TEMP TABLE d_@table AS FROM @delta LIMIT 0

-- name: HoldingsOfTouched
-- @among is a condition on tokens: a list of few lets zone maps prune.
(SELECT token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd
 FROM position WHERE @among
 UNION ALL
 SELECT token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd
 FROM position_delta WHERE @among)

-- name: HoldingsWithBatch
-- The holdings of touched tokens, in @held, and what the batch adds to them.
(FROM @held
 UNION ALL
 SELECT token, wallet, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd
 FROM @batch AS b WHERE token IN (SELECT token FROM touched))

-- name: NewPairs
-- Wallets that trade an open market for the first time, for the counts of distinct markets and
-- distinct traders. Runs before the batch is added.
WITH pair AS (
  SELECT DISTINCT f.wallet, t.market
  FROM (SELECT DISTINCT wallet, token FROM n_fill) AS f
  JOIN n_traded AS t ON t.token = f.token
  WHERE t.market IS NOT NULL AND f.token NOT IN (SELECT token FROM touched)
),
candidate AS (
  SELECT p.wallet, p.market, t.token FROM pair AS p JOIN tokens AS t ON t.market = p.market
),
known AS (
  SELECT DISTINCT c.wallet, c.market
  FROM (SELECT token, wallet FROM position UNION ALL SELECT token, wallet FROM position_delta) AS h
  JOIN candidate AS c ON c.wallet = h.wallet AND c.token = h.token
)
SELECT wallet, market FROM pair
EXCEPT
SELECT wallet, market FROM known

-- name: PairsEmpty
CREATE OR REPLACE TEMP TABLE d_pair (wallet INTEGER, market INTEGER)

-- name: BatchPairs
SELECT DISTINCT f.wallet, t.market
FROM n_fill AS f
JOIN n_traded AS t ON t.token = f.token
WHERE t.market IS NOT NULL AND f.token NOT IN (SELECT token FROM touched)

-- name: RevaluedPairs
SELECT wallet, market FROM held_after WHERE market IS NOT NULL

-- name: MovedTokens
SELECT count(*) FROM n_token AS n JOIN tokens AS t ON t.token = n.token WHERE t.market IS NOT NULL

-- name: NewDays
-- UTC days on which a wallet trades for the first time. Runs before the batch is added.
WITH fresh AS (
  SELECT DISTINCT (ts // 86400000000)::INTEGER AS day, wallet FROM n_fill
)
SELECT f.day, f.wallet FROM fresh AS f
WHERE NOT EXISTS (
  SELECT 1 FROM (
    SELECT day, wallet FROM wallet_day WHERE day BETWEEN @firstday AND @lastday
    UNION ALL
    SELECT day, wallet FROM wallet_day_delta WHERE day BETWEEN @firstday AND @lastday
  ) AS k
  WHERE k.day = f.day AND k.wallet = f.wallet
)

-- name: NewDaysNone
SELECT 0::INTEGER AS day, 0::INTEGER AS wallet LIMIT 0

-- name: BatchDays
SELECT DISTINCT (ts // 86400000000)::INTEGER AS day, wallet AS id FROM n_fill

-- name: WindowsEmpty
CREATE OR REPLACE TEMP TABLE w_fill (span TINYINT, sign TINYINT, wallet INTEGER, token INTEGER, side TINYINT,
  role TINYINT, shares BIGINT, usd BIGINT, fee BIGINT)

-- name: WindowsRedemptionEmpty
CREATE OR REPLACE TEMP TABLE w_redemption (span TINYINT, wallet INTEGER, usd BIGINT)

-- name: IntoWindows
INSERT INTO w_fill
@rows

-- name: RedemptionIntoWindows
INSERT INTO w_redemption
@rows

-- name: WindowFills
-- Facts that leave a window as as_of moves on (@sign -1, before the batch is added), or that are
-- in it (@sign 1); literal bounds let zone maps prune.
SELECT @span::TINYINT AS span, @sign AS sign, wallet, token, side, role, shares, usd, fee
FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts > @lo AND ts <= @hi

-- name: MovingRedemption
-- Redemptions that leave a window (@sign -1) or enter it (@sign 1). Runs before the batch is
-- added.
SELECT @span, wallet, @sign * usd FROM redemption WHERE resolved_at > @lo AND resolved_at <= @hi
UNION ALL
SELECT @span, wallet, @sign * usd FROM redemption_delta WHERE resolved_at > @lo AND resolved_at <= @hi

-- name: EnteringFills
SELECT @span, sign, wallet, token, side, role, shares, usd, fee
FROM n_fill
WHERE ts > @lo

-- name: BatchRedemption
-- What the batch itself changes in the redemptions inside a window.
SELECT @span, wallet, usd FROM d_redemption WHERE resolved_at > @lo AND resolved_at <= @hi

-- name: DeltaPosition
SELECT token, wallet, SUM(sign) AS fills,
  SUM(CASE side WHEN 0 THEN sign * shares ELSE 0 END) AS buy_shares,
  SUM(CASE side WHEN 1 THEN sign * shares ELSE 0 END) AS sell_shares,
  SUM(CASE WHEN side = 0 AND fee > 0 THEN sign * fee ELSE 0 END) AS fee_shares,
  SUM(CASE side WHEN 0 THEN sign * usd ELSE 0 END) AS buy_usd,
  SUM(CASE side WHEN 1 THEN sign * usd ELSE 0 END) AS sell_usd,
  SUM(sign * CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee ELSE 0 END) AS fee_usd
FROM n_fill
GROUP BY token, wallet

-- name: DeltaWalletDay
SELECT (ts // 86400000000)::INTEGER AS day, wallet, SUM(sign) AS fills,
  SUM(CASE side WHEN 0 THEN sign * usd ELSE 0 END) AS buy_usd,
  SUM(CASE side WHEN 1 THEN sign * usd ELSE 0 END) AS sell_usd,
  SUM(sign * CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee ELSE 0 END) AS fee_usd
FROM n_fill
GROUP BY day, wallet

-- name: TouchedTokens
SELECT token FROM touched

-- name: Legs
-- The volume of fills by leg: makers are counted apart from all others, so that either basis
-- counts a match once.
SUM(CASE WHEN role <> 1 THEN sign ELSE 0 END) AS taker_fills,
  SUM(CASE WHEN role <> 1 THEN sign * usd ELSE 0 END) AS taker_usd,
  SUM(CASE WHEN role <> 1 THEN sign * shares ELSE 0 END) AS taker_shares,
  SUM(CASE WHEN role = 1 THEN sign ELSE 0 END) AS maker_fills,
  SUM(CASE WHEN role = 1 THEN sign * usd ELSE 0 END) AS maker_usd,
  SUM(CASE WHEN role = 1 THEN sign * shares ELSE 0 END) AS maker_shares

-- name: DeltaTokenTotal
SELECT token, @legs, min(ts) AS first_ts, max(ts) AS last_ts
FROM n_fill
GROUP BY token

-- name: DeltaTokenDay
SELECT (ts // 86400000000)::INTEGER AS day, token, @legs
FROM n_fill
GROUP BY day, token

-- name: DeltaPlatformHour
SELECT (ts // 3600000000)::INTEGER AS hour, @legs
FROM n_fill
GROUP BY hour

-- name: DeltaPlatformDay
SELECT day, SUM(taker_fills) AS taker_fills, SUM(taker_usd) AS taker_usd, SUM(taker_shares) AS taker_shares,
  SUM(maker_fills) AS maker_fills, SUM(maker_usd) AS maker_usd, SUM(maker_shares) AS maker_shares,
  SUM(active_wallets) AS active_wallets
FROM (
  SELECT (ts // 86400000000)::INTEGER AS day, @legs, 0 AS active_wallets FROM n_fill GROUP BY day
  @activedays
) AS part
GROUP BY day

-- name: NewDaysOfAll
UNION ALL
  SELECT day, 0, 0, 0, 0, 0, 0, COUNT(*) FROM d_day GROUP BY day

-- name: DeltaMarketWallets
SELECT market, SUM(wallets) AS wallets
FROM (
  SELECT market, COUNT(*) AS wallets FROM d_pair GROUP BY market
  @heldmarkets
) AS part
GROUP BY market

-- name: HeldByMarket
UNION ALL
  SELECT market, COUNT(*) FROM held_after WHERE market IS NOT NULL GROUP BY market
  UNION ALL
  SELECT market, -COUNT(*) FROM held_before WHERE market IS NOT NULL GROUP BY market

-- name: DeltaRedemption
SELECT resolved_at, market, wallet, SUM(usd) AS usd
FROM (
  SELECT coalesce(resolved_at, 0) AS resolved_at, market, wallet, redemption AS usd
  FROM held_after WHERE resolved
  UNION ALL
  SELECT coalesce(resolved_at, 0), market, wallet, -redemption
  FROM held_before WHERE resolved
) AS part
GROUP BY resolved_at, market, wallet

-- name: HeldContribution
-- What a wallet's holdings add to its totals.
SELECT wallet, @sign * (market IS NOT NULL)::INTEGER AS markets, @sign * resolved::INTEGER AS resolved_markets,
  @sign * (resolved AND cash + redemption > 0)::INTEGER AS winning_markets,
  @sign * negative_legs AS negative_legs,
  CASE WHEN market IS NULL THEN @sign * fills ELSE 0 END AS unmapped_fills,
  @sign * redemption AS redemption,
  CASE WHEN resolved THEN 0 ELSE @sign * cash END AS unresolved_cash
FROM @held

-- name: DeltaWalletTotal
SELECT wallet, SUM(fills) AS fills, SUM(maker_fills) AS maker_fills, SUM(taker_fills) AS taker_fills,
  SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd, SUM(fee_usd) AS fee_usd, SUM(days) AS days,
  SUM(markets) AS markets, SUM(resolved_markets) AS resolved_markets, SUM(winning_markets) AS winning_markets,
  SUM(negative_legs) AS negative_legs, SUM(unmapped_fills) AS unmapped_fills,
  SUM(redemption) AS redemption, SUM(unresolved_cash) AS unresolved_cash,
  min(first_ts) AS first_ts, max(last_ts) AS last_ts
FROM (
  SELECT wallet, SUM(sign) AS fills, SUM(CASE role WHEN 1 THEN sign ELSE 0 END) AS maker_fills,
    SUM(CASE role WHEN 2 THEN sign ELSE 0 END) AS taker_fills,
    SUM(CASE side WHEN 0 THEN sign * usd ELSE 0 END) AS buy_usd,
    SUM(CASE side WHEN 1 THEN sign * usd ELSE 0 END) AS sell_usd,
    SUM(sign * CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee ELSE 0 END) AS fee_usd,
    0 AS days, 0 AS markets, 0 AS resolved_markets, 0 AS winning_markets, 0 AS negative_legs,
    0 AS unmapped_fills, 0 AS redemption, 0 AS unresolved_cash, min(ts) AS first_ts, max(ts) AS last_ts
  FROM n_fill
  GROUP BY wallet
  @newdays
  @newpairs
  UNION ALL
  -- Fills whose holders are not valued again: their market is open or unmapped.
  SELECT f.wallet, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    SUM(CASE WHEN t.market IS NULL THEN f.sign ELSE 0 END), 0,
    SUM(f.sign * CASE f.side WHEN 0 THEN least(f.fee, 0) - f.usd ELSE f.usd - f.fee END), NULL, NULL
  FROM n_fill AS f
  JOIN n_traded AS t ON t.token = f.token
  @untouched
  GROUP BY f.wallet
  @heldwallets
) AS part
GROUP BY wallet

-- name: NotTouched
WHERE f.token NOT IN (SELECT token FROM touched)

-- name: NewDaysOfWallets
UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 0, COUNT(*), 0, 0, 0, 0, 0, 0, 0, NULL, NULL FROM d_day GROUP BY wallet

-- name: NewPairsOfWallets
UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 0, 0, COUNT(*), 0, 0, 0, 0, 0, 0, NULL, NULL FROM d_pair GROUP BY wallet

-- name: HeldOfWallets
UNION ALL
  SELECT wallet, 0, 0, 0, 0, 0, 0, 0, markets, resolved_markets, winning_markets, negative_legs, unmapped_fills,
    redemption, unresolved_cash, NULL, NULL
  FROM (@after UNION ALL @before) AS held

-- name: DeltaWalletWindow
SELECT span, wallet, SUM(fills) AS fills, SUM(buy_usd) AS buy_usd, SUM(sell_usd) AS sell_usd,
  SUM(fee_usd) AS fee_usd, SUM(redemption) AS redemption, SUM(undated) AS undated, SUM(undated_markets) AS undated_markets
FROM (
  SELECT span, wallet, sign AS fills,
    CASE side WHEN 0 THEN sign * usd ELSE 0 END AS buy_usd,
    CASE side WHEN 1 THEN sign * usd ELSE 0 END AS sell_usd,
    sign * CASE WHEN side = 1 THEN fee WHEN fee < 0 THEN -fee ELSE 0 END AS fee_usd, 0 AS redemption, 0 AS undated, 0 AS undated_markets
  FROM w_fill
  @redeemed
  @windowundated
) AS part
GROUP BY span, wallet

-- name: WindowRedemption
UNION ALL
  SELECT span, wallet, 0, 0, 0, 0, usd, 0, 0 FROM w_redemption

-- name: WindowUndated
UNION ALL
  SELECT span, wallet, 0, 0, 0, 0, 0, usd, markets FROM w_undated

-- name: DeltaTokenWindow
SELECT span, token, @legs
FROM w_fill
GROUP BY span, token

-- name: AdvanceState
UPDATE rollup_state SET as_of = @to, epoch = epoch + 1

-- name: ReadState
SELECT as_of, stale, epoch FROM rollup_state

-- name: MarkStale
UPDATE rollup_state SET stale = true

-- name: BatchSizes
-- What a batch has, which tells which statements are not needed, and the figures that decide
-- whether it is summed up in Go. As subqueries of one row they would be joined, which takes three
-- times as long.
SELECT 'fills' AS what, count(*) AS n, coalesce(min(ts), 0) AS oldest, coalesce(max(ts), 0) AS newest,
  count(*) FILTER (sign < 0 AND role <> 1) AS replaced FROM n_fill
UNION ALL SELECT 'tokens', count(*), 0, 0, 0 FROM n_token
UNION ALL SELECT 'markets', count(*), 0, 0, 0 FROM n_market
UNION ALL SELECT 'payouts', count(*), 0, 0, 0 FROM n_payout
UNION ALL SELECT 'forecasts', count(*), 0, 0, 0 FROM n_issue
UNION ALL SELECT 'whale rule', min_usd, 0, 0, 0 FROM whale_rule
UNION ALL SELECT 'index', bucket, 0, 0, 0 FROM index_stored

-- name: TradedResolved
SELECT count(*) > 0 FROM n_traded WHERE resolved

-- The same for a batch that is summed up in Go.

-- name: BatchFills
SELECT 0::TINYINT AS span, ts, wallet, token, side, role, shares, usd, fee, tx, coalesce(log_index, -1) AS log_index FROM n_fill

-- name: TradedTokens
SELECT token, coalesce(market, -1) AS market, CASE WHEN market IS NULL THEN -1 ELSE outcome END AS outcome, coalesce(category, '') AS category,
  resolved, coalesce(market IN (SELECT market FROM desk_market), false) AS desk
FROM (@rows) AS t

-- name: PaidMarkets
SELECT market FROM n_payout

-- name: HeldTokens
-- The tokens of markets whose holders are valued again; @among and @same select the same markets.
SELECT t.token, t.market, t.outcome, coalesce(m.payouts[t.outcome + 1], -1) AS payout, m.resolved_at, m.resolved_at IS NOT NULL AS dated,
  coalesce(t.market IN (SELECT market FROM desk_market), false) AS desk
FROM (SELECT token, market, outcome FROM tokens AS t WHERE @among) AS t
JOIN (SELECT market, payouts, resolved_at FROM markets AS m WHERE @same) AS m ON m.market = t.market

-- name: ManyListed
SELECT unnest([@list]::INTEGER[])

-- name: AtMost
FROM (@of) AS r LIMIT @rows

-- name: LeavingFills
-- WindowFills, with the columns that the price depends on.
SELECT @span::TINYINT AS span, ts, wallet, token, side, role, shares, usd, fee, NULL::BLOB AS tx, coalesce(log_index, -1) AS log_index
FROM fills
WHERE seconds BETWEEN @lo // 1000000 AND @hi // 1000000 AND ts > @lo AND ts <= @hi

-- name: RedemptionBetween
SELECT @span::TINYINT AS span, wallet, usd FROM redemption WHERE resolved_at > @lo AND resolved_at <= @hi
UNION ALL
SELECT @span::TINYINT AS span, wallet, usd FROM redemption_delta WHERE resolved_at > @lo AND resolved_at <= @hi

-- name: WindowUndatedRows
SELECT span, wallet, usd, markets::BIGINT AS markets FROM (@parts) AS u
