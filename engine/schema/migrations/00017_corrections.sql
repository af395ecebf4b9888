-- +goose Up
-- When an import with --correct gave the payouts that stand; null where none did.
ALTER TABLE markets ADD COLUMN payout_corrected_at BIGINT;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
