-- +goose Up
-- The name that rows of trades give to the outcome that a token pays for: the largest by
-- condition and label, so the order of imports does not matter, and a truncated label is replaced
-- by the complete one; the condition is empty if the row names none. derived: no source gave the
-- outcome's index, so it is the position of the label in the outcomes of that condition's market;
-- a source that gives the index replaces it.
ALTER TABLE tokens ADD COLUMN named STRUCT(condition BLOB, label VARCHAR);
ALTER TABLE tokens ADD COLUMN derived BOOLEAN;
-- JSON rows without an index mapped their tokens to the outcome -1, which is not valid.
UPDATE rollup_state SET stale = true WHERE EXISTS (SELECT 1 FROM tokens WHERE outcome < 0);
UPDATE tokens SET market = NULL, outcome = NULL WHERE outcome < 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
