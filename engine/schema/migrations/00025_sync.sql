-- +goose Up
-- The ranges of blocks whose logs are in the facts, both ends included. Those of one source
-- and version of its filter never overlap; what they leave out is not there yet. parent_hash
-- is that of the block before from_block, NULL where it is not known; digest the sum of the
-- hashes of the logs. Neighbours of one chain are one row.
CREATE TABLE sync_range (
  source VARCHAR NOT NULL, filter_version INTEGER NOT NULL,
  from_block BIGINT NOT NULL, to_block BIGINT NOT NULL,
  parent_hash BLOB, to_hash BLOB NOT NULL, to_time BIGINT NOT NULL,
  logs BIGINT NOT NULL, fills BIGINT NOT NULL, digest BIGINT NOT NULL,
  provider VARCHAR NOT NULL, fetched_at BIGINT NOT NULL
);
-- What else a source has to remember, as JSON.
CREATE TABLE sync_cursor (source VARCHAR NOT NULL, state VARCHAR NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
