-- name: InsertRows
-- Adds rows that Go gives: see insert_rows.go.
INSERT INTO @table SELECT * FROM rows_of_go(@rows)
