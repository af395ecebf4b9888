-- Internal: what an outcome's tokens traded for on average: by fills of others than makers, or by makers' where there are none.
-- The guess and its correction are those of token_price.
SELECT market, outcome, LEAST(guess + CASE WHEN twice * CAST(guess + 1 AS DECIMAL(8, 0)) <= scaled THEN 1
  WHEN twice * CAST(guess AS DECIMAL(8, 0)) <= scaled THEN 0 ELSE -1 END, 1000000) AS price
FROM (
  SELECT market, outcome,
    CAST(FLOOR(LEAST(CAST(usd AS DOUBLE) * 1000000 / CAST(shares AS DOUBLE) + CAST(0.5 AS DOUBLE), CAST(1000001 AS DOUBLE))) AS BIGINT) AS guess,
    CAST(shares AS DECIMAL(19, 0)) * CAST(2 AS DECIMAL(1, 0)) AS twice,
    CAST(usd AS DECIMAL(19, 0)) * CAST(2000000 AS DECIMAL(7, 0)) + CAST(shares AS DECIMAL(19, 0)) AS scaled
  FROM (
    SELECT market, outcome, CASE WHEN taker_shares > 0 THEN taker_usd ELSE maker_usd END AS usd,
      CASE WHEN taker_shares > 0 THEN taker_shares ELSE maker_shares END AS shares
    FROM (
      SELECT t.market, t.outcome, CAST(SUM(d.taker_usd) AS BIGINT) AS taker_usd, CAST(SUM(d.taker_shares) AS BIGINT) AS taker_shares,
        CAST(SUM(d.maker_usd) AS BIGINT) AS maker_usd, CAST(SUM(d.maker_shares) AS BIGINT) AS maker_shares
      FROM token_total AS d
      JOIN token AS t ON t.token = d.token
      WHERE t.payout IS NOT NULL
      GROUP BY t.market, t.outcome
    ) AS legs
  ) AS basis
  WHERE shares > 0
) AS q
