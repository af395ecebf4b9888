-- name: ClosingMark
SELECT mark FROM closing_mark LIMIT 1

-- name: NoClosingMark
DELETE FROM closing_mark

-- name: AddClosingMark
INSERT INTO closing_mark VALUES (?)
