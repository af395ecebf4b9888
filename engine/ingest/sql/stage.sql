-- What is staged in addition to fills and markets, and long results.

-- name: LastRow
-- The number of the last record that was read; rows without one are numbered as they were staged.
SELECT coalesce(max(coalesce(row, rowid + 1)), 0) FROM s_raw

-- name: Stubs
-- What the rows of a feed of fills say about their markets: see data.StubColumns.
CREATE OR REPLACE TEMP TABLE s_stub AS
@query

-- name: StubMarkets
-- Rows that only name a condition add nothing to a known market.
INSERT INTO m_raw BY NAME
SELECT * FROM (
  SELECT condition, true AS stub, 0 AS line, false AS contradicts, nullif(max(question), '') AS question, nullif(max(slug), '') AS slug,
    nullif(max(event_slug), '') AS event_slug, nullif(max(icon), '') AS icon
  FROM s_stub WHERE condition IS NOT NULL GROUP BY condition
) AS s
WHERE coalesce(question, slug, event_slug, icon) IS NOT NULL OR NOT EXISTS (SELECT 1 FROM markets AS m WHERE m.condition = s.condition)

-- name: StubTokens
-- As MapFromFills. A label that the token already has, or that is less than its present one, is
-- not used.
INSERT INTO n_map
SELECT s.token, s.condition, s.index, false, s.called, false
FROM (
  SELECT DISTINCT token, condition, CASE WHEN condition IS NOT NULL THEN outcome END AS index,
    nullif(trim(label, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(133) || chr(160)), '') AS called
  FROM s_stub WHERE token IS NOT NULL AND (index IS NOT NULL OR called IS NOT NULL)
) AS s
LEFT JOIN tokens AS t ON t.token_id = s.token
LEFT JOIN markets AS m ON m.condition = s.condition
WHERE s.condition IS NOT NULL AND m.market IS NULL
  OR s.index IS NOT NULL AND (t.market IS NULL OR t.derived OR t.derived = false AND (t.market, t.outcome) <> (m.market, s.index))
  OR s.called IS NOT NULL AND (t.named IS NULL OR struct_pack(condition := coalesce(s.condition, ''::BLOB), label := s.called) > t.named)

-- name: DropStubs
DROP TABLE s_stub

-- name: FirstPage
SELECT * FROM (
@query
) AS q ORDER BY @order LIMIT @rows

-- name: Pages
CREATE OR REPLACE TEMP TABLE s_page AS
SELECT row_number() OVER (ORDER BY @order) AS nth, * FROM (
@query
) AS q

-- name: Page
SELECT * EXCLUDE (nth) FROM s_page WHERE nth > @from AND nth <= @from + @rows ORDER BY nth

-- name: Count
SELECT count(*) FROM @of

-- name: DropBatch
DROP VIEW IF EXISTS n_fill

-- name: DropStaged
DROP TABLE IF EXISTS temp.@table

-- name: HasRows
(SELECT '@table' AS name FROM @table LIMIT 1)
