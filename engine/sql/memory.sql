-- name: Memory
-- What DuckDB holds in memory and has moved to temporary files, in bytes.
SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT, coalesce(sum(temporary_storage_bytes), 0)::BIGINT FROM duckdb_memory()

-- name: BlockMemory
-- What DuckDB holds in memory for blocks of the file, and in total, in bytes.
SELECT coalesce(sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE'), 0)::BIGINT, coalesce(sum(memory_usage_bytes), 0)::BIGINT FROM duckdb_memory()
