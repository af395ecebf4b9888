-- +goose Up
-- The bases of positions, candles and redemptions in a form that takes fewer bits; deltas stay as they are. Shares, and the dollars of a
-- redemption, are whole hundredths and the millionths beyond them. Other dollars are a price, in 10,000ths of a dollar, and the rest:
-- how much more they are than the hundredths cost at this price, in millionths. The prices of a candle are differences to its first one.
-- The columns from before are computed from these where they are read. Rows stay where they are: those that are folded or computed
-- again are sorted so that rows without such millionths and rests are next to each other.
CREATE TABLE position_packed (token INTEGER NOT NULL, wallet INTEGER NOT NULL, fills BIGINT NOT NULL,
  buy_hundredths BIGINT NOT NULL, buy_beyond SMALLINT NOT NULL, sell_hundredths BIGINT NOT NULL, sell_beyond SMALLINT NOT NULL,
  fee_shares BIGINT NOT NULL, buy_price SMALLINT NOT NULL, buy_rest BIGINT NOT NULL, sell_price SMALLINT NOT NULL, sell_rest BIGINT NOT NULL,
  fee_usd BIGINT NOT NULL,
  buy_shares BIGINT GENERATED ALWAYS AS (buy_hundredths * 10000 + buy_beyond) VIRTUAL,
  sell_shares BIGINT GENERATED ALWAYS AS (sell_hundredths * 10000 + sell_beyond) VIRTUAL,
  buy_usd BIGINT GENERATED ALWAYS AS (buy_hundredths * buy_price + buy_rest) VIRTUAL,
  sell_usd BIGINT GENERATED ALWAYS AS (sell_hundredths * sell_price + sell_rest) VIRTUAL);
INSERT INTO position_packed
SELECT token, wallet, fills, buy_shares // 10000, buy_shares % 10000, sell_shares // 10000, sell_shares % 10000, fee_shares,
  buy_price, buy_usd - buy_shares // 10000 * buy_price,
  sell_price, sell_usd - sell_shares // 10000 * sell_price, fee_usd
FROM (
  SELECT *,
    CASE WHEN buy_shares > 0 AND buy_usd BETWEEN 0 AND 99999999999999
      THEN least((buy_usd * 10000 + buy_shares // 2) // buy_shares, 10000) ELSE 0 END AS buy_price,
    CASE WHEN sell_shares > 0 AND sell_usd BETWEEN 0 AND 99999999999999
      THEN least((sell_usd * 10000 + sell_shares // 2) // sell_shares, 10000) ELSE 0 END AS sell_price
  FROM position
) AS p;
DROP TABLE position;
ALTER TABLE position_packed RENAME TO position;

CREATE TABLE redemption_packed (resolved_at BIGINT NOT NULL, market INTEGER NOT NULL, wallet INTEGER NOT NULL,
  hundredths BIGINT NOT NULL, beyond SMALLINT NOT NULL,
  usd BIGINT GENERATED ALWAYS AS (hundredths * 10000 + beyond) VIRTUAL);
INSERT INTO redemption_packed SELECT resolved_at, market, wallet, usd // 10000, usd % 10000 FROM redemption;
DROP TABLE redemption;
ALTER TABLE redemption_packed RENAME TO redemption;

CREATE TABLE candle_packed (token INTEGER NOT NULL, hour INTEGER NOT NULL, fills BIGINT NOT NULL,
  rest BIGINT NOT NULL, hundredths BIGINT NOT NULL, beyond SMALLINT NOT NULL, opened_ts BIGINT, opened_at BIGINT,
  above INTEGER, below INTEGER, lasted BIGINT, moved BIGINT,
  shares BIGINT GENERATED ALWAYS AS (hundredths * 10000 + beyond) VIRTUAL,
  usd BIGINT GENERATED ALWAYS AS (coalesce(hundredths * ((opened_at & 1048575) // 100), 0) + rest) VIRTUAL,
  opened HUGEINT GENERATED ALWAYS AS (-((hour::BIGINT * 3600000000 + opened_ts % 3600 * 1000000 + opened_ts // 3600)::HUGEINT
    * 4503599627370496 + opened_at)) VIRTUAL,
  highest HUGEINT GENERATED ALWAYS AS ((opened_at & 1048575) + above) VIRTUAL,
  lowest HUGEINT GENERATED ALWAYS AS (below - (opened_at & 1048575)) VIRTUAL,
  closed HUGEINT GENERATED ALWAYS AS ((hour::BIGINT * 3600000000 + (opened_ts + lasted) % 3600 * 1000000 + (opened_ts + lasted) // 3600)::HUGEINT
    * 4503599627370496 + opened_at + moved) VIRTUAL);
INSERT INTO candle_packed
SELECT token, hour, fills, usd - coalesce(shares // 10000 * ((opened_at & 1048575) // 100), 0),
  shares // 10000, shares % 10000, opened_ts, opened_at, highest - (opened_at & 1048575), lowest + (opened_at & 1048575),
  closed_ts - opened_ts, closed_at - opened_at
FROM candle;
DROP TABLE candle;
ALTER TABLE candle_packed RENAME TO candle;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
