-- What is staged beside fills and markets, and long results.

-- name: Stubs
-- What the rows of a fill feed say of their markets: see data.StubColumns.
CREATE OR REPLACE TEMP TABLE s_stub AS
@query

-- name: StubMarkets
INSERT INTO m_raw BY NAME
SELECT condition, true AS stub, 0 AS line, false AS contradicts, nullif(max(question), '') AS question, nullif(max(slug), '') AS slug,
  nullif(max(event_slug), '') AS event_slug, nullif(max(icon), '') AS icon
FROM s_stub WHERE condition IS NOT NULL GROUP BY condition

-- name: StubTokens
INSERT INTO n_map
SELECT DISTINCT token, condition, CASE WHEN condition IS NOT NULL THEN outcome END AS index, false,
  nullif(trim(label, ' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13) || chr(133) || chr(160)), '') AS called, false
FROM s_stub WHERE token IS NOT NULL AND (index IS NOT NULL OR called IS NOT NULL)

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
