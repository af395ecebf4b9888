-- Quotes from the order book, in addition to those of the markets' records.

-- name: QuotesTold
-- The new quotes of open markets that are not older than the stored ones.
CREATE OR REPLACE TEMP TABLE n_quote AS
SELECT m.market, n.bid::BIGINT AS bid, n.ask::BIGINT AS ask, n.last_price::BIGINT AS last_price, n.ts::BIGINT AS ts
FROM (VALUES @rows) AS n(condition, bid, ask, last_price, ts)
JOIN markets AS m ON m.condition = unhex(n.condition)
LEFT JOIN live_quote AS q ON q.market = m.market
WHERE m.payouts IS NULL AND m.closed IS NOT TRUE AND (q.ts IS NULL OR n.ts >= q.ts)

-- name: DropQuotesTold
-- Those that are replaced, and those of markets that are no longer open.
DELETE FROM live_quote
WHERE market IN (SELECT market FROM n_quote UNION ALL SELECT market FROM markets WHERE payouts IS NOT NULL OR closed)

-- name: AddQuotesTold
INSERT INTO live_quote SELECT market, bid, ask, last_price, ts FROM n_quote

-- name: CountQuotesTold
SELECT count(*) FROM n_quote
