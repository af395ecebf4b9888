-- +goose Up
-- What a server wrote down when it stopped: see engine/mark.go. The next pmx that opens the database removes it.
CREATE TABLE closing_mark (mark BLOB NOT NULL);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
