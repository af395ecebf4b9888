-- +goose Up
-- The quote in the newest record of a market, as a whole: at is the record's version, and a side
-- that is NULL is missing there. best_bid, best_ask, last_price and liquidity follow from it:
-- they have its values if the market is open, and are NULL if it is closed or resolved.
ALTER TABLE markets ADD COLUMN quote STRUCT("at" BIGINT, bid BIGINT, ask BIGINT, "last" BIGINT, liquidity BIGINT);
-- Sides were kept together with newer ones of the other side, and nothing tells which: no quote
-- is known until a description of the market is imported again.
UPDATE markets SET best_bid = NULL, best_ask = NULL, last_price = NULL, liquidity = NULL
WHERE best_bid IS NOT NULL OR best_ask IS NOT NULL OR last_price IS NOT NULL OR liquidity IS NOT NULL;
-- A market that is open has no time of closing.
UPDATE markets SET closed_at = NULL WHERE closed IS FALSE AND closed_at IS NOT NULL;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
