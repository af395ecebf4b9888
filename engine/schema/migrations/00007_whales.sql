-- +goose Up
-- The threshold of whale moves: one row. Changing it needs a rebuild.
CREATE TABLE whale_rule (min_usd BIGINT NOT NULL);
INSERT INTO whale_rule VALUES (10000000000);
-- Orders of at least that size: the taker fills of one wallet, token and side in one transaction,
-- or at one time if the feed has no transactions.
CREATE TABLE whale_move (ts BIGINT NOT NULL, wallet INTEGER NOT NULL, token INTEGER NOT NULL, side TINYINT NOT NULL,
  tx BLOB, fills BIGINT NOT NULL, shares BIGINT NOT NULL, usd BIGINT NOT NULL);
CREATE TABLE whale_move_tail AS FROM whale_move;
-- Existing facts need a rebuild.
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
