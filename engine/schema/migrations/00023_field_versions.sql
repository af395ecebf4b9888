-- +goose Up
-- The versions of fields that are from another record than the newest, whose version is
-- updated_at: a JSON object of columns and unix µs, 0 for a record without a version, -1 for a
-- row of trades. Fields that were known before are assumed to have the row's version. closed_at
-- is listed without a value if a record of that version reported the market as open.
ALTER TABLE markets ADD COLUMN field_versions VARCHAR;
-- Each part of a quote has its own version: NULL if no record has the part, and 0 for a record
-- without a version. A quote that an earlier version of pmx dropped does not count as one of the
-- newest record.
ALTER TABLE markets ALTER COLUMN quote TYPE STRUCT("at" BIGINT, bid BIGINT, ask BIGINT, last_at BIGINT, "last" BIGINT,
  liquidity_at BIGINT, liquidity BIGINT) USING CASE WHEN quote IS NOT NULL OR updated_at IS NOT NULL THEN struct_pack(
    "at" := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, bid := struct_extract(quote, 'bid'), ask := struct_extract(quote, 'ask'),
    last_at := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, "last" := struct_extract(quote, 'last'),
    liquidity_at := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, liquidity := struct_extract(quote, 'liquidity')) END;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
