-- Internal: what tokens are known to be, and the cohort of each: markets that were resolved within the same 30 days, that are open (-1),
-- that were resolved at an unknown time (-2), and tokens of no market (-3). A wallet's holding of a market lies within one.
SELECT t.token, t.market, t.outcome, t.payout, t.resolved_us, t.desk, COALESCE(m.cohort, -3) AS cohort
FROM token AS t
LEFT JOIN (
  SELECT market, MAX(CASE WHEN payout IS NULL THEN -1 WHEN resolved_us IS NULL THEN -2
    ELSE CAST(FLOOR(CAST(resolved_us AS DOUBLE) / 2592000000000) AS INTEGER) END) AS cohort
  FROM token
  WHERE market IS NOT NULL
  GROUP BY market
) AS m ON m.market = t.market
-- Touched: the cohorts of which something is not as it was
SELECT cohort
FROM (
  SELECT m.cohort FROM changed_position_part AS p JOIN mapping AS m ON m.token = p.token
  UNION ALL
  SELECT n.cohort FROM (SELECT * FROM mapping EXCEPT SELECT * FROM before_mapping) AS n
  UNION ALL
  SELECT b.cohort FROM (SELECT * FROM before_mapping EXCEPT SELECT * FROM mapping) AS b
) AS t
GROUP BY cohort
