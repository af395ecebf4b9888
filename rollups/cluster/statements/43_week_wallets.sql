-- ISO weeks, counted from Monday 1969-12-29.
SELECT week, COUNT(*) AS wallets
FROM (
  SELECT d.week, w.wallet FROM wallet_day AS w JOIN lake_days AS d ON d.day = w.day GROUP BY d.week, w.wallet
) AS once
GROUP BY week
