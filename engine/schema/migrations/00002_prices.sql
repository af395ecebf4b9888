-- +goose Up
-- The last trade of each token: of all, and of those at or before as_of − 24 h. A trade is one
-- number, ts · 2^52 + (log index + 1) · 2^20 + price, and the greatest is the last. The price is
-- in millionths, 0 to 1,000,000.
CREATE TABLE token_price (token INTEGER NOT NULL, last HUGEINT, day_ago HUGEINT);
CREATE TABLE token_price_tail AS FROM token_price;
-- Filled at the next refresh.
UPDATE rollup_state SET stale = true WHERE EXISTS (SELECT 1 FROM fills);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
