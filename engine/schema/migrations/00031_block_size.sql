-- +goose Up
-- Nothing changes in the tables. From this version on a new database has blocks of 128 KiB, where it had 256: a
-- replica of an earlier version would take the one for the other, and the version has it refuse the file.
SELECT 1;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
