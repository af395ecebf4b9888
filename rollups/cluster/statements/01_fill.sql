-- The facts in whole millionths and microseconds. Days, hours and buckets come from a quotient in
-- floating point that is exact enough: the next whole number is further away than half a last digit
-- until the year 2255.
SELECT us, CAST(FLOOR(CAST(us AS DOUBLE) / 86400000000) AS INTEGER) AS day, wallet, token,
  CASE WHEN side = 'BUY' THEN 0 ELSE 1 END AS side, COALESCE(role, '') AS role,
  CAST(CAST(shares AS DECIMAL(24, 6)) * 1000000 AS BIGINT) AS shares, CAST(CAST(usd AS DECIMAL(24, 6)) * 1000000 AS BIGINT) AS usd,
  CASE WHEN fee_asset = 'usd' THEN 0 ELSE CAST(CAST(fee AS DECIMAL(24, 6)) * 1000000 AS BIGINT) END AS fee_shares,
  CASE WHEN fee_asset = 'usd' THEN CAST(CAST(fee AS DECIMAL(24, 6)) * 1000000 AS BIGINT) ELSE 0 END AS fee_usd,
  transaction_hash AS tx, COALESCE(log_index, -1) AS log_index
FROM lake_fills
