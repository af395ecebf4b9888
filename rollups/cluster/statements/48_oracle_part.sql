-- Internal: forecasts by wallet and bin, within a cohort: tokens of one outcome of a resolved market that a wallet has left. It paid the probability for them.
-- What they traded for on average is of the tokens of the cohort, too.
-- By cohort, from leg.
SELECT wallet, bin, COUNT(*) AS forecasts, CAST(SUM(CASE WHEN payout > 500000 THEN 1 ELSE 0 END) AS BIGINT) AS correct,
  CAST(SUM(p) AS BIGINT) AS probability, CAST(SUM(payout) AS BIGINT) AS payout, CAST(SUM((p - payout) * (p - payout)) AS BIGINT) AS error,
  CAST(SUM((price - payout) * (price - payout)) AS BIGINT) AS baseline_error, CAST(SUM(buy_usd) AS BIGINT) AS usd
FROM (
  SELECT wallet, payout, buy_usd, price, p, CAST(LEAST(FLOOR(CAST(p AS DOUBLE) / 100000), CAST(9 AS DOUBLE)) AS INTEGER) AS bin
  FROM (
    SELECT wallet, payout, buy_usd, price, LEAST(guess + CASE WHEN twice * CAST(guess + 1 AS DECIMAL(8, 0)) <= scaled THEN 1
      WHEN twice * CAST(guess AS DECIMAL(8, 0)) <= scaled THEN 0 ELSE -1 END, 1000000) AS p
    FROM (
      SELECT l.wallet, l.payout, l.buy_usd, o.price,
        CAST(FLOOR(LEAST(CAST(l.buy_usd AS DOUBLE) * 1000000 / CAST(l.buy_shares AS DOUBLE) + CAST(0.5 AS DOUBLE), CAST(1000001 AS DOUBLE))) AS BIGINT) AS guess,
        CAST(l.buy_shares AS DECIMAL(19, 0)) * CAST(2 AS DECIMAL(1, 0)) AS twice,
        CAST(l.buy_usd AS DECIMAL(19, 0)) * CAST(2000000 AS DECIMAL(7, 0)) + CAST(l.buy_shares AS DECIMAL(19, 0)) AS scaled
      FROM leg AS l
      JOIN outcome_price AS o ON o.market = l.market AND o.outcome = l.outcome
      WHERE l.net > 0 AND l.payout IS NOT NULL
    ) AS q
  ) AS forecast
) AS binned
GROUP BY wallet, bin
