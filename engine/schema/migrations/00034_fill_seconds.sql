-- +goose Up
-- The time of a fill in two columns: whole seconds since 1970, which differ little from one fill to the next, and the
-- microseconds beyond them, which are 0 on a chain. ts is computed from them where it is read. A range of time
-- has to be compared with seconds as well: zone maps know nothing of ts.
CREATE TABLE fills_timed (seconds BIGINT NOT NULL, micros INTEGER NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL,
  side TINYINT NOT NULL, role TINYINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL, fee BIGINT NOT NULL, tx BLOB,
  log_index INTEGER, repeat SMALLINT NOT NULL, batch INTEGER NOT NULL, block BIGINT,
  ts BIGINT GENERATED ALWAYS AS (seconds * 1000000 + micros) VIRTUAL);
INSERT INTO fills_timed
SELECT ts // 1000000, ts % 1000000, wallet, token, side, role, shares, usd, fee, tx, log_index, repeat, batch, block FROM fills;
DROP TABLE fills;
ALTER TABLE fills_timed RENAME TO fills;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
