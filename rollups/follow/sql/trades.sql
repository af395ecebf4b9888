-- What following trades by market asks the facts. Times are in unix µs.

-- name: TradedMarkets
-- Markets that may have been traded since a time, and whether they are younger than another.
SELECT condition, coalesce(created_at, start_at, 0) >= ? AS young FROM markets
WHERE closed IS NOT TRUE AND payouts IS NULL OR coalesce(closed_at, resolved_at, 0) >= ?
ORDER BY young, condition

-- name: IndexedTransactions
-- Which of some transactions, given in hexadecimal digits with commas between, have fills with
-- a log index.
SELECT DISTINCT '0x' || lower(hex(tx)) AS tx FROM fills
WHERE ts >= ? AND ts <= ? AND log_index IS NOT NULL AND tx IN (SELECT unhex(unnest(string_split(?, ','))))
