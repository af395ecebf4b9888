-- +goose Up
-- Payouts that are derived from those of other conditions rank below the chain's own: they have
-- 5, and the chain now has 6.
UPDATE markets SET payout_source = 6 WHERE payout_source = 5;
UPDATE spare_payouts SET payout_source = 6 WHERE payout_source = 5;
UPDATE payout_log SET source = 6 WHERE source = 5;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
