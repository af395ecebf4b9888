-- Forecasting accuracy. A forecast is a wallet's tokens of one outcome of a resolved market, if
-- it bought more than it sold. Its probability is the average price that the wallet paid.

-- name: OutcomePrices
-- The average price of an outcome's tokens in takers' fills, or in makers' fills if no taker
-- traded it. @totals are volumes by token, @among is a condition that all of these tokens meet.
SELECT market, outcome, CASE WHEN taker_shares > 0 THEN @taker ELSE @maker END AS price
FROM (
  SELECT t.market, t.outcome, SUM(p.taker_usd)::BIGINT AS taker_usd, SUM(p.taker_shares)::BIGINT AS taker_shares,
    SUM(p.maker_usd)::BIGINT AS maker_usd, SUM(p.maker_shares)::BIGINT AS maker_shares
  FROM @totals AS p
  JOIN tokens AS t ON t.token = p.token
  WHERE t.market IS NOT NULL AND @among
  GROUP BY t.market, t.outcome
) AS legs
WHERE taker_shares > 0 OR maker_shares > 0

-- name: TotalsOfTouched
(SELECT token, taker_usd, taker_shares, maker_usd, maker_shares FROM token_total WHERE @among
 UNION ALL
 SELECT token, taker_usd, taker_shares, maker_usd, maker_shares FROM token_total_delta WHERE @among
 UNION ALL
 SELECT token, CASE WHEN role <> 1 THEN sign * usd ELSE 0 END, CASE WHEN role <> 1 THEN sign * shares ELSE 0 END,
   CASE WHEN role = 1 THEN sign * usd ELSE 0 END, CASE WHEN role = 1 THEN sign * shares ELSE 0 END
 FROM @batch WHERE @among)

-- name: PayingTokens
-- Tokens whose payout is known, with the average price of their outcome.
CREATE OR REPLACE TEMP TABLE o_token AS
SELECT t.token, t.market, t.outcome, t.payout, t.shared, o.price
FROM held_token AS t
JOIN o_price AS o ON o.market = t.market AND o.outcome = t.outcome
WHERE t.payout IS NOT NULL

-- name: PayingLegs
-- PricedLegs of all positions in outcomes of one token.
SELECT h.wallet, t.payout, h.buy_usd, h.buy_shares, t.price
FROM @positions AS h
JOIN o_token AS t ON t.token = h.token
WHERE NOT t.shared AND h.buy_shares - h.sell_shares - h.fee_shares > 0

-- name: SharedPayingLegs
-- The rest of them, if two tokens are mapped to one outcome.
SELECT h.wallet, any_value(t.payout), SUM(h.buy_usd)::BIGINT, SUM(h.buy_shares)::BIGINT, any_value(t.price)
FROM @positions AS h
JOIN o_token AS t ON t.token = h.token
WHERE t.shared
GROUP BY h.wallet, t.market, t.outcome
HAVING SUM(h.buy_shares - h.sell_shares - h.fee_shares) > 0

-- name: PricedLegs
-- The legs in @legs that are forecasts.
SELECT l.wallet, l.payout, l.buy_usd, l.buy_shares, o.price
FROM @legs AS l
JOIN (@prices) AS o ON o.market = l.market AND o.outcome = l.outcome
WHERE l.net > 0 AND l.payout IS NOT NULL

-- name: Forecasts
-- One row per forecast. A wallet with shares left after sales and fees has
-- bought some.
SELECT wallet, least(p // 100000, 9)::TINYINT AS bin, (payout > 500000)::INTEGER AS correct, p AS probability, payout,
  (p - payout) * (p - payout) AS error, (price - payout) * (price - payout) AS baseline_error, buy_usd AS usd
FROM (SELECT wallet, payout, buy_usd, price, @probability AS p FROM (@legs) AS l) AS forecast

-- name: ForecastsKept
CREATE OR REPLACE TEMP TABLE @into AS @forecasts

-- name: DeltaOracleBin
SELECT wallet, bin, SUM(sign) AS forecasts, SUM(sign * correct) AS correct, SUM(sign * probability) AS probability,
  SUM(sign * payout) AS payout, SUM(sign * error) AS error, SUM(sign * baseline_error) AS baseline_error,
  SUM(sign * usd) AS usd
FROM (SELECT 1 AS sign, * FROM o_after UNION ALL SELECT -1, * FROM o_before) AS part
GROUP BY wallet, bin

-- name: PricesEmpty
CREATE OR REPLACE TEMP TABLE o_price (market INTEGER, outcome TINYINT, price BIGINT)

-- name: RebuildOracleBin
SELECT wallet, bin, COUNT(*) AS forecasts, SUM(correct) AS correct, SUM(probability) AS probability, SUM(payout) AS payout,
  SUM(error) AS error, SUM(baseline_error) AS baseline_error, SUM(usd) AS usd
FROM (@forecasts) AS f
GROUP BY wallet, bin

-- name: LoadScores
-- Several rows for each wallet, which the reader adds up in an array by wallet: to group them takes several times as
-- long as to read them.
SELECT wallet, forecasts::INTEGER AS forecasts, correct::INTEGER AS correct, (payout - probability)::BIGINT AS edge,
  error::BIGINT AS error, baseline_error::BIGINT AS baseline_error, usd::BIGINT AS usd
FROM (@bins) AS b
