-- +goose Up
-- Distinct wallets by ISO week (weeks since Monday 1969-12-29) and by calendar month (months
-- since January 1970), and distinct markets by UTC day, which are not sums of the days' own
-- counts.
CREATE TABLE week_wallets (week INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE week_wallets_tail AS FROM week_wallets;
CREATE TABLE month_wallets (month INTEGER NOT NULL, wallets BIGINT NOT NULL);
CREATE TABLE month_wallets_tail AS FROM month_wallets;
CREATE TABLE day_markets (day INTEGER NOT NULL, markets BIGINT NOT NULL);
CREATE TABLE day_markets_tail AS FROM day_markets;
-- In a database with facts these rollups are missing, so the next start rebuilds.
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
