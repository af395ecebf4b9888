-- +goose Up
-- When an import with --correct gave the present payouts; NULL if none did.
ALTER TABLE markets ADD COLUMN payout_corrected_at BIGINT;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
