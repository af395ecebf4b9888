-- What rollups.py does on an engine, in DuckDB: views of files and tables written into files.

-- name: NoConditions
CREATE VIEW lake_conditions AS SELECT '' AS condition_id, '' AS event_slug, '' AS event_id, '' AS category LIMIT 0

-- name: View
CREATE VIEW @name AS @query

-- name: ViewOfFiles
CREATE OR REPLACE VIEW @name AS FROM read_parquet([@files])

-- name: Changed
-- The rows of the days that changed, of now and of before.
CREATE VIEW changed_@table AS SELECT b.* FROM all_@table AS b WHERE @days UNION ALL SELECT b.* FROM was_@table AS b WHERE @days

-- name: Unchanged
SELECT b.* FROM before_@table AS b WHERE NOT (@days)

-- name: UnchangedAndFresh
@unchanged UNION ALL SELECT n.* FROM (@fresh) AS n

-- name: PositionsOfCohort
CREATE OR REPLACE VIEW @table AS SELECT p.* FROM all_@table AS p JOIN mapping AS m ON m.token = p.token WHERE m.cohort = @cohort

-- name: AllCohorts
CREATE OR REPLACE VIEW @table AS FROM all_@table

-- name: Cohorts
SELECT cohort FROM mapping GROUP BY cohort ORDER BY cohort

-- name: WriteTable
COPY (@query) TO '@file'

-- name: CountRows
SELECT count(*) FROM '@file'
