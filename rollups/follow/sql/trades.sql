-- Queries on the facts for following trades by market. Times are in unix µs.

-- name: TradedMarkets
-- Markets that may have been traded since a time, and whether they were created after another
-- time.
SELECT condition, coalesce(created_at, start_at, 0) >= ? AS young FROM markets
WHERE closed IS NOT TRUE AND payouts IS NULL OR coalesce(closed_at, resolved_at, 0) >= ?
ORDER BY young, condition

-- name: IndexedTransactions
-- Which of some transactions have fills with a log index, in a range of unix seconds. The transactions are given in
-- hexadecimal digits, separated by commas.
SELECT DISTINCT '0x' || lower(hex(tx)) AS tx FROM fills
WHERE seconds BETWEEN ? AND ? AND log_index IS NOT NULL AND tx IN (SELECT unhex(unnest(string_split(?, ','))))
