-- +goose Up
-- Payouts of a market that have another length than those in use: the best of each length, with
-- its best time. The outcomes of the market, which may be imported later or change, decide which
-- length is right.
CREATE TABLE spare_payouts (condition BLOB NOT NULL, payouts BIGINT[] NOT NULL, payout_source TINYINT NOT NULL,
  payout_version BIGINT, payout_corrected_at BIGINT, payout_at BIGINT, payout_at_source TINYINT, payout_at_version BIGINT);

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
