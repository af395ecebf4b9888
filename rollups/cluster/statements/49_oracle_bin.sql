-- Forecasts by wallet and bin, of all cohorts.
SELECT wallet, bin, CAST(SUM(forecasts) AS BIGINT) AS forecasts, CAST(SUM(correct) AS BIGINT) AS correct, CAST(SUM(probability) AS BIGINT) AS probability,
  CAST(SUM(payout) AS BIGINT) AS payout, CAST(SUM(error) AS BIGINT) AS error, CAST(SUM(baseline_error) AS BIGINT) AS baseline_error,
  CAST(SUM(usd) AS BIGINT) AS usd
FROM oracle_part
GROUP BY wallet, bin
