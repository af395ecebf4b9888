-- +goose Up
-- The lifetime figures of each wallet in the weather desk's markets: its own fills, what its
-- tokens paid, and how many markets it traded, and how many of these were resolved and won.
CREATE TABLE desk_wallet (wallet INTEGER NOT NULL, fills BIGINT NOT NULL, buy_usd BIGINT NOT NULL, sell_usd BIGINT NOT NULL,
  fee_usd BIGINT NOT NULL, redemption BIGINT NOT NULL, markets BIGINT NOT NULL, resolved_markets BIGINT NOT NULL,
  winning_markets BIGINT NOT NULL, first_ts BIGINT, last_ts BIGINT);
CREATE TABLE desk_wallet_tail AS FROM desk_wallet;
-- In a database with facts this rollup is missing, so the next start rebuilds.
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
