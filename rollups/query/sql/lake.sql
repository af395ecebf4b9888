-- Single fills of a database without facts, from the files of a lake, and what its rollups give
-- without them.

-- name: LakeFills
-- Rows of files as rows of the table of fills. Equal rows are numbered as by an import.
SELECT w.wallet, f.us AS ts, unhex(substr(f.transaction_hash, 3)) AS tx, f.log_index, t.token,
  CASE f.side WHEN 'BUY' THEN 0 ELSE 1 END::TINYINT AS side, CASE f.role WHEN 'maker' THEN 1 WHEN 'taker' THEN 2 ELSE 0 END::TINYINT AS role,
  (row_number() OVER (PARTITION BY f.us, f.transaction_hash, f.log_index, f.wallet, f.token, f.side, f.shares, f.usd ORDER BY f.role, f.fee))::SMALLINT AS repeat,
  (f.shares::DECIMAL(24, 6) * 1000000)::BIGINT AS shares, (f.usd::DECIMAL(24, 6) * 1000000)::BIGINT AS usd,
  (CASE WHEN f.fee_asset = 'usd' AND f.side = 'BUY' THEN -f.fee ELSE f.fee END::DECIMAL(24, 6) * 1000000)::BIGINT AS fee, 0 AS batch
FROM read_parquet([@files], hive_partitioning = false) AS f
JOIN wallets AS w ON w.address = unhex(substr(f.wallet, 3))
JOIN tokens AS t ON t.token_id = f.token
WHERE @which

-- name: LakeSums
-- The columns of the rows of files that sums of wallets need. Equal rows are not numbered,
-- because numbering would sort all rows.
SELECT w.wallet, f.us AS ts, t.token, CASE f.side WHEN 'BUY' THEN 0 ELSE 1 END::TINYINT AS side, (f.usd::DECIMAL(24, 6) * 1000000)::BIGINT AS usd,
  (CASE WHEN f.fee_asset = 'usd' AND f.side = 'BUY' THEN -f.fee ELSE f.fee END::DECIMAL(24, 6) * 1000000)::BIGINT AS fee, 0 AS batch
FROM read_parquet([@files], hive_partitioning = false) AS f
JOIN wallets AS w ON w.address = unhex(substr(f.wallet, 3))
JOIN tokens AS t ON t.token_id = f.token
WHERE @which

-- name: FillsOf
SELECT wallet, ts, tx, log_index, token, side, role, repeat, shares, usd, fee FROM @fills AS f

-- name: WalletDaysBehind
-- The days of a wallet up to a day, the newest first.
SELECT day::BIGINT AS day, fills FROM wallet_day WHERE wallet = @wallet AND day <= @first ORDER BY day DESC LIMIT 100000

-- name: WalletAddress
SELECT address FROM wallets WHERE wallet = @wallet ORDER BY wallet LIMIT 1

-- name: TokenNames
SELECT token_id FROM tokens WHERE @which ORDER BY token_id LIMIT 1000000

-- name: PulledTokens
-- No wallet holds more tokens than there are, so the limit is never reached.
SELECT token, fills, buy_shares, sell_shares, fee_shares, buy_usd, sell_usd, fee_usd, first_ts, last_ts
FROM pulled_position
WHERE wallet = @wallet
ORDER BY token
LIMIT 100000000

-- name: PulledDays
SELECT day, fills, buy_usd, sell_usd, fee_usd FROM wallet_day WHERE wallet = @wallet ORDER BY day LIMIT 100000
