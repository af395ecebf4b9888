-- +goose Up
-- What a server wrote down when it stopped: see engine/mark.go. Whoever opens the database next removes it.
CREATE TABLE closing_mark (mark BLOB NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
