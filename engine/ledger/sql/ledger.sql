-- Committed ranges of blocks, and what sources remember.

-- name: Ranges
SELECT from_block, to_block, parent_hash, to_hash, to_time, logs, fills, digest, provider, fetched_at
FROM sync_range
WHERE source = ? AND filter_version = ? AND to_block >= ? AND from_block <= ?
ORDER BY from_block

-- name: DropRanges
DELETE FROM sync_range WHERE source = ? AND filter_version = ? AND to_block >= ? AND from_block <= ?

-- name: AddRange
INSERT INTO sync_range VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: Cursor
SELECT state FROM sync_cursor WHERE source = ?

-- name: DropCursor
DELETE FROM sync_cursor WHERE source = ?

-- name: AddCursor
INSERT INTO sync_cursor VALUES (?, ?)

-- name: NewestFill
-- The newest second is known without reading any fill.
SELECT coalesce(max(ts), 0) FROM fills WHERE seconds = (SELECT max(seconds) FROM fills)
