-- +goose Up
-- A database whose rollups were computed elsewhere, from a lake that has its fills. Lake and rollups are the
-- SHA-256 of both manifests. What each wallet did in each token is there a second time, by wallet: without fills there
-- is nothing else to read it from at the cost of one wallet. pulled_fill has the few fills that what is served
-- adds up by the hour: of the last day, and of the days in which longer windows begin.
CREATE TABLE pulled (lake VARCHAR NOT NULL, rollups VARCHAR NOT NULL, fills BIGINT NOT NULL, pulled_at BIGINT NOT NULL);
CREATE TABLE pulled_position (wallet INTEGER NOT NULL, token INTEGER NOT NULL, fills BIGINT NOT NULL,
  buy_shares BIGINT NOT NULL, sell_shares BIGINT NOT NULL, fee_shares BIGINT NOT NULL,
  buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL, fee_usd BIGINT NOT NULL, first_ts BIGINT NOT NULL, last_ts BIGINT NOT NULL);
CREATE TABLE pulled_fill (ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, role TINYINT NOT NULL,
  shares BIGINT NOT NULL, usd BIGINT NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
