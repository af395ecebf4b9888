-- +goose Up
-- The last quote of the first outcome of an open market, from the channel of the order book or
-- from a requested book. It is served instead of the quote of the market's newest record if it is
-- later. It is not a fact. ts is the venue's time, in unix µs.
CREATE TABLE live_quote (market INTEGER NOT NULL, bid BIGINT, ask BIGINT, last_price BIGINT, ts BIGINT NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
