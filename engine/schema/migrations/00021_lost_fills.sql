-- +goose Up
-- Lost fills: contents of a log that are not used, because another row of the same log takes
-- precedence. A fill without a log index that equals one is the same fill. block: the block that
-- dates the fill's transaction, if a file gives it; lost fills have it, too.
CREATE TABLE lost_fills (ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL,
  side TINYINT NOT NULL, role TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL,
  tx BLOB NOT NULL, log_index INTEGER NOT NULL, block BIGINT);
ALTER TABLE fills ADD COLUMN block BIGINT;
-- Times of blocks that are later than the one that is used.
CREATE TABLE block_times (number BIGINT NOT NULL, ts BIGINT NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
