-- How rows are written to files: facts directly, the rows of a job from a database in memory.

-- name: CopyTo
COPY (@rows) TO '@path' (@options)

-- name: Attach
-- READ_WRITE, since a replica's instance is read-only and an attached database would be, too.
ATTACH ':memory:' AS @name (READ_WRITE)

-- name: Detach
DETACH DATABASE IF EXISTS @name

-- name: Freeze
CREATE TABLE @table AS @rows

-- name: FrozenCount
SELECT count(*) FROM @table

-- name: NumberedRows
-- Rows in order, numbered from 1. Windows without an order are computed while the rows stream
-- through, which costs nothing; DuckDB keeps their order.
SELECT row_number() OVER () AS n, * FROM (@rows) AS ordered

-- name: RankedRows
-- The same with a rank: equal values of @by share the first one's number.
SELECT n, max(tied) OVER (ROWS UNBOUNDED PRECEDING) AS rank, * EXCLUDE (n, tied)
FROM (
  SELECT row_number() OVER () AS n, CASE WHEN @by IS DISTINCT FROM lag(@by) OVER () THEN row_number() OVER () END AS tied, *
  FROM (@rows) AS ordered
) AS numbered

-- name: FrozenStep
SELECT @columns FROM @table WHERE n > @after AND n <= @to
