-- Internal: one row per wallet and market (NULL: unmapped). Products with a payout that is a fraction are summed
-- exactly, and the sum is rounded once, halves away from zero.
-- By cohort, from leg.
SELECT wallet, market, resolved_us, resolved, desk, fills, cash, buy_usd, sell_usd, fee_usd, negative_legs, first_ts, last_ts,
  whole + CAST(ROUND(part * CAST(0.000001 AS DECIMAL(7, 6)), 0) AS BIGINT) AS redemption
FROM (
  SELECT wallet, market, MAX(resolved_us) AS resolved_us, MAX(CASE WHEN payout IS NULL THEN 0 ELSE 1 END) AS resolved, MAX(desk) AS desk,
    CAST(SUM(fills) AS BIGINT) AS fills, CAST(SUM(cash) AS BIGINT) AS cash, CAST(SUM(buy_usd) AS BIGINT) AS buy_usd,
    CAST(SUM(sell_usd) AS BIGINT) AS sell_usd, CAST(SUM(fee_usd) AS BIGINT) AS fee_usd,
    CAST(SUM(CASE WHEN payout = 1000000 THEN net ELSE 0 END) AS BIGINT) AS whole,
    CAST(SUM(CASE WHEN payout <> 1000000 AND payout <> 0 THEN CAST(net AS DECIMAL(19, 0)) * CAST(payout AS DECIMAL(7, 0))
      ELSE CAST(0 AS DECIMAL(26, 0)) END) AS DECIMAL(28, 0)) AS part,
    CAST(SUM(CASE WHEN net < 0 AND payout IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS negative_legs,
    MIN(first_ts) AS first_ts, MAX(last_ts) AS last_ts
  FROM leg
  GROUP BY wallet, market
) AS valued
