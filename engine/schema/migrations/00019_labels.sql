-- +goose Up
-- What trade rows call the outcome that a token pays for: the largest of what they
-- say, by condition and label, so that the order of imports is no matter, and a label
-- that was cut off gives way to the whole one; the condition is empty where the row
-- names none. derived: no source gave the outcome's index, it is the place of the label
-- in the outcomes of that condition's market; a source that gives the index takes its
-- place.
ALTER TABLE tokens ADD COLUMN named STRUCT(condition BLOB, label VARCHAR);
ALTER TABLE tokens ADD COLUMN derived BOOLEAN;
-- Rows of JSON without an index mapped their tokens to the outcome -1, which is none.
UPDATE rollup_state SET stale = true WHERE EXISTS (SELECT 1 FROM tokens WHERE outcome < 0);
UPDATE tokens SET market = NULL, outcome = NULL WHERE outcome < 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
