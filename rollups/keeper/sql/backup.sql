-- name: BackupVersions
SELECT version(), (SELECT max(version) FROM schema_version)

-- name: BackupContents
-- The number of facts, the last import, and the time of the newest fact; in a database that was
-- pulled, those of the lake that its rollups were computed from.
SELECT (SELECT count(*) FROM fills) + (SELECT coalesce(sum(fills), 0) FROM pulled)::BIGINT,
  (SELECT coalesce(max(batch), 0) FROM batches),
  CASE WHEN EXISTS (FROM pulled) THEN (SELECT as_of FROM rollup_state) ELSE (SELECT coalesce(max(ts), 0) FROM fills WHERE seconds = (SELECT max(seconds) FROM fills)) END
