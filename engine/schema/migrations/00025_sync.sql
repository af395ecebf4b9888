-- +goose Up
-- The ranges of blocks whose logs are in the facts, both ends included. Those of one source and
-- version of its filter never overlap; blocks in none of them are missing. parent_hash is the
-- hash of the block before from_block, NULL if unknown; digest is the sum of the hashes of the
-- logs. Adjacent ranges of one chain are one row.
CREATE TABLE sync_range (
  source VARCHAR NOT NULL, filter_version INTEGER NOT NULL,
  from_block BIGINT NOT NULL, to_block BIGINT NOT NULL,
  parent_hash BLOB, to_hash BLOB NOT NULL, to_time BIGINT NOT NULL,
  logs BIGINT NOT NULL, fills BIGINT NOT NULL, digest BIGINT NOT NULL,
  provider VARCHAR NOT NULL, fetched_at BIGINT NOT NULL
);
-- The other state of a source, as JSON.
CREATE TABLE sync_cursor (source VARCHAR NOT NULL, state VARCHAR NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
