-- +goose Up
-- Where the time of a resolution comes from (1 the end date, 2 the closed time, 3 an oracle, 4
-- the chain), and the version of the record that gave it.
ALTER TABLE markets ADD COLUMN payout_at_source TINYINT;
ALTER TABLE markets ADD COLUMN payout_at_version BIGINT;
ALTER TABLE markets ADD COLUMN resolved_at_source TINYINT;
-- Lists of winners gave the time of the last trade, of their own download, or of the market's
-- scheduled end as the time of the resolution.
UPDATE markets SET payout_at = NULL
FROM (
  SELECT DISTINCT p.market, p.resolved_at
  FROM payout_log AS p JOIN batches AS b ON b.batch = p.batch
  WHERE b.feed IN ('fpmm-resolutions', 'resolution-map') AND p.resolved_at IS NOT NULL
) AS said
WHERE said.market = markets.market AND said.resolved_at = markets.payout_at;
-- Final prices had the closed time as their time.
UPDATE markets SET payout_at = NULL WHERE payout_source = 2 AND payout_at = closed_at;
UPDATE markets SET payout_at_version = payout_version,
  payout_at_source = CASE payout_source WHEN 5 THEN 4 WHEN 4 THEN 3 ELSE 2 END
WHERE payout_at IS NOT NULL;
UPDATE markets SET
  resolved_at = coalesce(payout_at, closed_at, CASE WHEN payout_version IS NULL OR end_at <= payout_version THEN end_at END),
  resolved_at_source = CASE WHEN payout_at IS NOT NULL THEN payout_at_source WHEN closed_at IS NOT NULL THEN 2
    WHEN payout_version IS NULL AND end_at IS NOT NULL OR end_at <= payout_version THEN 1 END
WHERE payouts IS NOT NULL;

-- The redemption of every wallet in every market that was resolved at an unknown
-- time and that it traded in the last 720 hours, by its last trade in it.
CREATE TABLE undated (last_ts BIGINT NOT NULL, market INTEGER NOT NULL, wallet INTEGER NOT NULL, usd BIGINT NOT NULL,
  markets BIGINT NOT NULL);
CREATE TABLE undated_tail AS FROM undated;
ALTER TABLE wallet_window ADD COLUMN undated BIGINT DEFAULT 0;
ALTER TABLE wallet_window ADD COLUMN undated_markets BIGINT DEFAULT 0;
ALTER TABLE wallet_window_tail ADD COLUMN undated BIGINT DEFAULT 0;
ALTER TABLE wallet_window_tail ADD COLUMN undated_markets BIGINT DEFAULT 0;
UPDATE rollup_state SET stale = true WHERE as_of > 0;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
