-- +goose Up
-- The versions of fields that are from another record than the newest, whose version is
-- updated_at: a JSON object of columns and unix µs, 0 for a record without a version, -1
-- for a trade's row. What was known before is taken to be of the row's version. closed_at
-- is there without a value where a record of that version said that the market is open.
ALTER TABLE markets ADD COLUMN field_versions VARCHAR;
-- Each part of a quote has its own version, NULL where no record says anything of it and 0
-- for one without a version. A quote that an earlier version of pmx forgot is none of the
-- newest record's.
ALTER TABLE markets ALTER COLUMN quote TYPE STRUCT("at" BIGINT, bid BIGINT, ask BIGINT, last_at BIGINT, "last" BIGINT,
  liquidity_at BIGINT, liquidity BIGINT) USING CASE WHEN quote IS NOT NULL OR updated_at IS NOT NULL THEN struct_pack(
    "at" := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, bid := struct_extract(quote, 'bid'), ask := struct_extract(quote, 'ask'),
    last_at := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, "last" := struct_extract(quote, 'last'),
    liquidity_at := CASE WHEN quote IS NULL THEN updated_at ELSE coalesce(struct_extract(quote, 'at'), 0) END, liquidity := struct_extract(quote, 'liquidity')) END;

-- +goose Down
SELECT error('a pmx database is never migrated down: restore a backup');
