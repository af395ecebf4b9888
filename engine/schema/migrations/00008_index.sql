-- +goose Up
-- The inputs of the PMX index, by five minutes: bucket b has the taker fills after (b - 1) and up
-- to b times 300 s since 1970. first_usd is the part of mapped_usd that takers moved towards the
-- first outcome of a market.
CREATE TABLE index_flow (bucket INTEGER NOT NULL, fills BIGINT NOT NULL, taker_usd BIGINT NOT NULL, whale_usd BIGINT NOT NULL,
  politics_usd BIGINT NOT NULL, crypto_usd BIGINT NOT NULL, first_usd BIGINT NOT NULL, mapped_usd BIGINT NOT NULL);
CREATE TABLE index_flow_tail AS FROM index_flow;
-- The index at bucket times 300 s, in millionths (NULL: none), with its inputs: the sums of the
-- last 24 hours and of the 30 times 24 hours before them, and how many of these have data.
CREATE TABLE index_snapshot (bucket INTEGER NOT NULL,
  composite BIGINT, volume BIGINT, whale BIGINT, politics BIGINT, crypto BIGINT, sentiment BIGINT,
  windows TINYINT NOT NULL, volume_24h BIGINT NOT NULL, volume_base BIGINT NOT NULL, whale_24h BIGINT NOT NULL, whale_base BIGINT NOT NULL,
  politics_24h BIGINT NOT NULL, politics_base BIGINT NOT NULL, crypto_24h BIGINT NOT NULL, crypto_base BIGINT NOT NULL,
  first_24h BIGINT NOT NULL, mapped_24h BIGINT NOT NULL);
-- The bucket up to which snapshots are stored, and the days of late fills since then.
CREATE TABLE index_stored (bucket INTEGER NOT NULL);
INSERT INTO index_stored VALUES (0);
CREATE TABLE index_late (day INTEGER NOT NULL);
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
