-- +goose Up
-- The base of the candles in a form that takes fewer bits; its delta stays as it is. opened and closed were numbers of
-- 102 bits. Now the time within the hour, in seconds plus 3600 for each microsecond beyond them, is in a column of its
-- own, and (log index + 1) · 2^20 + price in another, without a sign.
CREATE TABLE candle_packed (token INTEGER NOT NULL, hour INTEGER NOT NULL, fills BIGINT NOT NULL, usd BIGINT NOT NULL,
  shares BIGINT NOT NULL, opened_ts BIGINT, opened_at BIGINT, highest INTEGER, lowest INTEGER, closed_ts BIGINT, closed_at BIGINT);
INSERT INTO candle_packed
SELECT token, hour, fills, usd, shares, opened_us // 1000000 + opened_us % 1000000 * 3600, opened_at, highest, lowest,
  closed_us // 1000000 + closed_us % 1000000 * 3600, closed_at
FROM (
  SELECT token, hour, fills, usd, shares, highest::INTEGER AS highest, lowest::INTEGER AS lowest,
    ((-opened) >> 52)::BIGINT - hour::BIGINT * 3600000000 AS opened_us, ((-opened) & 4503599627370495)::BIGINT AS opened_at,
    (closed >> 52)::BIGINT - hour::BIGINT * 3600000000 AS closed_us, (closed & 4503599627370495)::BIGINT AS closed_at
  FROM candle
) AS c;
DROP TABLE candle;
ALTER TABLE candle_packed RENAME TO candle;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
