-- Copies of the file, and tables taken from one, which is attached as taken.

-- name: CopyInto
VACUUM INTO ?

-- name: Attach
ATTACH ? AS taken

-- name: Detach
DETACH taken

-- name: TableColumns
SELECT name FROM pragma_table_info(?) ORDER BY cid

-- name: DeleteOthers
-- Rows that the other file does not have.
DELETE FROM main.@table WHERE (@keys) NOT IN (SELECT @keys FROM taken.@table)

-- name: TakeRows
-- Rows that differ.
INSERT INTO main.@table (@columns) SELECT @columns FROM taken.@table WHERE true
ON CONFLICT (@keys) DO UPDATE SET @sets WHERE @differs

-- name: RevokeOthers
UPDATE api_keys SET revoked_at = unixepoch() WHERE revoked_at IS NULL AND id NOT IN (SELECT id FROM taken.api_keys)

-- name: RevokeAll
UPDATE api_keys SET revoked_at = unixepoch() WHERE revoked_at IS NULL
