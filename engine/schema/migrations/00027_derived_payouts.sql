-- +goose Up
-- Payouts that follow from those of other conditions rank below the chain's own: 5 is theirs,
-- and the chain is 6 now.
UPDATE markets SET payout_source = 6 WHERE payout_source = 5;
UPDATE spare_payouts SET payout_source = 6 WHERE payout_source = 5;
UPDATE payout_log SET source = 6 WHERE source = 5;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
