-- Of resolved markets, by the time of resolution; 0: not known.
-- By cohort, from holding.
SELECT COALESCE(resolved_us, 0) AS resolved_at, market, wallet, redemption AS usd
FROM holding
WHERE resolved = 1 AND redemption <> 0
