-- Months, counted from January 1970.
SELECT month, COUNT(*) AS wallets
FROM (
  SELECT d.month, w.wallet FROM wallet_day AS w JOIN lake_days AS d ON d.day = w.day GROUP BY d.month, w.wallet
) AS once
GROUP BY month
