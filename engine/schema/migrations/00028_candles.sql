-- +goose Up
-- What takers traded of a token in an hour: sums, and the prices of the first, the highest, the
-- lowest and the last trade. The first and the last are ts · 2^52 + (log index + 1) · 2^20 +
-- price; the first and the lowest have their sign reversed.
CREATE TABLE candle (token INTEGER NOT NULL, hour INTEGER NOT NULL, fills BIGINT NOT NULL, usd BIGINT NOT NULL,
  shares BIGINT NOT NULL, opened HUGEINT, highest HUGEINT, lowest HUGEINT, closed HUGEINT);
CREATE TABLE candle_delta AS FROM candle;
-- Existing facts need a rebuild.
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
