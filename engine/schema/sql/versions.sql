-- name: IsEmpty
SELECT count(*) = 0 FROM duckdb_tables() WHERE NOT internal AND NOT temporary

-- name: CreateVersions
CREATE TABLE schema_version (version BIGINT NOT NULL, applied_at TIMESTAMP NOT NULL)

-- name: AddVersions
INSERT INTO schema_version SELECT unnest(?::BIGINT[]), now()::TIMESTAMP

-- name: AddVersion
INSERT INTO schema_version VALUES (?, now()::TIMESTAMP)

-- name: DeleteVersion
DELETE FROM schema_version WHERE version = ?

-- name: AppliedAt
SELECT applied_at FROM schema_version WHERE version = ?

-- name: NewestVersion
SELECT max(version) FROM schema_version

-- name: Versions
SELECT version FROM schema_version ORDER BY version DESC
