-- +goose Up
-- Forecasts of wallets by bin of probability (0 to 9): how many, how many came true, and sums of
-- probabilities and payouts in millionths, of squared errors in millionths of millionths, and of
-- dollars paid.
CREATE TABLE oracle_bin (wallet INTEGER NOT NULL, bin TINYINT NOT NULL,
  forecasts BIGINT NOT NULL, correct BIGINT NOT NULL, probability BIGINT NOT NULL, payout BIGINT NOT NULL,
  error BIGINT NOT NULL, baseline_error BIGINT NOT NULL, usd BIGINT NOT NULL);
CREATE TABLE oracle_bin_tail AS FROM oracle_bin;
-- In a database with facts this rollup is missing, so the next start rebuilds.
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
