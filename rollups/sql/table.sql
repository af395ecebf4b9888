-- Rows of one rollup: of its base, its delta, or a query with its @columns. @stored are the columns of the base, from these.

-- name: TableRows
SELECT @columns FROM @table

-- name: BaseAndDelta
-- The rows of both that meet a condition on keys, for readers, which add them up.
SELECT @columns FROM @base@where UNION ALL SELECT @columns FROM @delta@where

-- name: BaseAlone
-- The rows of the base whose keys are not in the delta, and those in @grouped.
SELECT @columns FROM @base AS b ANTI JOIN @delta AS d ON @same
UNION ALL
SELECT @columns FROM (@grouped) AS g

-- name: BaseOfDelta
-- The rows of both whose keys are in the delta.
SELECT @columns FROM @base AS b SEMI JOIN @delta AS d ON @same
UNION ALL
SELECT @columns FROM @delta

-- name: TypedRows
SELECT @columns FROM (@rows) AS typed

-- name: RowsByKey
SELECT @columns FROM (@rows) AS part GROUP BY @keys

-- name: RowsThatCount
-- Rows that are not all zero, by the condition @counts.
SELECT * FROM (@rows) AS r WHERE @counts

-- name: KeepRows
CREATE OR REPLACE TEMP TABLE @table AS @rows

-- name: ViewRows
CREATE OR REPLACE TEMP VIEW @table AS @rows

-- name: DropTable
DROP TABLE IF EXISTS @table

-- name: DropView
DROP VIEW IF EXISTS @table

-- name: DeltaRows
SELECT count(*) FROM @delta

-- name: BaseAndDeltaRows
SELECT (SELECT count(*) FROM @base), (SELECT count(*) FROM @delta)

-- name: TableDefinition
SELECT sql FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary AND table_name = '@table'

-- name: TablesThatEndWith
SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary AND ends_with(table_name, '@suffix')

-- name: RenameTable
ALTER TABLE @table RENAME TO @name

-- name: FillBase
INSERT INTO @base SELECT @stored FROM (@rows) AS r ORDER BY @order

-- name: AppendDelta
INSERT INTO @delta FROM @table

-- name: AppendRows
INSERT INTO @delta @rows

-- name: CompareRows
-- How many rows @rebuilt has, and how many rows are in only one of the two queries. Equal rows
-- cancel out, so each query is read once: half the work of an EXCEPT ALL in both directions.
SELECT coalesce(SUM(computed), 0)::BIGINT, coalesce(SUM(abs(surplus)), 0)::BIGINT FROM (
  SELECT SUM(once) AS surplus, count(*) FILTER (once < 0) AS computed
  FROM (SELECT @columns, 1 AS once FROM (@merged) AS merged UNION ALL SELECT @columns, -1 FROM (@rebuilt) AS rebuilt) AS both_sides
  GROUP BY @columns
) AS different
