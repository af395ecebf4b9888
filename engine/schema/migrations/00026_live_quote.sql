-- +goose Up
-- What the order book's channel, or a book that was asked for, told last of the first outcome
-- of an open market: it is served in the place of what the market's newest record says of
-- its quote where it is later, and is no fact. ts is the venue's time, in unix µs.
CREATE TABLE live_quote (market INTEGER NOT NULL, bid BIGINT, ask BIGINT, last_price BIGINT, ts BIGINT NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
