-- +goose Up
-- What was said of a log and is no fill, as something else was said of it that stands:
-- a fill without a log index that equals it is the same fill. block: by which the
-- fill's transaction is dated, where a file says so; a loser has it as well.
CREATE TABLE lost_fills (ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL,
  side TINYINT NOT NULL, role TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL,
  tx BLOB NOT NULL, log_index INTEGER NOT NULL, block BIGINT);
ALTER TABLE fills ADD COLUMN block BIGINT;
-- Times of blocks later than the one that stands.
CREATE TABLE block_times (number BIGINT NOT NULL, ts BIGINT NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
